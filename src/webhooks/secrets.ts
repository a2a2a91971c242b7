import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { sealedColumn } from '../platform/secrets/sealed.ts'
import { open, seal } from '../platform/secrets/secrets.ts'
import { addSecret, findSecret, removeSecret, replaceSecret } from './secret-store.ts'
import { newSecret } from './signing.ts'

/** The owner of a secret: a webhook, by its id, or the project, whose secret signs all other calls. */
export type Owner = string
export const projectOwner: Owner = 'project'

/** How long the previous secret still signs, so that a receiver can be changed without losing a call. */
const overlapMs = 24 * 3_600_000

/** Bound to its row: a secret copied to another project's row does not open there. */
const contextOf = (projectId: string, owner: Owner) => `webhook_secret:${projectId}:${owner}`

for (const column of ['sealed', 'previous']) {
  sealedColumn({
    table: 'webhook_secrets',
    column,
    by: ['project_id', 'owner'],
    context: ({ project_id, owner }) => contextOf(project_id!, owner!)
  })
}

export function createSecrets(key: Buffer) {
  const sealed = (projectId: ProjectId, owner: Owner, text: string) => seal(key, contextOf(projectId, owner), text)

  /** The secrets that sign now, the current one first. Empty if there is none. */
  async function current(db: Db, projectId: ProjectId, owner: Owner): Promise<string[]> {
    const row = await findSecret(db, projectId, owner)
    if (!row) return []
    const still = row.previous !== null && row.previous_until!.getTime() > Date.now() ? [row.previous] : []
    return [row.sealed, ...still].map((text) => open(key, contextOf(projectId, owner), text))
  }

  async function ensure(db: Db, projectId: ProjectId, owner: Owner): Promise<string[]> {
    const known = await current(db, projectId, owner)
    if (known.length > 0) return known
    // Of two simultaneous inserts one wins, and both callers read that one.
    await addSecret(db, projectId, owner, sealed(projectId, owner, newSecret()), new Date())
    return current(db, projectId, owner)
  }

  return {
    current,
    ensure,
    /** Returns the new secret, which is shown this once. The previous one signs for another day. */
    async rotate(db: Db, projectId: ProjectId, owner: Owner): Promise<string> {
      const text = newSecret()
      const at = new Date()
      const fresh = sealed(projectId, owner, text)
      const previousUntil = new Date(at.getTime() + overlapMs)
      if (!(await replaceSecret(db, projectId, owner, { sealed: fresh, previousUntil, at })))
        await addSecret(db, projectId, owner, fresh, at)
      return text
    },
    remove: removeSecret
  }
}

export type Secrets = ReturnType<typeof createSecrets>
