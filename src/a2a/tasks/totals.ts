import type { Pool } from '../../platform/db/db.ts'
import { Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { countTasks, type TaskFilter } from './store.ts'

/** Of so many tasks nobody misses the last ones: their number is believed for a while. */
const large = 10_000
const believedMs = 10_000
/** Totals that are remembered; past it the oldest is forgotten. */
const mostKnown = 1_000
/** Counts of a project that wait for their turn. More would wait for longer than anybody does. */
const mostWaiting = 20

export type Totals = ReturnType<typeof createTotals>

/**
 * How many tasks there are. Counting costs as much as there is to count, so a project counts one thing at a time, and a
 * large number not again at once: no caller can keep the database busy with it.
 */
export function createTotals(pool: Pool) {
  const known = new Map<string, { total: number; untilMs: number }>()
  const counting = new Map<ProjectId, { last: Promise<unknown>; many: number }>()

  async function count(projectId: ProjectId, wanted: TaskFilter, key: string): Promise<number> {
    const believed = known.get(key)
    if (believed && believed.untilMs > steadyMs()) return believed.total
    known.delete(key)
    const total = await countTasks(pool, projectId, wanted)
    if (total >= large) known.set(key, { total, untilMs: steadyMs() + believedMs })
    if (known.size > mostKnown) known.delete(known.keys().next().value!)
    return total
  }

  return {
    async of(projectId: ProjectId, { contextId, state, changedAfter }: TaskFilter): Promise<number> {
      const key = JSON.stringify([projectId, contextId, state, changedAfter])
      const line = counting.get(projectId) ?? { last: Promise.resolve(), many: 0 }
      if (line.many > mostWaiting) throw new Unavailable('Too many lists of tasks are being counted.')
      const next = line.last.then(() => count(projectId, { contextId, state, changedAfter }, key))
      line.last = next.catch(() => {})
      line.many += 1
      counting.set(projectId, line)
      try {
        return await next
      } finally {
        line.many -= 1
        if (line.many === 0) counting.delete(projectId)
      }
    }
  }
}
