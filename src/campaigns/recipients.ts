import type { reach } from '../devices/devices.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Recipient } from '../templates/rendering.ts'

/** A recipient with its living push token, if it has one. */
export type Reachable = Recipient & Omit<reach.ReachRow, 'id' | 'user_id'>

// Two apps that register at once may leave a device with two tokens: the newer one counts.
const load = statement(
  'campaigns.recipients',
  `select distinct on (d.id) d.id as device_id, d.user_id, u.project_user_id, u.properties, d.platform, d.facts,
          d.push_permission, t.token, t.type, t.environment, t.app_identifier, t.registered_at
     from devices d
     join users u on u.project_id = $1 and u.id = d.user_id
     left join push_tokens t on t.project_id = $1 and t.device_id = d.id and t.dead_since is null
    where d.project_id = $1 and d.id = any($2::text[]) order by d.id, t.registered_at desc nulls last`
)
// How many triggers of a campaign each user got something of. What failed was not got.
const received = statement(
  'campaigns.received',
  `select m.user_id, count(distinct m.trigger_id)::int as triggers from messages m
    where m.project_id = $1 and m.user_id = any($2::uuid[]) and m.trigger_id >= $3 and m.trigger_id <> $4
      and m.campaign_id = $5 and m.state in ('queued', 'handed', 'unknown', 'accepted')
    group by m.user_id`
)

/** Devices with their users, as templates and rules see them; in order, and without those that are gone. */
export const loadRecipients = (db: Db, projectId: ProjectId, deviceIds: string[]) =>
  db.query<Reachable>(load, [projectId, deviceIds])

/** By user: how many other triggers of the campaign reached them since an id of that time. */
export async function countReceived(
  tx: Db,
  projectId: ProjectId,
  { campaignId, triggerId, since }: { campaignId: string; triggerId: string; since: string },
  userIds: string[]
): Promise<Map<string, number>> {
  const values = [projectId, userIds, since, triggerId, campaignId]
  const rows = await tx.query<{ user_id: string; triggers: number }>(received, values)
  return new Map(rows.map(({ user_id, triggers }) => [user_id, triggers]))
}
