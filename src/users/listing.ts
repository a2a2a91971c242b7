import type { Db } from '../platform/db/db.ts'
import { defaultLimit, encodeCursor, idAfter } from '../platform/http/paging.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { newestUsers, oldestUsers, searchBatch, usersByIds } from './listing-store.ts'
import { type StoredUser, toUser } from './store.ts'

/** One page of a search examines at most `batchesPerPage` batches of this size, whatever the size of the project. */
const batchSize = 20_000
const batchesPerPage = 10
const exportBatch = 1_000

export interface UserPage {
  users: StoredUser[]
  nextCursor: string | null
}

/**
 * Lists users, the newest first. A search may return a short page with a cursor: it examines a bounded number of users.
 */
export async function listUsers(
  db: Db,
  projectId: ProjectId,
  { search, cursor, limit = defaultLimit }: { search?: string; cursor?: string; limit?: number }
): Promise<UserPage> {
  const before = idAfter(cursor)
  if (search === undefined || search === '') {
    const rows = await newestUsers(db, projectId, before, limit + 1)
    return {
      users: rows.slice(0, limit).map(toUser),
      nextCursor: rows.length > limit ? encodeCursor(rows[limit - 1]!.id) : null
    }
  }
  const exact = before === null && isUuid(search) ? await usersByIds(db, projectId, [search]) : []
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
  for (let batches = 0; batches < batchesPerPage; batches += 1) {
    const wanted = limit - ids.length
    const batch = { before: from, size: batchSize, text: search, limit: wanted }
    const { last, seen, found } = await searchBatch(db, projectId, batch)
    ids.push(...found)
    from = found.length === wanted ? found.at(-1)! : last
    if (found.length === wanted) break
    if (seen < batchSize) {
      from = null
      break
    }
  }
  const rows = ids.length > 0 ? await usersByIds(db, projectId, ids) : []
  return { users: rows.map(toUser), nextCursor: from === null ? null : encodeCursor(from) }
}

type ExportedRow = Awaited<ReturnType<typeof oldestUsers>>[number]

/** Choices are in the line of a user who has made some, in the form of preferences. */
const lineOf = ({ choices, ...row }: ExportedRow) => ({
  ...row,
  ...(choices && { preferences: { opted_out: choices.out ?? false, topics: choices.topics ?? {} } })
})

/** Every user as a line of JSON, oldest first, in batches: memory does not grow with the project. */
export async function* exportUsers(db: Db, projectId: ProjectId): AsyncGenerator<string> {
  let after: string | null = null
  for (;;) {
    const rows: ExportedRow[] = await oldestUsers(db, projectId, after, exportBatch)
    if (rows.length === 0) return
    yield rows.map((row) => `${JSON.stringify(lineOf(row))}\n`).join('')
    after = rows.at(-1)!.id
    if (rows.length < exportBatch) return
  }
}
