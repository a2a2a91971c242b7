import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { sealedColumn } from '../platform/secrets/sealed.ts'
import { open, seal } from '../platform/secrets/secrets.ts'
import { record } from './audit/audit-store.ts'
import type { ApiCaller } from './credentials.ts'
import { findIdentitySecret, putIdentitySecret } from './identity-store.ts'
import { readUserToken, userTokenHeader } from './user-token.ts'

/** Bound to its row: a secret copied to another project does not open there. */
const contextOf = (projectId: string) => `identity_secret:${projectId}`

const place = (column: string) => ({
  table: 'identity_secrets',
  column,
  by: ['project_id'],
  context: ({ project_id }: Record<string, string>) => contextOf(project_id!)
})
sealedColumn(place('sealed'))
sealedColumn(place('previous'))

export type Identity = ReturnType<typeof createIdentity>

/**
 * Identity verification: a public key is in every copy of an app, so it does not prove who the user is. A project may
 * want a token for that, signed by its backend.
 */
export function createIdentity({ pool, key }: { pool: Pool; key: Buffer }) {
  /** The secrets that are valid now. */
  async function secretsOf(projectId: ProjectId): Promise<string[]> {
    const row = await findIdentitySecret(pool, projectId)
    if (!row) return []
    const still = row.previous !== null && row.previous_until!.getTime() > Date.now() ? [row.previous] : []
    return [row.sealed, ...still].map((text) => open(key, contextOf(projectId), text))
  }

  return {
    /**
     * The user that an app proves to act for. Null: the caller need not prove it, because the project does not ask for
     * it, or because the caller has a secret key.
     */
    async userOf({ project, key }: ApiCaller, { headers }: FastifyRequest): Promise<string | null> {
      if (!project.identityVerification || key?.kind !== 'public') return null
      const token = headers[userTokenHeader.toLowerCase()]
      if (typeof token !== 'string' || token === '') throw missing()
      return readUserToken(token, await secretsOf(project.id), Date.now())
    },

    /** Makes a new secret, which is shown this once. The previous one works for the overlap. */
    rotate: (actor: string, projectId: ProjectId, overlapMs: number) =>
      pool.transaction(async (tx) => {
        const secret = `svc_is_${randomBytes(32).toString('base64url')}`
        const at = new Date()
        const until = new Date(at.getTime() + overlapMs)
        const sealed = seal(key, contextOf(projectId), secret)
        const previousUntil = await putIdentitySecret(tx, projectId, sealed, until, at)
        const details = previousUntil === null ? {} : { previous_until: previousUntil }
        await record(tx, projectId, { actor, action: 'identity_secret.rotate', target: projectId, details })
        return { secret, previous_until: previousUntil }
      })
  }
}

const missing = () =>
  new Refusal('missing_user_token', 'Missing user token', [
    { path: userTokenHeader, message: 'must be given: this project verifies the identity of users' }
  ])

/** Refuses a token of another user. `proven` is null where nothing need be proven, `name` for an anonymous user. */
export function checkIdentity(proven: string | null, name: string | null | undefined): void {
  if (proven === null || proven === name) return
  throw new Refusal('user_token_mismatch', 'The user token belongs to another user', [
    {
      path: userTokenHeader,
      message: name ? 'its sub is not the user of this call' : 'the device has no user yet: log the user in first'
    }
  ])
}
