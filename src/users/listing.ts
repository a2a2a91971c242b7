import type { Db, Pool } from '../platform/db/db.ts'
import { defaultLimit, encodeCursor, idAfter } from '../platform/http/paging.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { aboutUsers, afterAll, newestUsers, oldestUsers, usersByIds } from './listing-store.ts'
import type { Properties } from './properties.ts'
import { findUsers, type StoredUser, toUser } from './store.ts'
import type { Users } from './users.ts'

/** How long a page of a search may take. What is left is for the next page. */
const pageMs = 1_000
const exportBatch = 1_000

export interface UserPage {
  users: StoredUser[]
  nextCursor: string | null
  /** How many users were compared, if no index named them, and about how many the project has. */
  searched?: number
  about?: number
}

export interface ListRequest {
  search?: string | undefined
  where?: Properties | undefined
  cursor?: string | undefined
  limit?: number | undefined
}

/** Lists users, the newest first. A search may return a short page with a cursor: each page has its time. */
export async function listUsers(
  pool: Pool,
  users: Pick<Users, 'search'>,
  projectId: ProjectId,
  { search, where, cursor, limit = defaultLimit }: ListRequest
): Promise<UserPage> {
  const before = idAfter(cursor)
  const text = search || undefined
  if (text === undefined && where === undefined) {
    const rows = await pool.reading((db) => newestUsers(db, projectId, before, limit + 1))
    return {
      users: rows.slice(0, limit).map(toUser),
      nextCursor: rows.length > limit ? encodeCursor(rows[limit - 1]!.id) : null
    }
  }
  const exact = text !== undefined && before === null ? await exactly(pool, projectId, text, where) : []
  if (exact.some(({ id }) => id === text)) return { users: exact, nextCursor: null }
  if (exact.length === limit) return { users: exact, nextCursor: encodeCursor(afterAll) }
  const wanted = { text, where, before, limit: limit - exact.length }
  const { ids, next, seen, indexed } = await users.search(projectId, wanted, pageMs)
  const rows = ids.length > 0 ? await usersByIds(pool, projectId, ids) : []
  const page = { users: [...exact, ...rows.map(toUser)], nextCursor: next === null ? null : encodeCursor(next) }
  if (indexed) return page
  return { ...page, searched: seen, ...(next !== null && { about: await aboutUsers(pool, projectId) }) }
}

/** The user who has exactly this id, or this service id. */
async function exactly(db: Db, projectId: ProjectId, id: string, where: Properties = {}): Promise<StoredUser[]> {
  const byService = isUuid(id) ? (await usersByIds(db, projectId, [id])).map(toUser) : []
  const found = byService.length > 0 ? byService : await findUsers(db, projectId, [id])
  return found.filter(({ properties }) =>
    Object.entries(where).every(([name, value]) => Object.hasOwn(properties, name) && properties[name] === value)
  )
}

type ExportedRow = Awaited<ReturnType<typeof oldestUsers>>[number]

/** Choices are in the line of a user who has made some, in the form of preferences. */
const lineOf = ({ choices, ...row }: ExportedRow) => ({
  ...row,
  ...(choices && { preferences: { opted_out: choices.out ?? false, topics: choices.topics ?? {} } })
})

/** Every user as a line of JSON, oldest first, in batches: memory does not grow with the project. */
export async function* exportUsers(pool: Pool, projectId: ProjectId): AsyncGenerator<string> {
  let after: string | null = null
  for (;;) {
    const from = after
    const rows: ExportedRow[] = await pool.reading((db) => oldestUsers(db, projectId, from, exportBatch))
    if (rows.length === 0) return
    yield rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join('')
    after = rows.at(-1)!.id
    if (rows.length < exportBatch) return
  }
}
