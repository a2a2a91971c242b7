import type { Messages } from '../messages/messages.ts'
import type { Pool } from '../platform/db/db.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { knownJobs } from '../platform/jobs/jobs.ts'
import { listRetentions } from '../projects/projects.ts'
import { deleteEnded, type Overdue, takeDue, takeOverdue } from './maintenance-store.ts'
import { releaseNow } from './scheduled/release.ts'
import { wakeAll } from './wake.ts'

const idsOf = (triggers: Overdue[]) => triggers.map(({ id }) => id)

/** False if all that is left are messages, which are retried without their trigger. */
const hasWork = ({ outcome, open_chunks }: Overdue) => outcome === null || outcome === 'canceled' || open_chunks > 0

/** Whether its start job gives its messages their time, as soon as the job ends. */
const isSmall = ({ cursor, outcome }: Overdue) => cursor === 'done' && outcome === 'completed'

/**
 * Wakes triggers that should have ended by now, and gives messages of small ones a time. Only the trigger row counts: its job
 * may be lost, or a node of an older version may have ended it.
 */
export const sweepTriggersJob = (pool: Pool, messages: Pick<Messages, 'releaseOf'>) =>
  recurring({
    name: 'campaigns.sweep',
    everyMs: 5_000,
    async run() {
      const found = await takeOverdue(pool, Date.now())
      const startJobs = found.flatMap(({ begin_job }) => begin_job ?? [])
      const waiting = await knownJobs(pool, startJobs)
      const lost = found.filter(({ begin_job }) => begin_job === null || !waiting.has(begin_job))
      for (const [projectId, triggers] of Map.groupBy(lost, ({ project_id }) => project_id)) {
        await wakeAll(pool, projectId, idsOf(triggers.filter(hasWork)))
        const small = idsOf(triggers.filter(isSmall))
        if (small.length > 0) await messages.releaseOf(projectId, small)
      }
      for (const [projectId, triggers] of Map.groupBy(await takeDue(pool, Date.now()), ({ project_id }) => project_id))
        await releaseNow(
          pool,
          projectId,
          triggers.map(({ id }) => id)
        )
    }
  })

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Deletes triggers when the retention of their messages is over. */
export const keepTriggersJob = (pool: Pool) =>
  recurring({
    name: 'campaigns.keep',
    everyMs: hourMs,
    async run({ signal }) {
      for (const { projectId, retention } of await listRetentions(pool)) {
        const before = Date.now() - retention.messages_days * dayMs
        while ((await deleteEnded(pool, projectId, before)) > 0) signal.throwIfAborted()
      }
    }
  })
