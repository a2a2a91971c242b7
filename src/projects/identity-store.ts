import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

export interface IdentitySecretRow {
  sealed: string
  previous: string | null
  previous_until: Date | null
}

const find = statement(
  'identity_secrets.find',
  'select sealed, previous, previous_until from identity_secrets where project_id = $1'
)
const put = statement(
  'identity_secrets.put',
  `insert into identity_secrets (project_id, sealed, created_at)
   select p.project_id, $2, $4 from projects p where p.project_id = $1 and p.deleted_at is null
   on conflict (project_id) do update
      set previous = identity_secrets.sealed, previous_until = $3, sealed = excluded.sealed,
          created_at = excluded.created_at
   returning previous_until`
)

export const findIdentitySecret = (db: Db, projectId: ProjectId) => db.one<IdentitySecretRow>(find, [projectId])

/** Replaces the secret; the previous one works until a time. Returns that time, or null for the first secret. */
export const putIdentitySecret = async (tx: Db, projectId: ProjectId, sealed: string, previousUntil: Date, at: Date) =>
  (await tx.one<{ previous_until: Date | null }>(put, [projectId, sealed, previousUntil, at]))?.previous_until ?? null
