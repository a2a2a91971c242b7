import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { defaultLimit, encodeCursor, idAfter } from '../platform/http/paging.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { type StoredUser, toUser, type UserRow } from './store.ts'

/** Users looked at for one page of a search: bounded, whatever the size of the project. */
const windowSize = 20_000
const windowsPerPage = 10
const exportWindow = 1_000

// Anonymous users are left out everywhere here: an import could not take them back, and there may be very many.
const columns = 'id, project_user_id, properties, created_at, updated_at'

const newest = statement(
  'users.newest',
  `select ${columns} from users
    where project_id = $1 and project_user_id is not null and ($2::uuid is null or id < $2)
    order by id desc limit $3`
)
// A key window: the next ids unfiltered, the filter inside. Filtered paging would scan again for every page.
const searchWindow = statement(
  'users.search_window',
  `with w as materialized (
     select id, project_user_id from users
      where project_id = $1 and project_user_id is not null and ($2::uuid is null or id < $2)
      order by id desc limit $3)
   select (select w.id from w order by w.id limit 1) as last, (select count(*)::int from w) as seen,
          array(select w.id from w where position(lower($4) in lower(w.project_user_id)) > 0
                 order by w.id desc limit $5) as found`
)
const byIds = statement(
  'users.by_ids',
  `select ${columns} from users
    where project_id = $1 and id = any($2::uuid[]) and project_user_id is not null order by id desc`
)
const oldest = statement(
  'users.oldest',
  `select ${columns} from users
    where project_id = $1 and project_user_id is not null and ($2::uuid is null or id > $2)
    order by id limit $3`
)

export interface UserPage {
  users: StoredUser[]
  nextCursor: string | null
}

/** Newest first. A search may answer a short page with a cursor: it stops after a bounded part of the project. */
export async function listUsers(
  db: Db,
  projectId: ProjectId,
  { search, cursor, limit = defaultLimit }: { search?: string; cursor?: string; limit?: number }
): Promise<UserPage> {
  const before = idAfter(cursor)
  if (search === undefined || search === '') {
    const rows = await db.query<UserRow>(newest, [projectId, before, limit + 1])
    return {
      users: rows.slice(0, limit).map(toUser),
      nextCursor: rows.length > limit ? encodeCursor(rows[limit - 1]!.id) : null
    }
  }
  const exact = before === null && isUuid(search) ? await db.query<UserRow>(byIds, [projectId, [search]]) : []
  if (exact.length > 0) return { users: exact.map(toUser), nextCursor: null }
  return searchUsers(db, projectId, search, before, limit)
}

async function searchUsers(
  db: Db,
  projectId: ProjectId,
  search: string,
  before: string | null,
  limit: number
): Promise<UserPage> {
  const ids: string[] = []
  let from = before
  for (let windows = 0; windows < windowsPerPage; windows += 1) {
    const wanted = limit - ids.length
    const window = await db.one<{ last: string | null; seen: number; found: string[] }>(searchWindow, [
      projectId,
      from,
      windowSize,
      search,
      wanted
    ])
    const { last, seen, found } = window!
    ids.push(...found)
    from = found.length === wanted ? found.at(-1)! : last
    if (found.length === wanted) break
    if (seen < windowSize) {
      from = null
      break
    }
  }
  const rows = ids.length > 0 ? await db.query<UserRow>(byIds, [projectId, ids]) : []
  return { users: rows.map(toUser), nextCursor: from === null ? null : encodeCursor(from) }
}

/** Every user as a line of JSON, oldest first, window by window: memory does not grow with the project. */
export async function* exportUsers(db: Db, projectId: ProjectId): AsyncGenerator<string> {
  let after: string | null = null
  for (;;) {
    const rows: UserRow[] = await db.query<UserRow>(oldest, [projectId, after, exportWindow])
    if (rows.length === 0) return
    yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    after = rows.at(-1)!.id
    if (rows.length < exportWindow) return
  }
}
