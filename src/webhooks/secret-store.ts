import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

/** What replaced secrets leave behind until they end. Nodes of an earlier version read and write only `previous`. */
interface Remaining {
  /** The last secret that was replaced. */
  previous: string | null
  previous_until: Date | null
  /** All of them, as one sealed text. */
  replaced: string | null
}

export interface SecretRow extends Remaining {
  sealed: string
}

const columns = 'sealed, previous, previous_until, replaced'

const insertRow = statement(
  'webhooks.add_secret',
  `insert into webhook_secrets (project_id, owner, sealed, created_at)
   select p.project_id, $2, $3, $4 from projects p where p.project_id = $1
   on conflict (project_id, owner) do nothing`
)
const findRow = statement(
  'webhooks.find_secret',
  `select ${columns} from webhook_secrets where project_id = $1 and owner = $2`
)
const lockRow = statement(
  'webhooks.lock_secret',
  `select ${columns} from webhook_secrets where project_id = $1 and owner = $2 for update`
)
const replaceRow = statement(
  'webhooks.replace_secret',
  `update webhook_secrets set sealed = $3, previous = $4, previous_until = $5, replaced = $6, created_at = $7
    where project_id = $1 and owner = $2`
)
const removeRow = statement(
  'webhooks.remove_secret',
  'delete from webhook_secrets where project_id = $1 and owner = $2'
)

/** The first secret of an owner stays: false if there is one. */
export const addSecret = async (
  db: Db,
  projectId: ProjectId,
  owner: string,
  sealed: string,
  at: Date
): Promise<boolean> => (await db.run(insertRow, [projectId, owner, sealed, at])) > 0

export const findSecret = (db: Db, projectId: ProjectId, owner: string) =>
  db.one<SecretRow>(findRow, [projectId, owner])

/** The secret as it is until the transaction ends: nothing else replaces it meanwhile. */
export const lockSecret = (tx: Db, projectId: ProjectId, owner: string) =>
  tx.one<SecretRow>(lockRow, [projectId, owner])

export const replaceSecret = (
  db: Db,
  projectId: ProjectId,
  owner: string,
  { sealed, previous, previous_until, replaced }: SecretRow,
  at: Date
) => db.run(replaceRow, [projectId, owner, sealed, previous, previous_until, replaced, at])

export const removeSecret = (db: Db, projectId: ProjectId, owner: string) => db.run(removeRow, [projectId, owner])
