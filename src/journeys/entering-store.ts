import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { columns, type Journey } from './journey.ts'

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
const waitingVersions = statement(
  'journeys.waiting_versions',
  `select distinct campaign_id, campaign_version from journeys
    where project_id = $1 and user_id = any($2::uuid[]) and state = 'waiting'`
)
const waiting = statement(
  'journeys.waiting_of_users',
  `select ${columns} from journeys where project_id = $1 and user_id = any($2::uuid[]) and state = 'waiting'
      and (campaign_id, campaign_version) in (select * from unnest($3::text[], $4::int[]))
    order by id for update`
)
// A journey that ended before its first message does not count: the user got nothing. A user who is in the steps may have
// entered them before a journey that has ended: by another device, or by an event that arrived late.
const latest = statement(
  'journeys.latest',
  `select distinct on (campaign_id, user_id) ${columns} from journeys
    where project_id = $1 and user_id = any($2::uuid[]) and campaign_id = any($3::text[])
      and (state not in ('stopped', 'exited') or first_trigger is not null)
    order by campaign_id, user_id, (sequence and state = 'waiting' and campaign_id = any($4::text[])) desc,
             entered_at desc, id desc`
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
const underWay = statement(
  'journeys.under_way',
  `select user_id from journeys
    where project_id = $1 and campaign_id = $2 and user_id = any($3::uuid[]) and sequence and state = 'waiting'
      and first_trigger is distinct from $4::uuid`
)

/** Lets one worker at a time decide which users of a project may enter again. */
export const lockEntering = (tx: Db, projectId: ProjectId) => tx.query(lockProject, [projectId])

/** Active campaigns that may react to events of these names. */
export const interestedCampaigns = (tx: Db, projectId: ProjectId, names: string[]) =>
  tx.query<{ id: string; version: number }>(interested, [projectId, names])

/** The versions of campaigns in which these users wait. */
export const versionsWaitedFor = (tx: Db, projectId: ProjectId, userIds: string[]) =>
  tx.query<Pick<Journey, 'campaign_id' | 'campaign_version'>>(waitingVersions, [projectId, userIds])

/** Only journeys of these versions: a user may wait for thousands of messages that no event stops. */
export const lockWaiting = (
  tx: Db,
  projectId: ProjectId,
  userIds: string[],
  versions: { campaignId: string; version: number }[]
) =>
  tx.query<Journey>(waiting, [
    projectId,
    userIds,
    versions.map(({ campaignId }) => campaignId),
    versions.map(({ version }) => version)
  ])

/** `withSteps`: those of the campaigns that a user is in once at a time, so that a journey under way counts first. */
export const latestJourneys = (
  tx: Db,
  projectId: ProjectId,
  userIds: string[],
  campaignIds: string[],
  withSteps: string[]
) => tx.query<Journey>(latest, [projectId, userIds, campaignIds, withSteps])

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
