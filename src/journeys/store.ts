import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { later, statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

/** A user on the way through a campaign. */
export interface Journey {
  id: string
  campaign_id: string
  campaign_version: number
  user_id: string
  source: Source
  properties: Record<string, unknown>
  inherits: boolean
  sequence: boolean
  entered_at: Date
  step: number
  due_at: Date
  first_trigger: string | null
  state: 'waiting' | 'completed' | 'exited' | 'stopped'
  reason: string | null
}

/** What a journey began with. */
export type Source = { kind: 'event'; event: string; event_id: string } | { kind: 'trigger'; trigger_id: string }

/** Users who are due together. */
export interface Bucket {
  campaignId: string
  version: number
  step: number
  dueAt: Date
}

const columns = `id, campaign_id, campaign_version, user_id, source, properties, inherits, sequence, entered_at, step, due_at,
          first_trigger, state, reason`

const lockProject = statement(
  'journeys.lock_project',
  'select project_id from projects where project_id = $1 for no key update'
)
const interested = statement(
  'journeys.interested',
  `select c.id, c.version from campaigns c
    where c.project_id = $1 and c.status = 'active' and c.type = 'event_triggered' and c.id in (
      select w.campaign_id from wanted_events w where w.project_id = $1 and w.name = any($2::text[]) and w.until is null)`
)
const waiting = statement(
  'journeys.waiting_of_users',
  `select ${columns} from journeys where project_id = $1 and user_id = any($2::uuid[]) and state = 'waiting'
    order by id for update`
)
// A journey that stopped before its first message does not count: the user got nothing.
const latest = statement(
  'journeys.latest',
  `select distinct on (campaign_id, user_id) ${columns} from journeys
    where project_id = $1 and user_id = any($2::uuid[]) and campaign_id = any($3::text[])
      and (state <> 'stopped' or first_trigger is not null)
    order by campaign_id, user_id, entered_at desc, id desc`
)
const insert = statement(
  'journeys.insert',
  `insert into journeys (project_id, id, campaign_id, campaign_version, user_id, source, properties, inherits, sequence,
     entered_at, step, due_at, first_trigger, state, reason, ended_at, counted, again, keep_until)
   select u.project_id, g.id, g.campaign_id, g.campaign_version, g.user_id, g.source, g.properties, g.inherits, g.sequence,
          g.entered_at, g.step, g.due_at, g.first_trigger, g.state, g.reason,
          case when g.state <> 'waiting' then $3::timestamptz end, false, 0,
          case when g.state <> 'waiting' then g.keep_until end
     from json_to_recordset($2::json) as g(id uuid, campaign_id text, campaign_version int, user_id uuid, source jsonb,
       properties jsonb, inherits boolean, sequence boolean, entered_at timestamptz, step int, due_at timestamptz,
       first_trigger uuid, state text, reason text, keep_until timestamptz)
     join users u on u.project_id = $1 and u.id = g.user_id
   on conflict do nothing
   returning id`
)
const again = statement(
  'journeys.again',
  `update journeys j set again = j.again + g.times, again_at = $3
     from json_to_recordset($2::json) as g(id uuid, times int) where j.project_id = $1 and j.id = g.id`
)
const exit = statement(
  'journeys.exit',
  `update journeys j set state = 'exited', reason = g.reason, ended_at = $3, properties = '{}', keep_until = g.keep_until
     from json_to_recordset($2::json) as g(id uuid, reason text, keep_until timestamptz)
    where j.project_id = $1 and j.id = g.id and j.state = 'waiting'`
)
const underWay = statement(
  'journeys.under_way',
  `select user_id from journeys
    where project_id = $1 and campaign_id = $2 and user_id = any($3::uuid[]) and sequence and state = 'waiting'
      and first_trigger is distinct from $4::uuid`
)
// A trigger of a later step was made for users who were in the steps already.
const ofTrigger = statement(
  'journeys.of_trigger',
  `select distinct on (user_id) user_id, state, entered_at from journeys
    where project_id = $1 and campaign_id = $2 and user_id = any($5::uuid[]) and campaign_version = $6
      and (first_trigger = $3 or ($7 and entered_at <= $4))
    order by user_id, entered_at desc, id desc`
)
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
/** The events of one user that are read at once. */
export const eventsAtOnce = 20
const laterEvents = statement(
  'journeys.later_events',
  `select e.id, e.user_id, e.name, e.at, e.properties from unnest($2::uuid[], $3::timestamptz[], $5::uuid[]) as g(user_id, since, after)
     cross join lateral (
       select * from events e where e.project_id = $1 and e.user_id = g.user_id and e.at >= g.since
          and (e.at, e.id) > (g.since, g.after) and e.name = any($4::text[]) order by e.at, e.id limit ${eventsAtOnce}) e`
)
const anonymous = statement(
  'journeys.devices_of_anonymous',
  `select d.user_id, min(d.id) as device_id from users u join devices d on d.project_id = $1 and d.user_id = u.id
    where u.project_id = $1 and u.id = any($2::uuid[]) and u.project_user_id is null
    group by d.user_id having count(*) = 1`
)

/** Lets one worker at a time decide which users of a project may enter again. */
export const lockEntering = (tx: Db, projectId: ProjectId) => tx.query(lockProject, [projectId])

/** Active campaigns that may react to events of these names. */
export const interestedCampaigns = (tx: Db, projectId: ProjectId, names: string[]) =>
  tx.query<{ id: string; version: number }>(interested, [projectId, names])

export const lockWaiting = (tx: Db, projectId: ProjectId, userIds: string[]) =>
  tx.query<Journey>(waiting, [projectId, userIds])

export const latestJourneys = (tx: Db, projectId: ProjectId, userIds: string[], campaignIds: string[]) =>
  tx.query<Journey>(latest, [projectId, userIds, campaignIds])

/** Returns the ids of the journeys that began. Others exist already, or their user is in the same steps. */
export async function insertJourneys(
  tx: Db,
  projectId: ProjectId,
  journeys: (Journey & { keep_until?: Date | null })[],
  at: Date
): Promise<Set<string>> {
  if (journeys.length === 0) return new Set()
  const rows = await tx.query<{ id: string }>(insert, [projectId, JSON.stringify(journeys), at])
  return new Set(rows.map(({ id }) => id))
}

export const countAgain = (tx: Db, projectId: ProjectId, times: Map<string, number>, at: Date) =>
  tx.run(again, [projectId, JSON.stringify([...times].map(([id, n]) => ({ id, times: n }))), at])

export const exitJourneys = (
  tx: Db,
  projectId: ProjectId,
  exits: { id: string; reason: string; keep_until: Date | null }[],
  at: Date
) => tx.run(exit, [projectId, JSON.stringify(exits), at])

/** The users who are in the steps of a campaign, by another trigger than this one. */
export const usersUnderWay = async (
  db: Db,
  projectId: ProjectId,
  campaignId: string,
  userIds: string[],
  notBy: string
): Promise<ReadonlySet<string>> => {
  const rows = await db.query<{ user_id: string }>(underWay, [projectId, campaignId, userIds, notBy])
  return new Set(rows.map(({ user_id }) => user_id))
}

/** The journeys to which a trigger belongs, one for each of these users. */
interface TriggerOfJourneys {
  id: string
  campaign_id: string
  campaign_version: number
  /** The users of a `step` had entered before. */
  origin: string
  started_at: Date
}

export const journeysOfTrigger = (
  db: Db,
  projectId: ProjectId,
  { id, campaign_id, campaign_version, origin, started_at }: TriggerOfJourneys,
  userIds: string[]
) =>
  db.query<Pick<Journey, 'user_id' | 'state' | 'entered_at'>>(ofTrigger, [
    ...[projectId, campaign_id, id, started_at, userIds],
    ...[campaign_version, origin === 'step']
  ])

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

/** Later than any journey is due. */
export const endOfTime = new Date('9999-12-31')

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

interface SinceThen {
  userId: string
  since: Date
  /** The last event of that time that does not count. */
  after?: string
}
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Events of users after a time: an event that arrives late may have been followed by another that came before it. */
export const eventsSince = (tx: Db, projectId: ProjectId, users: SinceThen[], names: string[]) =>
  tx.query<{ id: string; user_id: string; name: string; at: Date; properties: Record<string, unknown> }>(laterEvents, [
    projectId,
    users.map(({ userId }) => userId),
    users.map(({ since }) => since),
    names,
    users.map(({ after = lastId }) => after)
  ])

/** The devices of those users who are anonymous. Such a user has one device, and ends when that device gets a named user. */
export const devicesOfAnonymous = async (tx: Db, projectId: ProjectId, userIds: string[]) =>
  new Map(
    (await tx.query<{ user_id: string; device_id: string }>(anonymous, [projectId, userIds])).map(
      ({ user_id, device_id }) => [user_id, device_id]
    )
  )
