import { createHash } from 'node:crypto'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { hashOfToken, nameOfToken, type TokenInput, type TokenType } from './tokens.ts'

// The key of a row is the token: if another device registers the token, the row moves to that device.
const register = statement(
  'push_tokens.register',
  `insert into push_tokens (project_id, hash, device_id, token, type, environment, app_identifier, registered_at)
   select p.project_id, decode(t.hash, 'hex'), t.device_id, t.token, t.type, t.environment, t.app_identifier, $3
     from projects p
    cross join json_to_recordset($2::json)
       as t(hash text, device_id text, token text, type text, environment text, app_identifier text)
    where p.project_id = $1
   on conflict (project_id, hash) do update
      set device_id = excluded.device_id, token = excluded.token, environment = excluded.environment,
          app_identifier = excluded.app_identifier, registered_at = excluded.registered_at,
          dead_since = null, dead_reason = null`
)
const retire = statement(
  'push_tokens.retire',
  `delete from push_tokens
    where project_id = $1 and device_id = any($2::text[])
      and not (encode(hash, 'hex') = any($3::text[]))`
)
const registerActivity = statement(
  'live_activity_tokens.register',
  `insert into live_activity_tokens
     (project_id, device_id, attributes_type, activity_id, token, registered_at, first_registered_at)
   select d.project_id, d.id, $3, $4, $5, $6, $6 from devices d where d.project_id = $1 and d.id = $2
   on conflict (project_id, device_id, attributes_type, activity_id) do update
      set token = excluded.token, registered_at = excluded.registered_at,
          first_registered_at = coalesce(live_activity_tokens.first_registered_at, live_activity_tokens.registered_at),
          dead_since = null, dead_reason = null`
)
// As with push tokens: a token that an app registers under another device id must no longer reach the previous person.
const moveActivity = statement(
  'live_activity_tokens.move',
  'delete from live_activity_tokens where project_id = $1 and md5(token) = md5($3) and token = $3 and device_id <> $2'
)
// Activities end within half a day without notice; a phone can have far fewer than this at once. Start tokens are counted
// apart, because an app registers one once and many activities after it.
const keptPerDevice = 100
const trimActivities = statement(
  'live_activity_tokens.trim',
  `delete from live_activity_tokens
    where project_id = $1 and device_id = $2 and (attributes_type, activity_id) in (
      select attributes_type, activity_id from live_activity_tokens
       where project_id = $1 and device_id = $2 and (activity_id = '') = $3
       order by dead_since is not null, registered_at desc offset ${keptPerDevice})`
)
const ofDevice = statement(
  'push_tokens.of_device',
  `select type, token from push_tokens where project_id = $1 and device_id = $2
   union all
   select 'APNS', token from live_activity_tokens where project_id = $1 and device_id = $2`
)
const byHash = statement(
  'push_tokens.devices',
  `select encode(hash, 'hex') as hash, device_id from push_tokens
    where project_id = $1 and hash in (select decode(one, 'hex') from unnest($2::text[]) as one)`
)
const byActivity = statement(
  'live_activity_tokens.devices',
  'select md5(token) as hash, device_id from live_activity_tokens where project_id = $1 and md5(token) = any($2::text[])'
)

/**
 * The devices of these tokens, each given as `<type>:<token, or endpoint>`. Tokens of Live Activities count as APNs
 * tokens.
 */
export async function devicesOfTokens(db: Db, projectId: ProjectId, names: string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  async function look(hashes: Map<string, string>, statement: typeof byHash): Promise<void> {
    if (hashes.size === 0) return
    const rows = await db.query<{ hash: string; device_id: string }>(statement, [projectId, [...hashes.keys()]])
    for (const { hash, device_id } of rows) found.set(hashes.get(hash)!, device_id)
  }
  await look(new Map(names.map((name) => [hashOfToken(name), name])), byHash)
  const left = names.filter((name) => name.startsWith('APNS:') && !found.has(name))
  await look(new Map(left.map((name) => [md5(name.slice('APNS:'.length)), name])), byActivity)
  return found
}

/** All tokens of a device, each as `<type>:<token, or endpoint>`; those of its Live Activities too. */
export const tokensOfDevice = async (db: Db, projectId: ProjectId, deviceId: string): Promise<string[]> =>
  (await db.query<{ type: TokenType; token: string }>(ofDevice, [projectId, deviceId])).map(nameOfToken)

const md5 = (text: string) => createHash('md5').update(text).digest('hex')

/**
 * Stores the token that each device reported; null: the device no longer has one. `known`: those of the devices that may
 * have another token, if the others are new.
 */
export async function setTokens(
  db: Db,
  projectId: ProjectId,
  said: Map<string, TokenInput | null>,
  at: Date,
  known: string[] = [...said.keys()]
) {
  if (said.size === 0) return
  // If two devices of a batch report the same token, the later one gets it.
  const byHash = new Map<string, object>()
  for (const [deviceId, token] of said) {
    if (!token) continue
    const { hash, appIdentifier, ...rest } = token
    byHash.set(hash, { ...rest, hash, device_id: deviceId, app_identifier: appIdentifier })
  }
  const hashes = [...byHash.keys()].sort()
  if (hashes.length > 0) {
    const rows = hashes.map((hash) => byHash.get(hash))
    await db.run(register, [projectId, JSON.stringify(rows), at])
  }
  if (known.length > 0) await db.run(retire, [projectId, known, hashes])
}

export interface ActivityToken {
  attributesType: string
  /** Empty for a token that starts activities. */
  activityId: string
  token: string
}

/** False if the device does not exist. */
export async function registerActivityToken(
  db: Db,
  projectId: ProjectId,
  deviceId: string,
  { attributesType, activityId, token }: ActivityToken,
  at: Date
): Promise<boolean> {
  const stored = await db.run(registerActivity, [projectId, deviceId, attributesType, activityId, token, at])
  if (stored > 0) {
    await db.run(moveActivity, [projectId, deviceId, token])
    await db.run(trimActivities, [projectId, deviceId, activityId === ''])
  }
  return stored > 0
}
