import type { Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { recurring } from '../platform/jobs/definition.ts'
import { knownJobs } from '../platform/jobs/jobs.ts'
import { listRetentions } from '../projects/projects.ts'
import { wakeAll } from './accept.ts'
import { type TriggerOutcome, wakeAfterMs } from './store.ts'

const overdue = statement(
  'triggers.overdue',
  `with found as (
     select project_id, id from triggers
      where wake_at <= $1 and state in ('accepted', 'running', 'canceling')
        and (state = 'canceling' or project_id not in (select project_id from projects where paused_at is not null))
      order by wake_at limit 500
        for no key update skip locked)
   update triggers t set wake_at = $2 from found where t.project_id = found.project_id and t.id = found.id
   returning t.project_id, t.id, t.begin_job, t.outcome, t.open_chunks`,
  { acrossProjects: 'the sweeper finds triggers of all projects whose jobs were lost' }
)
// What a trigger counted is added to its campaign when it goes: counters outlive the rows.
const forget = statement(
  'triggers.forget_window',
  `with gone as (
     delete from triggers where project_id = $1 and id in (
       select id from triggers where project_id = $1 and id < $2 and ended_at is not null order by id limit 500)
     returning campaign_id, targeted, sent, failed, skipped, delivered, tapped),
   sums as (
     select campaign_id, count(*) as triggers, sum(targeted) as targeted, sum(sent) as sent, sum(failed) as failed,
            sum(skipped) as skipped, sum(delivered) as delivered, sum(tapped) as tapped
       from gone group by campaign_id),
   kept as (
     update campaigns c
        set past = jsonb_build_object(
              'triggers', coalesce((c.past ->> 'triggers')::bigint, 0) + s.triggers,
              'targeted', coalesce((c.past ->> 'targeted')::bigint, 0) + s.targeted,
              'sent', coalesce((c.past ->> 'sent')::bigint, 0) + s.sent,
              'failed', coalesce((c.past ->> 'failed')::bigint, 0) + s.failed,
              'skipped', coalesce((c.past ->> 'skipped')::bigint, 0) + s.skipped,
              'delivered', coalesce((c.past ->> 'delivered')::bigint, 0) + s.delivered,
              'tapped', coalesce((c.past ->> 'tapped')::bigint, 0) + s.tapped)
       from sums s where c.project_id = $1 and c.id = s.campaign_id)
   select count(*)::int as gone from gone`
)

interface Overdue {
  project_id: ProjectId
  id: string
  begin_job: string | null
  outcome: TriggerOutcome | null
  open_chunks: number
}

/** Otherwise all of it is written as messages, which have an alarm clock of their own. */
const hasWork = ({ outcome, open_chunks }: Overdue) => outcome === null || outcome === 'canceled' || open_chunks > 0

/** The trigger row is the truth and its job only a wake-up: this wakes again what should have ended by now. */
export const sweepTriggersJob = (pool: Pool) =>
  recurring({
    name: 'campaigns.sweep',
    everyMs: 5_000,
    async run() {
      const now = Date.now()
      const found = await pool.query<Overdue>(overdue, [new Date(now), new Date(now + wakeAfterMs)])
      const ofJobs = found.flatMap(({ begin_job }) => begin_job ?? [])
      const waiting = await knownJobs(pool, ofJobs)
      const lost = found.filter((one) => hasWork(one) && !(one.begin_job !== null && waiting.has(one.begin_job)))
      for (const [projectId, triggers] of Map.groupBy(lost, ({ project_id }) => project_id))
        await wakeAll(
          pool,
          projectId,
          triggers.map(({ id }) => id)
        )
    }
  })

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Hourly: triggers go with the messages they sent. */
export const keepTriggersJob = (pool: Pool) =>
  recurring({
    name: 'campaigns.keep',
    everyMs: hourMs,
    async run({ signal }) {
      for (const { projectId, retention } of await listRetentions(pool)) {
        const before = firstIdAt(Date.now() - retention.messages_days * dayMs)
        const window = () => pool.one<{ gone: number }>(forget, [projectId, before])
        while ((await window())!.gone > 0) signal.throwIfAborted()
      }
    }
  })
