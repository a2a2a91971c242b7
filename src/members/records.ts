import type { Pool } from '../platform/db/db.ts'
import type { How, Principal } from '../projects/projects.ts'
import { createAllowances } from './allowances.ts'
import type { createManaging } from './managing.ts'
import { membershipsOf, type Scope } from './membership-store.ts'
import { findMember } from './store.ts'

/** One entry of a member in ten minutes, in so many of its projects: a program that signs in again and again fills no log. */
const everySeconds = 600
const mostScopes = 20

/**
 * Writes sign-ins and stopped guesses to the audit log of the installation, and to those of the projects that they
 * concern.
 */
export function createRecords(pool: Pool, audit: ReturnType<typeof createManaging>['audit']) {
  const allowed = createAllowances(1, everySeconds)

  async function recordIn(scopes: Scope[], entry: Parameters<typeof audit>[2]): Promise<void> {
    for (const scope of scopes.slice(0, mostScopes)) await audit(pool, scope, entry)
  }

  return {
    async signedIn({ kind, id, email, name, roles }: Principal, how: How): Promise<void> {
      if (allowed.take(id) > 0) return
      const details = { ...(kind === 'member' ? { email } : { name }), how }
      const entry = { actor: `${kind} ${id}`, action: `${kind}.sign_in`, target: id, details }
      await recordIn([null, ...roles.keys()] as Scope[], entry)
    },
    /** Strangers failed so often with the password of a member that further attempts are refused for a time. */
    async locked(memberId: string): Promise<void> {
      const { email } = (await findMember(pool, memberId)) ?? {}
      const scopes = (await membershipsOf(pool, memberId)).map(({ project_id }) => project_id)
      await recordIn([null, ...scopes.filter((scope) => scope !== null)], {
        actor: 'service',
        action: 'member.locked_out',
        target: memberId,
        details: { email }
      })
    }
  }
}
