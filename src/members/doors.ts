import type { Config } from '../platform/config/config.ts'
import { createOidc, type Oidc, type OidcNeeds } from './oidc/oidc.ts'
import { issuerOf } from './oidc/store.ts'
import { createPasskeys } from './passkeys/passkeys.ts'

export type Doors = ReturnType<typeof createDoors>

/** The ways by which members sign in besides passwords. */
export function createDoors(needs: OidcNeeds, config: Config) {
  const oidc = oidcOf(needs, config)
  return {
    passkeys: createPasskeys({ ...needs, passwords: config.PASSWORD_SIGN_IN }),
    /** Absent if no provider is configured. */
    oidc,
    /** The name of the provider that signs a member in; null: none does. */
    async providerOf(memberId: string): Promise<string | null> {
      const issuer = await issuerOf(needs.pool, memberId)
      if (issuer === undefined) return null
      return oidc && issuer === config.OIDC_ISSUER ? oidc.name : new URL(issuer).host
    }
  }
}

function oidcOf(needs: OidcNeeds, config: Config): Oidc | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_ROLES, OIDC_NAME, OIDC_GROUPS_CLAIM } = config
  if (issuer === undefined) return undefined
  return createOidc(needs, {
    issuer,
    clientId: OIDC_CLIENT_ID!,
    clientSecret: OIDC_CLIENT_SECRET!,
    groupsClaim: OIDC_GROUPS_CLAIM,
    roles: OIDC_ROLES!,
    name: OIDC_NAME ?? new URL(issuer).host,
    allowPrivate: config.WEBHOOK_ALLOW_PRIVATE === true
  })
}
