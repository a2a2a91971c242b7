import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

export interface SecretRow {
  sealed: string
  previous: string | null
  previous_until: Date | null
}

const insertRow = statement(
  'webhooks.add_secret',
  `insert into webhook_secrets (project_id, owner, sealed, created_at)
   select p.project_id, $2, $3, $4 from projects p where p.project_id = $1
   on conflict (project_id, owner) do nothing`
)
const findRow = statement(
  'webhooks.find_secret',
  'select sealed, previous, previous_until from webhook_secrets where project_id = $1 and owner = $2'
)
const replaceRow = statement(
  'webhooks.replace_secret',
  `update webhook_secrets set previous = sealed, previous_until = $4, sealed = $3, created_at = $5
    where project_id = $1 and owner = $2`
)
const removeRow = statement(
  'webhooks.remove_secret',
  'delete from webhook_secrets where project_id = $1 and owner = $2'
)

/** The first secret of an owner stays. */
export const addSecret = (db: Db, projectId: ProjectId, owner: string, sealed: string, at: Date) =>
  db.run(insertRow, [projectId, owner, sealed, at])

export const findSecret = (db: Db, projectId: ProjectId, owner: string) =>
  db.one<SecretRow>(findRow, [projectId, owner])

/** Replaces the secret and keeps the previous one until a time. Returns false if the owner has none. */
export const replaceSecret = async (
  db: Db,
  projectId: ProjectId,
  owner: string,
  { sealed, previousUntil, at }: { sealed: string; previousUntil: Date; at: Date }
): Promise<boolean> => (await db.run(replaceRow, [projectId, owner, sealed, previousUntil, at])) > 0

export const removeSecret = (db: Db, projectId: ProjectId, owner: string) => db.run(removeRow, [projectId, owner])
