import type { Pool } from '../../platform/db/db.ts'
import { Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { countTasks, type TaskFilter } from './store.ts'

/** From this size on a total is cached for a while: a few new tasks make no difference to it. */
const large = 10_000
const believedMs = 10_000
/** The most cached totals; the oldest is dropped first. */
const mostKnown = 1_000
/** The most counts of a project that wait for their turn. Further ones would wait longer than callers do. */
const mostWaiting = 20

export type Totals = ReturnType<typeof createTotals>

/**
 * The number of tasks. The cost of a count grows with the number of rows, so a project runs one count at a time, and a
 * large total is cached: no caller can keep the database busy with counts.
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
    async of(projectId: ProjectId, { contextId, state, changedAfter, chain }: TaskFilter): Promise<number> {
      const key = JSON.stringify([projectId, contextId, state, changedAfter, chain])
      const line = counting.get(projectId) ?? { last: Promise.resolve(), many: 0 }
      if (line.many > mostWaiting) throw new Unavailable('Too many lists of tasks are being counted.')
      const next = line.last.then(() => count(projectId, { contextId, state, changedAfter, chain }, key))
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
