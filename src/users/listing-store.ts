import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Choices } from './choice-store.ts'
import type { UserRow } from './store.ts'

// All lists here omit anonymous users: an import could not restore them, and there may be very many.
/** Later than any id of a user. */
const afterAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const columns = 'id, project_user_id, properties, created_at, updated_at'

const newestRows = statement(
  'users.newest',
  `select ${columns} from users
    where project_id = $1 and project_user_id is not null and ($2::uuid is null or id < $2)
    order by id desc limit $3`
)
// Reads a window of the next ids and filters inside it. Filtered paging would scan again for every page.
const searchWindowRows = statement(
  'users.search_window',
  `with w as materialized (
     select id, project_user_id from users
      where project_id = $1 and project_user_id is not null and ($2::uuid is null or id < $2)
      order by id desc limit $3)
   select (select w.id from w order by w.id limit 1) as last, (select count(*)::int from w) as seen,
          array(select w.id from w where position(lower($4) in lower(w.project_user_id)) > 0
                 order by w.id desc limit $5) as found`
)
// Each user is compared inside the window, so that only its id is kept. The position is always given: with "or $2 is
// null" a generic plan reads each window from the newest user.
const propertyWindowRows = statement(
  'users.property_window',
  `with w as materialized (
     select id, properties -> $4::text = $5::jsonb as hit from users
      where project_id = $1 and project_user_id is not null and id < coalesce($2::uuid, '${afterAll}'::uuid)
      order by id desc limit $3)
   select (select w.id from w order by w.id limit 1) as last, (select count(*)::int from w) as seen,
          array(select w.id from w where w.hit order by w.id desc limit $6) as found`
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
}

/** The users of one batch that have this value of a property, which is JSON, and how far the batch went. */
export const propertyBatch = async (
  db: Db,
  projectId: ProjectId,
  {
    before,
    size,
    name,
    value,
    limit
  }: { before: string | null; size: number; name: string; value: string; limit: number }
): Promise<SearchedBatch> =>
  (await db.one<SearchedBatch>(propertyWindowRows, [projectId, before, size, name, value, limit]))!

export const searchBatch = async (
  db: Db,
  projectId: ProjectId,
  { before, size, text, limit }: { before: string | null; size: number; text: string; limit: number }
): Promise<SearchedBatch> => (await db.one<SearchedBatch>(searchWindowRows, [projectId, before, size, text, limit]))!
