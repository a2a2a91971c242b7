import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Choices } from './choice-store.ts'
import { indexedValue } from './index-store.ts'
import type { Properties, PropertyValue } from './properties.ts'
import type { UserRow } from './store.ts'

// All lists here omit anonymous users: an import could not restore them, and there may be very many.
/** Later than any id of a user. */
export const afterAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const columns = 'id, project_user_id, properties, created_at, updated_at'

const newestRows = statement(
  'users.newest',
  `select ${columns} from users
    where project_id = $1 and project_user_id is not null and ($2::uuid is null or id < $2)
    order by id desc limit $3`
)
const named = `($4::text is null or (position(lower($4) in lower(u.project_user_id)) > 0 and u.project_user_id <> $4))`
const searched = `select (select w.id from w order by w.id limit 1) as last, (select count(*)::int from w) as seen,
          found, (select count(*)::int from w where w.id >= found[$6::int]) as reached
     from (select array(select w.id from w where w.hit order by w.id desc limit $6::int)) as f(found)`
// Reads a window of the next ids and compares inside it, so that only ids are kept. Filtered paging would scan again for
// every page. The position is always given: with "or $2 is null" a generic plan reads each window from the newest user.
const scannedRows = statement(
  'users.search_window',
  `with w as materialized (
     select u.id, ${named} and ($5::jsonb is null or u.properties @> $5) as hit from users u
      where u.project_id = $1 and u.project_user_id is not null and u.id < coalesce($2::uuid, '${afterAll}'::uuid)
      order by u.id desc limit $3)
   ${searched}`
)
// The user is read by a subquery of its own for each row: a join might read all users of the project instead.
const indexedRows = statement(
  'users.indexed_window',
  `with w as materialized (
     select v.user_id as id, (select u.project_user_id is not null and ${named} and u.properties @> $5::jsonb
                                from users u where u.project_id = $1 and u.id = v.user_id) as hit
       from indexed_values v
      where v.project_id = $1 and v.property_id = $7 and v.value = ${indexedValue('$8::jsonb')}
        and v.user_id < coalesce($2::uuid, '${afterAll}'::uuid)
      order by v.user_id desc limit $3)
   ${searched}`
)
const byIdsRows = statement(
  'users.by_ids',
  `select ${columns} from users
    where project_id = $1 and id = any($2::uuid[]) and project_user_id is not null order by id desc`
)
const oldestRows = statement(
  'users.oldest',
  `select ${columns}, choices from users
    where project_id = $1 and project_user_id is not null and ($2::uuid is null or id > $2)
    order by id limit $3`
)

/** Users before an id, the newest first. */
export const newestUsers = (db: Db, projectId: ProjectId, before: string | null, limit: number) =>
  db.query<UserRow>(newestRows, [projectId, before, limit])

/** Users after an id, the oldest first. */
export const oldestUsers = (db: Db, projectId: ProjectId, after: string | null, limit: number) =>
  db.query<UserRow & { choices: Choices | null }>(oldestRows, [projectId, after, limit])

export const usersByIds = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<UserRow>(byIdsRows, [projectId, ids])

/** The matching users of one batch, and how far the batch went. */
export interface SearchedBatch {
  last: string | null
  seen: number
  found: string[]
  /** How many users the batch had seen when the limit was reached; 0 if it was not. */
  reached: number
}

interface Batch {
  before: string | null
  size: number
  text: string | null
  properties: Properties | null
  limit: number
}

const valuesOf = (projectId: ProjectId, { before, size, text, properties, limit }: Batch) => [
  projectId,
  before,
  size,
  text,
  properties && JSON.stringify(properties),
  limit
]

/** The users of one batch whose id has the text, and who have the properties. */
export const scannedBatch = async (db: Db, projectId: ProjectId, batch: Batch): Promise<SearchedBatch> =>
  (await db.one<SearchedBatch>(scannedRows, valuesOf(projectId, batch)))!

/** The same, among users whom an index names. */
export const indexedBatch = async (
  db: Db,
  projectId: ProjectId,
  { propertyId, value, ...batch }: Batch & { propertyId: string; value: PropertyValue }
): Promise<SearchedBatch> =>
  (await db.one<SearchedBatch>(indexedRows, [...valuesOf(projectId, batch), propertyId, JSON.stringify(value)]))!

/** About how many users a project has. The planner knows without counting, but of too few right after an import. */
export async function aboutUsers(db: Db, projectId: ProjectId): Promise<number> {
  const [row] = await db.adhoc<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(
    'explain (format json) select 1 from users where project_id = $1',
    [projectId]
  )
  return row?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0
}

/** How many users were visited, and about how many there are, if the planner knows of more. */
export async function visitedOf(db: Db, projectId: ProjectId, visited: number) {
  const about = await aboutUsers(db, projectId)
  return about > visited ? { visited, about } : { visited }
}
