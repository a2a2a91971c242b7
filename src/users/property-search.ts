import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import { propertyBatch, usersByIds } from './listing-store.ts'
import type { PropertyValue } from './properties.ts'
import { type StoredUser, toUser } from './store.ts'

export interface WantedProperty {
  name: string
  value: PropertyValue
  limit: number
}

/** `complete`: these are all users that have the value. */
export interface FoundUsers {
  users: StoredUser[]
  complete: boolean
}

/** No index has all properties: users are compared one batch after the other, for at most this long. */
const searchMs = 3_000
const batchSize = 5_000

/** Finds users that have exactly a value of a property. */
export function createPropertySearch(db: Db) {
  const searches = new Map<ProjectId, Promise<unknown>>()

  /** One search of a project at a time, because many at once would occupy the database. Waiting counts as searching. */
  return (projectId: ProjectId, wanted: WantedProperty): Promise<FoundUsers> => {
    const deadline = steadyMs() + searchMs
    const search = () => searchUntil(db, projectId, wanted, deadline)
    const found = (searches.get(projectId) ?? Promise.resolve()).then(search, search)
    searches.set(projectId, found)
    const end = () => {
      if (searches.get(projectId) === found) searches.delete(projectId)
    }
    found.then(end, end)
    return found
  }
}

async function searchUntil(
  db: Db,
  projectId: ProjectId,
  { name, value, limit }: WantedProperty,
  deadline: number
): Promise<FoundUsers> {
  const ids: string[] = []
  let complete = false
  let before: string | null = null
  // One more than the limit shows that there are more.
  while (!complete && ids.length <= limit && steadyMs() < deadline) {
    const batch = { before, size: batchSize, name, value: JSON.stringify(value), limit: limit + 1 - ids.length }
    const { last, seen, found } = await propertyBatch(db, projectId, batch)
    ids.push(...found)
    before = last
    complete = seen < batchSize
  }
  const rows = ids.length > 0 ? await usersByIds(db, projectId, ids.slice(0, limit)) : []
  return { users: rows.map(toUser), complete: complete && ids.length <= limit }
}
