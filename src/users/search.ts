import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import { indexedProperties } from './index-store.ts'
import { indexedBatch, type SearchedBatch, scannedBatch, usersByIds } from './listing-store.ts'
import type { Properties, PropertyValue } from './properties.ts'
import { type StoredUser, toUser } from './store.ts'

export interface Wanted {
  /** A part of the id, in any letter case. Who has exactly this id is left out. */
  text?: string | undefined
  /** Values that the user has. */
  where?: Properties | undefined
  /** Users with smaller ids only. */
  before?: string | null
  limit: number
}

export interface Found {
  ids: string[]
  /** Where the search goes on; null if it is complete. */
  next: string | null
  /** How many users were compared. */
  seen: number
  /** Whether an index named the users, so that `seen` says nothing about the project. */
  indexed: boolean
}

/** A batch ends within milliseconds. Those of an index start with the length of the page, which is often enough. */
const scanBatch = 10_000
const largestIndexBatch = 5_000

/** Finds users by id and properties, as far as the time allows. */
export function createUserSearch(pool: Pool) {
  const searches = new Map<ProjectId, Promise<unknown>>()

  /** One search of a project at a time, because many at once would occupy the database. Waiting counts as searching. */
  function search(projectId: ProjectId, wanted: Wanted, forMs: number): Promise<Found> {
    const deadline = steadyMs() + forMs
    const begin = () => pool.reading((db) => searchUntil(db, projectId, wanted, deadline))
    const found = (searches.get(projectId) ?? Promise.resolve()).then(begin, begin)
    searches.set(projectId, found)
    const end = () => {
      if (searches.get(projectId) === found) searches.delete(projectId)
    }
    found.then(end, end)
    return found
  }

  return {
    search,
    /** Users that have exactly this value of a property; `complete` if these are all. */
    async withProperty(
      projectId: ProjectId,
      { name, value, limit }: { name: string; value: PropertyValue; limit: number }
    ): Promise<{ users: StoredUser[]; complete: boolean }> {
      // One more than the limit shows that there are more.
      const found = await search(projectId, { where: { [name]: value }, limit: limit + 1 }, 3_000)
      const ids = found.ids.slice(0, limit)
      const rows = ids.length > 0 ? await usersByIds(pool, projectId, ids) : []
      return { users: rows.map(toUser), complete: found.next === null && found.ids.length <= limit }
    }
  }
}

async function searchUntil(db: Db, projectId: ProjectId, wanted: Wanted, deadline: number): Promise<Found> {
  const next = await batchesOf(db, projectId, wanted)
  const found: Found = { ids: [], next: wanted.before ?? null, seen: 0, indexed: next.indexed }
  do {
    const missing = wanted.limit - found.ids.length
    const { last, seen, found: ids, reached, size } = await next.batch(found.next, missing)
    found.ids.push(...ids)
    found.seen += reached || seen
    found.next = ids.length === missing ? ids.at(-1)! : seen < size ? null : last
    if (found.next === null) break
  } while (found.ids.length < wanted.limit && steadyMs() < deadline)
  return found
}

type NextBatch = (before: string | null, limit: number) => Promise<SearchedBatch & { size: number }>

/** The batches of a search: those of an index if one of the wanted properties has it, or else of all users. */
async function batchesOf(
  db: Db,
  projectId: ProjectId,
  { text = null, where, limit: length }: Omit<Wanted, 'text'> & { text?: string | null | undefined }
): Promise<{ batch: NextBatch; indexed: boolean }> {
  const properties = where && Object.keys(where).length > 0 ? where : null
  const known = properties ? await indexedProperties(db, projectId) : []
  const index = known.find(({ name, state }) => state === 'ready' && Object.hasOwn(properties!, name))
  if (!index) {
    const batch: NextBatch = async (before, limit) => ({
      ...(await scannedBatch(db, projectId, { before, size: scanBatch, text, properties, limit })),
      size: scanBatch
    })
    return { batch, indexed: false }
  }
  const value = properties![index.name]!
  let size = length
  const batch: NextBatch = async (before, limit) => {
    const asked = { propertyId: index.id, value, before, size, text, properties: properties!, limit }
    const found = { ...(await indexedBatch(db, projectId, asked)), size }
    size = Math.min(size * 4, largestIndexBatch)
    return found
  }
  return { batch, indexed: true }
}
