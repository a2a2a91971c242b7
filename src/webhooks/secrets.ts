import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { sealedColumn } from '../platform/secrets/sealed.ts'
import { open, seal } from '../platform/secrets/secrets.ts'
import { newSecret } from './signing.ts'

/** Whose secret it is: a webhook's, by its id, or the project's, which signs all other calls. */
export type Owner = string
export const projectOwner: Owner = 'project'

/** How long the secret before still signs, so that a receiver can be changed without losing a call. */
const overlapMs = 24 * 3_600_000

interface Row {
  sealed: string
  previous: string | null
  previous_until: Date | null
}

const insert = statement(
  'webhooks.add_secret',
  `insert into webhook_secrets (project_id, owner, sealed, created_at)
   select p.project_id, $2, $3, $4 from projects p where p.project_id = $1
   on conflict (project_id, owner) do nothing`
)
const find = statement(
  'webhooks.find_secret',
  'select sealed, previous, previous_until from webhook_secrets where project_id = $1 and owner = $2'
)
const replace = statement(
  'webhooks.replace_secret',
  `update webhook_secrets set previous = sealed, previous_until = $4, sealed = $3, created_at = $5
    where project_id = $1 and owner = $2`
)
const remove = statement('webhooks.remove_secret', 'delete from webhook_secrets where project_id = $1 and owner = $2')

/** Bound to its place: a secret copied to another project's row does not open there. */
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

  /** All that sign now, the current one first. Empty if there is none. */
  async function current(db: Db, projectId: ProjectId, owner: Owner): Promise<string[]> {
    const row = await db.one<Row>(find, [projectId, owner])
    if (!row) return []
    const still = row.previous !== null && row.previous_until!.getTime() > Date.now() ? [row.previous] : []
    return [row.sealed, ...still].map((text) => open(key, contextOf(projectId, owner), text))
  }

  async function ensure(db: Db, projectId: ProjectId, owner: Owner): Promise<string[]> {
    const known = await current(db, projectId, owner)
    if (known.length > 0) return known
    // Of two at once one wins, and both read that one.
    await db.run(insert, [projectId, owner, sealed(projectId, owner, newSecret()), new Date()])
    return current(db, projectId, owner)
  }

  return {
    current,
    ensure,
    /** The new text, to be shown this once. The one before signs for another day. */
    async rotate(db: Db, projectId: ProjectId, owner: Owner): Promise<string> {
      const text = newSecret()
      const now = Date.now()
      const values = [projectId, owner, sealed(projectId, owner, text)]
      if ((await db.run(replace, [...values, new Date(now + overlapMs), new Date(now)])) === 0)
        await db.run(insert, [...values, new Date(now)])
      return text
    },
    remove: (db: Db, projectId: ProjectId, owner: Owner) => db.run(remove, [projectId, owner])
  }
}

export type Secrets = ReturnType<typeof createSecrets>
