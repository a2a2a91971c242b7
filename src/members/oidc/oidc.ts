import type { GroupRole } from '../../platform/config/config.ts'
import type { Pool } from '../../platform/db/db.ts'
import { notify } from '../../platform/db/store.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { type Credentials, changedChannel } from '../../projects/projects.ts'
import { consolePageOf, openAttempt, sealAttempt } from './attempt.ts'
import { admit } from './joining.ts'
import { createProvider, OidcRefused, type ProviderSettings } from './provider.ts'
import { grantsOf } from './roles.ts'

export { attemptSeconds } from './attempt.ts'
export { type OidcFailure, OidcRefused } from './provider.ts'

export interface OidcNeeds {
  pool: Pool
  credentials: Pick<Credentials, 'project' | 'forget'>
  key: Buffer
  log: Log
}

export interface OidcSettings extends ProviderSettings {
  /** The name of the provider on the sign-in page. */
  name: string
  roles: readonly GroupRole[]
}

export type Oidc = ReturnType<typeof createOidc>

/** Sign-in by OpenID Connect: a member is what the issuer and its subject say, and has the roles of its groups. */
export function createOidc({ pool, credentials, key, log }: OidcNeeds, settings: OidcSettings) {
  const provider = createProvider(settings, log)

  /** The roles that the groups of a person grant, in projects that exist. */
  async function rolesOf(groups: string[]) {
    const granted = grantsOf(settings.roles, groups)
    const exist = await Promise.all(
      granted.map(({ project_id }) => project_id === null || credentials.project(project_id as ProjectId))
    )
    return granted.filter((_, index) => exist[index])
  }

  return {
    name: settings.name,
    /** Where the browser goes to sign in, and the cookie with which it must come back. */
    async begin(redirectUri: string, page: string | undefined) {
      const { url, attempt } = await provider.begin(redirectUri)
      return { url, cookie: sealAttempt(key, { ...attempt, returnTo: consolePageOf(page) }) }
    },
    /** Returns the member whom the provider has identified, and the page to open. Throws an OidcRefused. */
    async finish(query: string, cookie: string | undefined): Promise<{ memberId: string; returnTo: string }> {
      const begun = cookie === undefined ? undefined : openAttempt(key, cookie)
      // Also after a change of the settings: the response of one issuer must not be taken to another.
      if (!begun || begun.issuer !== settings.issuer)
        throw new OidcRefused('expired', 'this browser has not begun the sign-in, or too long ago')
      const claims = await provider.finish(query, begun)
      const grants = await rolesOf(claims.groups)
      const memberId = await pool.transaction(async (tx) => {
        const admitted = await admit(tx, claims, grants)
        await tx.run(notify, [changedChannel, admitted ?? ''])
        return admitted
      })
      credentials.forget()
      if (memberId) return { memberId, returnTo: begun.returnTo }
      log.warn(
        { issuer: settings.issuer, subject: claims.subject, groups: claims.groups.slice(0, 50) },
        'a person without a mapped group was refused'
      )
      throw new OidcRefused('no_role', 'none of the groups of this person has a role')
    }
  }
}
