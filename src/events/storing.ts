import type { Db } from '../platform/db/db.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { fillQueue } from './queue-store.ts'
import { insertEvents, type NewEvent } from './store.ts'
import { findWanted } from './wanted-store.ts'

interface Wanted {
  version: string
  names: ReadonlySet<string>
}

/** Projects whose names are remembered. A forgotten one costs a statement. */
const maxKnown = 10_000

/**
 * Stores events, and puts those that campaigns react to into the queue. The names are remembered, and the statement that stores
 * events refuses an older version of them: a campaign that was activated on any node counts from then on, and events that
 * no campaign wants cost nothing more.
 */
export function createStoring() {
  const known = new Map<ProjectId, Wanted>()

  async function load(tx: Db, projectId: ProjectId): Promise<Wanted | undefined> {
    const found = await findWanted(tx, projectId)
    if (!found) return undefined
    const wanted = { version: found.version, names: new Set(found.names) }
    if (known.size >= maxKnown) known.clear()
    known.set(projectId, wanted)
    return wanted
  }

  /** Returns how many events wait for subscribers now; undefined if the project is being erased. */
  return async (tx: Db, projectId: ProjectId, events: NewEvent[]): Promise<number | undefined> => {
    const rows = events.map((event) => ({ ...event, id: event.id ?? newId() }))
    let wanted = known.get(projectId) ?? (await load(tx, projectId))
    while (wanted && !(await insertEvents(tx, projectId, rows, wanted.version))) {
      const newer = await load(tx, projectId)
      // The names have not changed, so the project is being erased.
      if (newer?.version === wanted.version) return undefined
      wanted = newer
    }
    if (!wanted) return undefined
    const { names } = wanted
    const waiting = names.size === 0 ? [] : rows.filter(({ name }) => names.has(name))
    if (waiting.length > 0) await fillQueue(tx, projectId, waiting)
    return waiting.length
  }
}
