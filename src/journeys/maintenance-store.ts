import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Bucket } from './journey.ts'

const overdue = statement(
  'journeys.overdue',
  `select distinct project_id, campaign_id, campaign_version, step, due_at from (
     select project_id, campaign_id, campaign_version, step, due_at from journeys
      where state = 'waiting' and due_at < $1
        and project_id not in (select project_id from projects where paused_at is not null)
      order by due_at limit 20000) late limit 1000`,
  { acrossProjects: 'the sweeper finds users who are due without a job' }
)
const overdueHere = statement(
  'journeys.overdue_of_project',
  `select distinct campaign_id, campaign_version, step, due_at from journeys
    where project_id = $1 and state = 'waiting' and due_at <= $2 limit 10000`
)
const countWaiting = statement(
  'journeys.count_waiting',
  `select count(*) filter (where due_at <= $2)::int as due, count(*) filter (where due_at > $2)::int as later
     from journeys where project_id = $1 and state = 'waiting'`
)
const release = statement(
  'journeys.release_double',
  `update journeys j set state = 'stopped', reason = 'merged', ended_at = $4, properties = '{}', keep_until = $4
    where j.project_id = $1 and j.user_id = $2 and j.sequence and j.state = 'waiting' and exists (
      select 1 from journeys o where o.project_id = $1 and o.user_id = $3 and o.campaign_id = j.campaign_id and o.sequence
         and o.state = 'waiting')`
)
const move = statement('journeys.move', 'update journeys set user_id = $3 where project_id = $1 and user_id = $2')
const sweep = statement(
  'journeys.sweep_window',
  `delete from journeys where project_id = $1 and id in (
     select id from journeys where project_id = $1 and keep_until <= $2 limit 5000)`
)
const erase = statement(
  'journeys.erase_window',
  `delete from journeys where project_id = $1 and id in (select id from journeys where project_id = $1 limit 5000)`
)

interface BucketRow {
  campaign_id: string
  campaign_version: number
  step: number
  due_at: Date
}
const toBucket = ({ campaign_id, campaign_version, step, due_at }: BucketRow): Bucket => ({
  campaignId: campaign_id,
  version: campaign_version,
  step,
  dueAt: due_at
})

export const overdueBuckets = async (db: Db, before: Date): Promise<(Bucket & { projectId: ProjectId })[]> =>
  (await db.query<BucketRow & { project_id: ProjectId }>(overdue, [before])).map((row) => ({
    ...toBucket(row),
    projectId: row.project_id
  }))

export const overdueOfProject = async (db: Db, projectId: ProjectId, at: Date): Promise<Bucket[]> =>
  (await db.query<BucketRow>(overdueHere, [projectId, at])).map(toBucket)

export const countWaitingJourneys = async (
  db: Db,
  projectId: ProjectId,
  { dueBy }: Pick<DiscardScope, 'dueBy'>
): Promise<{ due: number; later: number }> =>
  (await db.one<{ due: number; later: number }>(countWaiting, [projectId, dueBy]))!

/** Moves the journeys of one user to another. Of two in the same steps, the one of the other user goes on. */
export async function moveJourneys(tx: Db, projectId: ProjectId, fromUserId: string, toUserId: string): Promise<void> {
  await tx.run(release, [projectId, fromUserId, toUserId, new Date()])
  await tx.run(move, [projectId, fromUserId, toUserId])
}

export const sweepJourneyWindow = (db: Db, projectId: ProjectId, at: Date) => db.run(sweep, [projectId, at])

export const eraseJourneyWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
