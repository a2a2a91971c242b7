import type { Db } from '../platform/db/db.ts'
import { later, statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { type Bucket, columns, type Journey } from './journey.ts'

const due = statement(
  'journeys.due',
  `select ${columns} from journeys
    where project_id = $1 and campaign_id = $2 and campaign_version = $3 and step = $4 and due_at = $5
      and state = 'waiting' and id > $6 order by id limit $7 for update`
)
const left = statement(
  'journeys.left',
  `update journeys set counted = true
    where project_id = $1 and campaign_id = $2 and campaign_version = $3 and step = $4 and due_at = $5
      and state = 'exited' and not counted
   returning user_id`
)
const advance = statement(
  'journeys.advance',
  `update journeys set step = $3, due_at = $4, first_trigger = coalesce(first_trigger, $5)
    where project_id = $1 and id = any($2::uuid[])`
)
const postpone = statement(
  'journeys.postpone',
  'update journeys set due_at = $3 where project_id = $1 and id = any($2::uuid[])'
)
// Rows are locked in the order of the step that is due (journeys.due).
const postponeOfUsers = statement(
  'journeys.postpone_of_users',
  `update journeys set due_at = $5 where project_id = $1 and id in (
     select id from journeys
      where project_id = $1 and campaign_id = $2 and campaign_version = $3 and step = $4 and user_id = any($6::uuid[])
        and (state = 'waiting' or (state = 'exited' and not counted)) and due_at < $5
      order by id for update)`
)
const postponeLeft = statement(
  'journeys.postpone_left',
  `update journeys set due_at = $6
    where project_id = $1 and campaign_id = $2 and campaign_version = $3 and step = $4 and due_at = $5
      and state = 'exited' and not counted`
)
const end = statement(
  'journeys.end',
  `update journeys set state = $3, reason = $4, ended_at = $5, properties = '{}',
          first_trigger = coalesce(first_trigger, $6),
          keep_until = ${later('greatest(entered_at, $5)', `$7::float8 * interval '1 ms'`)}
    where project_id = $1 and id = any($2::uuid[])`
)
const anonymous = statement(
  'journeys.devices_of_anonymous',
  `select d.user_id, min(d.id) as device_id from users u join devices d on d.project_id = $1 and d.user_id = u.id
    where u.project_id = $1 and u.id = any($2::uuid[]) and u.project_user_id is null
    group by d.user_id having count(*) = 1`
)

export const lockDue = (tx: Db, projectId: ProjectId, bucket: Bucket, after: string, most: number) =>
  tx.query<Journey>(due, [projectId, ...valuesOf(bucket), after, most])

/** The users who left before they were due with the others. Each is returned once. */
export const takeLeft = async (tx: Db, projectId: ProjectId, bucket: Bucket): Promise<string[]> =>
  (await tx.query<{ user_id: string }>(left, [projectId, ...valuesOf(bucket)])).map(({ user_id }) => user_id)

const valuesOf = ({ campaignId, version, step, dueAt }: Bucket) => [campaignId, version, step, dueAt]

export const advanceJourneys = (
  tx: Db,
  projectId: ProjectId,
  ids: string[],
  next: { step: number; dueAt: Date; triggerId: string }
) => tx.run(advance, [projectId, ids, next.step, next.dueAt, next.triggerId])

export const postponeJourneys = (tx: Db, projectId: ProjectId, ids: string[], dueAt: Date) =>
  tx.run(postpone, [projectId, ids, dueAt])

/** Moves users who have left, and whom no trigger has counted, with those whom they would have been due with. */
export const postponeThoseWhoLeft = (tx: Db, projectId: ProjectId, bucket: Bucket, dueAt: Date) =>
  tx.run(postponeLeft, [projectId, ...valuesOf(bucket), dueAt])

/** Moves users who are due earlier to these others. Returns how many. */
export const postponeUsers = (tx: Db, projectId: ProjectId, bucket: Bucket, userIds: string[]) =>
  tx.run(postponeOfUsers, [projectId, ...valuesOf(bucket), userIds])

export const endJourneys = (
  tx: Db,
  projectId: ProjectId,
  ids: string[],
  ended: { state: Journey['state']; reason: string | null; triggerId: string | null; keepMs: number | null },
  at: Date
) => tx.run(end, [projectId, ids, ended.state, ended.reason, at, ended.triggerId, ended.keepMs])

/** The devices of those users who are anonymous. Such a user has one device, and ends when that device gets a named user. */
export const devicesOfAnonymous = async (tx: Db, projectId: ProjectId, userIds: string[]) =>
  new Map(
    (await tx.query<{ user_id: string; device_id: string }>(anonymous, [projectId, userIds])).map(
      ({ user_id, device_id }) => [user_id, device_id]
    )
  )
