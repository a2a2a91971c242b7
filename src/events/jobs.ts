import type { Pool } from '../platform/db/db.ts'
import { byTime, dropPartitions, makePartitions } from '../platform/db/partitions.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { listRetentions } from '../projects/projects.ts'
import { rememberedMs, sweepReceiptWindow } from './receipt-store.ts'
import { sweepEventWindow } from './store.ts'
import { sweepWanted } from './wanted-store.ts'

export const eventMonths = byTime('events')

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * Runs hourly: creates the partitions of coming months and deletes expired events, a whole month at once if no project
 * keeps it.
 */
export const keepEventsJob = (pool: Pool) =>
  recurring({
    name: 'events.keep',
    everyMs: hourMs,
    async run({ signal }) {
      await makePartitions(pool, eventMonths, new Date())
      const kept = await listRetentions(pool)
      const agoOf = (days: number) => new Date(Date.now() - days * dayMs)
      // Dropping a month costs nothing, so it comes first; single deletes remain for months that some project keeps.
      const longest = kept.reduce((most, { retention }) => Math.max(most, retention.events_days), 0)
      if (longest > 0) await dropPartitions(pool, eventMonths, agoOf(longest))
      for (const { projectId, retention } of kept) {
        const before = agoOf(retention.events_days)
        while ((await sweepEventWindow(pool, projectId, before)) > 0) signal.throwIfAborted()
        const forgotten = new Date(Date.now() - rememberedMs)
        while ((await sweepReceiptWindow(pool, projectId, forgotten)) > 0) signal.throwIfAborted()
        await sweepWanted(pool, projectId, new Date())
      }
    }
  })
