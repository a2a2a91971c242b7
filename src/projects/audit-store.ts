import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { newId, type ProjectId } from '../platform/ids.ts'

/** A change through the management surface. Never holds a secret or a user's properties. */
export interface AuditEntry {
  actor: string
  action: string
  target: string
  details?: Record<string, unknown>
}

export interface AuditRow {
  id: string
  at: Date
  actor: string
  action: string
  target: string
  details: Record<string, unknown>
}

const insert = statement(
  'audit.insert',
  `insert into audit_log (project_id, id, at, actor, action, target, details)
   select p.project_id, $2, $3, $4, $5, $6, $7 from projects p where p.project_id = $1`
)
const list = statement(
  'audit.list',
  `select id, at, actor, action, target, details from audit_log
    where project_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`
)
const sweep = statement(
  'audit.sweep',
  `delete from audit_log where project_id = $1 and id in (
     select id from audit_log where project_id = $1 and id < $2 order by id limit 10000)`
)

/** Written in the transaction of the change itself: no change without its entry. */
export const record = (db: Db, projectId: ProjectId, { actor, action, target, details = {} }: AuditEntry) =>
  db.run(insert, [projectId, newId(), new Date(), actor, action, target, details])

export const listAudit = (db: Db, projectId: ProjectId, before: string | null, limit: number) =>
  db.query<AuditRow>(list, [projectId, before, limit])

/** Deletes a batch of entries older than an id, and returns their number. */
export const sweepAudit = (db: Db, projectId: ProjectId, before: string) => db.run(sweep, [projectId, before])
