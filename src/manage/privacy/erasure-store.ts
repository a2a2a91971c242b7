import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'

const newest = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

export interface Remaining {
  table: string
  rows: number
  reason: string
  /** Null: until the owner of the project changes it. */
  until: string | null
}

export interface ErasureRow {
  id: string
  subject: string
  actor: string
  requested_at: Date
  completed_at: Date
  erased: Record<string, number>
  remaining: Remaining[]
  signature: string
}

const columns = 'id, subject, actor, requested_at, completed_at, erased, remaining, signature'
const insert = statement(
  'erasures.insert',
  `insert into erasures (project_id, ${columns})
   select p.project_id, $2, $3, $4, $5, $6, $7, $8, $9 from projects p where p.project_id = $1`
)
const find = statement('erasures.find', `select ${columns} from erasures where project_id = $1 and id = $2`)
const list = statement(
  'erasures.list',
  `select ${columns} from erasures where project_id = $1 and id < $2 order by id desc limit $3`
)
const listOf = statement(
  'erasures.list_of_subject',
  `select ${columns} from erasures where project_id = $1 and subject = $4 and id < $2 order by id desc limit $3`
)
const findKey = statement('erasures.find_key', `select sealed from erasure_keys where project_id = $1 and sealed <> ''`)
// Without the master key a sealed text is emptied; then the project gets a new key.
const addKey = statement(
  'erasures.add_key',
  `insert into erasure_keys (project_id, sealed)
   select p.project_id, $2 from projects p where p.project_id = $1
   on conflict (project_id) do update set sealed = excluded.sealed where erasure_keys.sealed = ''`
)

/** What the deletion of a user deletes with it, by table. */
const counts = statement(
  'erasures.count',
  `select (select count(*)::int from users where project_id = $1 and id = any($2::uuid[])) as users,
          (select count(*)::int from consents where project_id = $1 and user_id = any($2::uuid[])) as consents,
          (select count(*)::int from devices where project_id = $1 and user_id = any($2::uuid[])) as devices,
          (select count(*)::int from push_tokens t join devices d on d.project_id = t.project_id and d.id = t.device_id
            where d.project_id = $1 and d.user_id = any($2::uuid[])) as push_tokens,
          (select count(*)::int from live_activity_tokens t
             join devices d on d.project_id = t.project_id and d.id = t.device_id
            where d.project_id = $1 and d.user_id = any($2::uuid[])) as live_activity_tokens,
          (select count(*)::int from events where project_id = $1 and user_id = any($2::uuid[])) as events,
          (select count(*)::int from messages where project_id = $1 and user_id = any($2::uuid[])) as messages,
          (select count(*)::int from journeys where project_id = $1 and user_id = any($2::uuid[])) as journeys,
          (select count(*)::int from conversions where project_id = $1 and user_id = any($2::uuid[])) as conversions,
          (select count(*)::int from trigger_skips where project_id = $1 and user_id = any($2::uuid[])) as trigger_skips,
          (select count(*)::int from indexed_values where project_id = $1 and user_id = any($2::uuid[])) as indexed_values`
)

export const insertErasure = (db: Db, projectId: ProjectId, row: ErasureRow) =>
  db.run(insert, [
    projectId,
    row.id,
    row.subject,
    row.actor,
    row.requested_at,
    row.completed_at,
    JSON.stringify(row.erased),
    JSON.stringify(row.remaining),
    row.signature
  ])

export const findErasure = (db: Db, projectId: ProjectId, id: string) => db.one<ErasureRow>(find, [projectId, id])

/** Newest first; of one subject, if it is given. */
export const listErasures = (
  db: Db,
  projectId: ProjectId,
  after: string | null,
  limit: number,
  subject: string | undefined
) =>
  subject === undefined
    ? db.query<ErasureRow>(list, [projectId, after ?? newest, limit])
    : db.query<ErasureRow>(listOf, [projectId, after ?? newest, limit, subject])

export const findErasureKey = async (db: Db, projectId: ProjectId): Promise<string | undefined> =>
  (await db.one<{ sealed: string }>(findKey, [projectId]))?.sealed

export const addErasureKey = (db: Db, projectId: ProjectId, sealed: string) => db.run(addKey, [projectId, sealed])

export const countOfUsers = async (db: Db, projectId: ProjectId, userIds: string[]): Promise<Record<string, number>> =>
  (await db.one<Record<string, number>>(counts, [projectId, userIds]))!
