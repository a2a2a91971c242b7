import type { Db } from '../platform/db/db.ts'
import { type Statement, statement } from '../platform/db/statement.ts'
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
  /** How far it is expanded; `done` for a small trigger that its start job has written. */
  cursor: string
}

const overdue = statement(
  'triggers.overdue',
  `select t.project_id, t.id from triggers t join projects p on p.project_id = t.project_id
    where t.wake_at <= $1 and t.state in ('accepted', 'running', 'canceling')
      and (t.state = 'canceling' or p.paused_at is null)
    order by t.wake_at limit 500`,
  { acrossProjects: 'the sweeper finds triggers of all projects whose jobs were lost' }
)
const due = statement(
  'triggers.due',
  `select t.project_id, t.id from triggers t join projects p on p.project_id = t.project_id
    where t.wake_at <= $1 and t.state = 'scheduled' and p.paused_at is null
    order by t.wake_at limit 500`,
  { acrossProjects: 'the sweeper finds scheduled triggers of all projects whose jobs were lost' }
)
const open = statement(
  'triggers.open',
  `select state, count(*)::int as count from triggers where state in ('accepted', 'running', 'canceling')
    group by state`,
  { acrossProjects: 'the operator sees how many triggers of all projects are under way' }
)
// Rows are locked project by project, because a distributed database locks no rows of several projects in one statement.
const postpone = statement(
  'triggers.postpone',
  `with free as (
     select id from triggers where project_id = $1 and id = any($2::uuid[]) and wake_at <= $3
        for no key update skip locked)
   update triggers t set wake_at = $4 from free where t.project_id = $1 and t.id = free.id
   returning t.project_id, t.id, t.begin_job, t.outcome, t.open_chunks, t.cursor`
)
const pastNames = ['triggers', 'targeted', 'sent', 'failed', 'skipped', 'delivered', 'tapped']
// Builds the JSON as text, because Citus refuses jsonb_build_object where a row is changed: it is not IMMUTABLE.
const added = (name: string) => `'"${name}": ' || (coalesce((c.past ->> '${name}')::bigint, 0) + s.${name})::text`
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
        set past = ('{' || ${pastNames.map(added).join(` || ', ' || `)} || '}')::jsonb
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

async function take(db: Db, finding: Statement, nowMs: number): Promise<Overdue[]> {
  const now = new Date(nowMs)
  const found = await db.query<Pick<Overdue, 'project_id' | 'id'>>(finding, [now])
  const taken: Overdue[] = []
  for (const [projectId, triggers] of Map.groupBy(found, ({ project_id }) => project_id))
    taken.push(
      ...(await postponeOf(
        db,
        projectId,
        triggers.map(({ id }) => id),
        now
      ))
    )
  return taken
}

const postponeOf = (db: Db, projectId: ProjectId, ids: string[], now: Date) =>
  db.query<Overdue>(postpone, [projectId, ids, now, new Date(now.getTime() + wakeAfterMs)])

/** Up to 500 overdue triggers of all projects, each returned to one caller until it is overdue again. */
export const takeOverdue = (db: Db, nowMs: number): Promise<Overdue[]> => take(db, overdue, nowMs)

/** Up to 500 scheduled triggers that should have started, each returned to one caller until it is overdue again. */
export const takeDue = (db: Db, nowMs: number): Promise<Overdue[]> => take(db, due, nowMs)

/** The triggers of all projects that are under way, by state. */
export async function countOpen(db: Db): Promise<Record<string, number>> {
  const rows = await db.query<{ state: string; count: number }>(open)
  return {
    accepted: 0,
    running: 0,
    canceling: 0,
    ...Object.fromEntries(rows.map(({ state, count }) => [state, count]))
  }
}

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
