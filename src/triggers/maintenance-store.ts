import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import type { TriggerState } from './schemas.ts'
import { type TriggerOutcome, wakeAfterMs } from './store.ts'

/** Triggers that a resume reads at once. */
export const resumedTogether = 1_000

/** A trigger that should have ended by now. */
export interface Overdue {
  project_id: ProjectId
  id: string
  begin_job: string | null
  outcome: TriggerOutcome | null
  open_chunks: number
}

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
const due = statement(
  'triggers.due',
  `with found as (
     select project_id, id from triggers
      where wake_at <= $1 and state = 'scheduled'
        and project_id not in (select project_id from projects where paused_at is not null)
      order by wake_at limit 500
        for no key update skip locked)
   update triggers t set wake_at = $2 from found where t.project_id = found.project_id and t.id = found.id
   returning t.project_id, t.id`,
  { acrossProjects: 'the sweeper finds scheduled triggers of all projects whose jobs were lost' }
)
// The counters of deleted triggers are added to their campaign, which keeps its totals.
const forget = statement(
  'triggers.forget_window',
  `with gone as (
     delete from triggers where project_id = $1 and id in (
       select id from triggers
        where project_id = $1 and id < $2 and ended_at is not null and (started_at is null or started_at < $3)
        order by id limit 500)
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
const waiting = statement(
  'triggers.waiting',
  `select id from triggers where project_id = $1 and state = $2 and id > $3 order by id limit ${resumedTogether}`
)
const setStartJob = statement(
  'triggers.begin_again',
  'update triggers set begin_job = $3, wake_at = $4 where project_id = $1 and id = any($2::uuid[])'
)

/** Up to 500 overdue triggers of all projects, each returned to one caller until it is overdue again. */
export const takeOverdue = (db: Db, nowMs: number): Promise<Overdue[]> =>
  db.query<Overdue>(overdue, [new Date(nowMs), new Date(nowMs + wakeAfterMs)])

/** Up to 500 scheduled triggers that should have started, each returned to one caller until it is overdue again. */
export const takeDue = (db: Db, nowMs: number) =>
  db.query<Pick<Overdue, 'project_id' | 'id'>>(due, [new Date(nowMs), new Date(nowMs + wakeAfterMs)])

/** Deletes up to 500 triggers that ended and started before a time. Returns how many. */
export const deleteEnded = async (db: Db, projectId: ProjectId, beforeMs: number): Promise<number> =>
  (await db.one<{ gone: number }>(forget, [projectId, firstIdAt(beforeMs), new Date(beforeMs)]))!.gone

/** The next triggers in a state, by id. */
export const listInState = async (
  db: Db,
  projectId: ProjectId,
  state: TriggerState,
  after: string
): Promise<string[]> => (await db.query<{ id: string }>(waiting, [projectId, state, after])).map(({ id }) => id)

/** Records the job that starts these triggers, so that the sweeper leaves them to it. */
export const assignStartJob = (tx: Db, projectId: ProjectId, triggerIds: string[], jobId: string): Promise<number> =>
  tx.run(setStartJob, [projectId, triggerIds, jobId, new Date(Date.now() + wakeAfterMs)])
