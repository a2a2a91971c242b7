import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Platform } from './schemas.ts'
import type { TokenType } from './tokens.ts'

// The endpoints of devices. A token that a gateway reported as dead counts as absent.

/** A device, and its living push token if it has one. */
export interface ReachRow {
  id: string
  user_id: string
  platform: Platform
  push_permission: boolean
  token: string | null
  type: TokenType | null
  environment: 'production' | 'sandbox' | null
  app_identifier: string | null
  registered_at: Date | null
}

export interface ActivityTokenRow {
  device_id: string
  attributes_type: string
  activity_id: string
  token: string
  registered_at: Date
}

/** A token that a gateway called dead, as of a time. */
export interface DeadToken {
  deviceId: string
  token: string
  asOf: Date
}

/** The same with the verdict. */
export type Burial = DeadToken & { reason: string }

/** The most devices of a user that one message goes to. Real users have fewer; the limit caps the damage of a mistake. */
const mostPerUser = 500

const columns = `d.id, d.user_id, d.platform, d.push_permission, d.last_seen_at,
          t.token, t.type, t.environment, t.app_identifier, t.registered_at`
const token = 'left join push_tokens t on t.project_id = $1 and t.device_id = d.id and t.dead_since is null'
const inOrder = 'order by last_seen_at desc, id'
const reachOfUsers = statement(
  'devices.reach_of_users',
  `select of_user.* from unnest($2::uuid[]) as u(id)
    cross join lateral (
      select ${columns} from devices d ${token}
       where d.project_id = $1 and d.user_id = u.id ${inOrder} limit ${mostPerUser}) of_user
    ${inOrder}`
)
const reachOfDevices = statement(
  'devices.reach_of_devices',
  `select ${columns} from devices d ${token} where d.project_id = $1 and d.id = any($2::text[]) ${inOrder}`
)
const activityColumns = 'device_id, attributes_type, activity_id, token, registered_at'
const startTokens = statement(
  'live_activity_tokens.start',
  `select ${activityColumns} from live_activity_tokens
    where project_id = $1 and device_id = any($2::text[]) and activity_id = '' and dead_since is null
      and (attributes_type = any($3::text[]) or attributes_type = '')`
)
// An activity is as old as its first token: iOS changes the token of a running one, and the app registers it again.
const updateTokens = statement(
  'live_activity_tokens.update',
  `select ${activityColumns} from live_activity_tokens
    where project_id = $1 and device_id = any($2::text[]) and activity_id <> '' and dead_since is null
      and attributes_type = any($3::text[])
    order by coalesce(first_registered_at, registered_at) desc, activity_id`
)
const tokensOfActivities = statement(
  'live_activity_tokens.of_activities',
  `select ${activityColumns} from live_activity_tokens
    where project_id = $1 and activity_id = any($2::text[]) and activity_id <> '' and dead_since is null
    order by registered_at desc, device_id`
)
const given = `json_to_recordset($2::json) as g(device_id text, token text, as_of timestamptz, reason text)`
const bury = (table: string) => `
  update ${table} set dead_since = g.as_of, dead_reason = g.reason from ${given}
   where ${table}.project_id = $1 and ${table}.device_id = g.device_id and ${table}.token = g.token
     and ${table}.registered_at < g.as_of and ${table}.dead_since is null`
const buryPushTokens = statement('push_tokens.bury', bury('push_tokens'))
const buryActivityTokens = statement('live_activity_tokens.bury', bury('live_activity_tokens'))
// The time tells that it was this report which disabled the token, and not another one since.
const revive = (table: string) => `
  update ${table} set dead_since = null, dead_reason = null from ${given}
   where ${table}.project_id = $1 and ${table}.device_id = g.device_id and ${table}.token = g.token
     and ${table}.dead_since = g.as_of`
const revivePushTokens = statement('push_tokens.revive', revive('push_tokens'))
const reviveActivityTokens = statement('live_activity_tokens.revive', revive('live_activity_tokens'))

const endActivityTokens = statement(
  'live_activity_tokens.end',
  `update live_activity_tokens set dead_since = $3, dead_reason = 'ENDED'
     from json_to_recordset($2::json) as g(device_id text, type text, id text)
    where live_activity_tokens.project_id = $1 and live_activity_tokens.device_id = g.device_id
      and live_activity_tokens.attributes_type = g.type and live_activity_tokens.activity_id = g.id and g.id <> ''`
)

/** All devices of these users, last seen first, including devices without an endpoint. */
export const findReachOfUsers = (db: Db, projectId: ProjectId, userIds: string[]) =>
  db.query<ReachRow>(reachOfUsers, [projectId, userIds])

/** These devices, last seen first, including those without an endpoint. */
export const findReachOfDevices = (db: Db, projectId: ProjectId, deviceIds: string[]) =>
  db.query<ReachRow>(reachOfDevices, [projectId, deviceIds])

/** The tokens that start activities of these types; a token without a type starts any. */
export const findStartTokens = (db: Db, projectId: ProjectId, deviceIds: string[], types: string[]) =>
  db.query<ActivityTokenRow>(startTokens, [projectId, deviceIds, types])

/** The tokens of running activities of these types, the newest first. */
export const findUpdateTokens = (db: Db, projectId: ProjectId, deviceIds: string[], types: string[]) =>
  db.query<ActivityTokenRow>(updateTokens, [projectId, deviceIds, types])

export const findTokensOfActivities = (db: Db, projectId: ProjectId, activityIds: string[]) =>
  db.query<ActivityTokenRow>(tokensOfActivities, [projectId, activityIds])

const rowsOf = (dead: (DeadToken & Partial<Burial>)[]) =>
  JSON.stringify(dead.map(({ deviceId, token, asOf, reason }) => ({ device_id: deviceId, token, as_of: asOf, reason })))

/** Disables tokens, unless the app has registered them since. */
export const buryTokens = (db: Db, projectId: ProjectId, dead: Burial[]) =>
  db.run(buryPushTokens, [projectId, rowsOf(dead)])

export const buryActivities = (db: Db, projectId: ProjectId, dead: Burial[]) =>
  db.run(buryActivityTokens, [projectId, rowsOf(dead)])

/** Enables tokens that these reports disabled. */
export async function reviveTokens(db: Db, projectId: ProjectId, dead: DeadToken[]): Promise<void> {
  const rows = rowsOf(dead)
  await db.run(revivePushTokens, [projectId, rows])
  await db.run(reviveActivityTokens, [projectId, rows])
}

/** An activity on a device, as the app named it. */
export interface EndedActivity {
  deviceId: string
  type: string
  id: string
}

/**
 * Disables the update tokens of ended activities, whatever their present value: iOS changes the token of a running
 * activity, and no token of an ended one reaches anything. The rows stay, because the simulated inbox uses them to find
 * the device of an end.
 */
export const endActivities = (db: Db, projectId: ProjectId, ended: EndedActivity[], at: Date) =>
  db.run(endActivityTokens, [
    projectId,
    JSON.stringify(ended.map(({ deviceId, type, id }) => ({ device_id: deviceId, type, id }))),
    at
  ])
