import type { Schedule } from '../campaigns/campaigns.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

/** The schedule of an active campaign. */
export interface ScheduleRow {
  schedule: Schedule
  done_until: Date
}

const put = statement(
  'schedules.put',
  `insert into schedules (project_id, campaign_id, schedule, done_until, next_at) values ($1, $2, $3, $4, null)
   on conflict (project_id, campaign_id) do update
      set schedule = excluded.schedule,
          done_until = case when schedules.schedule = excluded.schedule then schedules.done_until
                            else excluded.done_until end
   returning schedule, done_until`
)
const remove = statement('schedules.remove', 'delete from schedules where project_id = $1 and campaign_id = $2')
const lock = statement(
  'schedules.lock',
  'select schedule, done_until from schedules where project_id = $1 and campaign_id = $2 for update'
)
const advance = statement(
  'schedules.advance',
  'update schedules set done_until = $3, next_at = $4 where project_id = $1 and campaign_id = $2'
)
const due = statement(
  'schedules.due',
  `select project_id, campaign_id from schedules
    where next_at <= $1 and project_id not in (select project_id from projects where paused_at is not null)
    order by next_at limit 500`,
  { acrossProjects: 'the sweeper finds schedules of all projects whose jobs were lost' }
)

const dueHere = statement(
  'schedules.due_of_project',
  'select campaign_id from schedules where project_id = $1 and next_at <= $2 order by campaign_id'
)

/** The campaigns of a project whose schedule has an occurrence by this time that was not made. */
export const findDue = async (db: Db, projectId: ProjectId, by: Date): Promise<string[]> =>
  (await db.query<{ campaign_id: string }>(dueHere, [projectId, by])).map(({ campaign_id }) => campaign_id)

/** Keeps the schedule of a campaign. A new one, or a changed one, counts from `at`. */
export const putSchedule = async (tx: Db, projectId: ProjectId, campaignId: string, schedule: Schedule, at: Date) =>
  (await tx.one<ScheduleRow>(put, [projectId, campaignId, JSON.stringify(schedule), at]))!

export const removeSchedule = (tx: Db, projectId: ProjectId, campaignId: string) =>
  tx.run(remove, [projectId, campaignId])

/** Locks a schedule until the end of the transaction: its occurrences are made by one worker at a time. */
export const lockSchedule = (tx: Db, projectId: ProjectId, campaignId: string) =>
  tx.one<ScheduleRow>(lock, [projectId, campaignId])

export const advanceSchedule = (
  tx: Db,
  projectId: ProjectId,
  campaignId: string,
  { doneUntil, nextAt }: { doneUntil: Date; nextAt: Date | null }
) => tx.run(advance, [projectId, campaignId, doneUntil, nextAt])

/** Up to 500 schedules of all projects that are overdue. */
export const findOverdue = (db: Db, before: Date) =>
  db.query<{ project_id: ProjectId; campaign_id: string }>(due, [before])
