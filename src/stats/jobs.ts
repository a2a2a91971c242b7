import type { Pool } from '../platform/db/db.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { listRetentions } from '../projects/projects.ts'
import { dayMs, hourMs } from './period.ts'
import { foldSlots, sweepStats } from './store.ts'

/** Hours that are over, also for transactions that began in them. */
const foldedAfterMs = 2 * hourMs
/** Longer than the longest period that can be read. */
const keptMs = 402 * dayMs

/** Runs hourly: folds the slots of past hours into one row each, and deletes what can no longer be read. */
export const keepStatsJob = (pool: Pool) =>
  recurring({
    name: 'stats.keep',
    everyMs: hourMs,
    async run({ signal }) {
      const agoOf = (ms: number) => new Date(Date.now() - ms)
      for (const { projectId } of await listRetentions(pool)) {
        while ((await foldSlots(pool, projectId, agoOf(foldedAfterMs))) > 0) signal.throwIfAborted()
        while ((await sweepStats(pool, projectId, agoOf(keptMs))) > 0) signal.throwIfAborted()
      }
    }
  })
