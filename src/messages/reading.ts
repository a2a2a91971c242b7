import type { Db, Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { Refusal } from '../platform/errors.ts'
import { decodeCursor, encodeCursor } from '../platform/http/paging.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { identity } from '../users/users.ts'
import { type MessageRow, openStates } from './message.ts'
import { deviceResult, resultOf, shownResult } from './results.ts'
import { columns, findByMessageId } from './store.ts'

export interface MessageFilter {
  projectUserId: string | undefined
  deviceId: string | undefined
  triggerId: string | undefined
  campaignId: string | undefined
  status: 'SUCCEED' | 'FAILED' | 'PENDING' | undefined
  cursor: string | undefined
  limit: number
}

/** Messages looked at for one page that is filtered: bounded, whatever the size of the project. */
const filteredWindow = 2_000

// A key window: the next messages by what has an index, the rest of the filter inside. The last row of the window comes
// along whether it is a hit or not: the next page goes on there.
const windowOf = (narrowed: string) => `
  select * from (
    select ${columns}, ($5::text is null or campaign_id = $5)
           and ($6::text is null
                or ($6 = 'PENDING' and state in ${openStates}) or ($6 = 'SUCCEED' and state = 'accepted')
                or ($6 = 'FAILED' and state in ('failed', 'skipped')))
           and ($7::text is null or device_id = $7) as hit,
           row_number() over (order by trigger_id desc, device_id desc)::int as rank, count(*) over ()::int as seen
      from (select ${columns} from messages
             where project_id = $1 ${narrowed} and ($2::uuid is null or (trigger_id, device_id) < ($2, $3::text))
             order by trigger_id desc, device_id desc limit $4) newest) w
   where w.hit or w.rank = w.seen order by w.rank`
const newest = statement('messages.newest', windowOf(''))
const newestOfUser = statement('messages.newest_of_user', windowOf('and user_id = $8::uuid'))
const newestOfTrigger = statement('messages.newest_of_trigger', windowOf('and trigger_id = $8::uuid'))
const newestOfDevice = statement('messages.newest_of_device', windowOf('and device_id = $8'))

type Windowed = MessageRow & { hit: boolean; seen: number }

/** The narrowest index there is for the filter. A user who does not exist has no messages. */
async function find(db: Db, projectId: ProjectId, filter: MessageFilter, window: number): Promise<Windowed[]> {
  const { triggerId, projectUserId, deviceId, campaignId, status } = filter
  const after = filter.cursor === undefined ? undefined : cursorParts(filter.cursor)
  const values = [projectId, after?.[0] ?? null, after?.[1] ?? null, window, campaignId ?? null, status ?? null]
  if (projectUserId !== undefined) {
    const userId = (await identity.idsOf(db, projectId, [projectUserId])).get(projectUserId)
    if (userId === undefined) return []
    const rows = await db.query<Windowed>(newestOfUser, [...values, deviceId ?? null, userId])
    return triggerId === undefined
      ? rows
      : rows.map((row) => ({ ...row, hit: row.hit && row.trigger_id === triggerId }))
  }
  if (triggerId !== undefined) {
    if (!isUuid(triggerId)) return []
    return db.query<Windowed>(newestOfTrigger, [...values, deviceId ?? null, triggerId])
  }
  if (deviceId !== undefined) return db.query<Windowed>(newestOfDevice, [...values, null, deviceId])
  return db.query<Windowed>(newest, [...values, null])
}

function cursorParts(cursor: string): [string, string] {
  const [triggerId, deviceId] = decodeCursor(cursor, 2)
  // A cursor is ours or it is refused: what is not an id must not reach the database.
  if (!isUuid(triggerId!)) decodeCursor('', 2)
  return [triggerId!, deviceId!]
}

/** One entry for each device of each message, newest first. */
export async function listMessages(pool: Pool, projectId: ProjectId, filter: MessageFilter) {
  const { limit, status, campaignId, deviceId, triggerId } = filter
  const filtered = [status, campaignId, deviceId, triggerId].some((value) => value !== undefined)
  const window = filtered ? filteredWindow : limit + 1
  const rows = await find(pool, projectId, filter, window)
  const hits = rows.filter(({ hit }) => hit)
  const shown = hits.slice(0, limit)
  // More hits than shown: on after the last one shown. Else on after the window, if it was a full one.
  const last = hits.length > limit ? shown.at(-1) : rows.at(-1)?.seen === window ? rows.at(-1) : undefined
  return {
    items: await entries(pool, projectId, shown),
    next_cursor: last ? encodeCursor(last.trigger_id, last.device_id) : null
  }
}

export async function readMessage(pool: Pool, projectId: ProjectId, messageId: string) {
  const rows = isUuid(messageId) ? await findByMessageId(pool, projectId, [messageId]) : []
  const [first] = rows
  if (!first) throw new Refusal('message_not_found', 'No message of this id is in the project.')
  return {
    ...shownResult(resultOf(first.message_id, rows)),
    trigger_id: triggerOf(first),
    campaign_id: first.campaign_id,
    created_at: first.created_at,
    devices: await entries(pool, projectId, rows)
  }
}

/** A message that no trigger sent has its own id in that place. */
const triggerOf = ({ trigger_id, message_id, campaign_id }: MessageRow) =>
  campaign_id === null && trigger_id === message_id ? null : trigger_id

async function entries(db: Db, projectId: ProjectId, rows: MessageRow[]) {
  const userIds = [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))]
  const names = await identity.namesOf(db, projectId, userIds)
  return rows.map((row) => {
    const notification = row.content.kind === 'alert' ? row.content.notification : {}
    return {
      message_id: row.message_id,
      ...deviceResult(row),
      state: row.state,
      trigger_id: triggerOf(row),
      campaign_id: row.campaign_id,
      user_id: row.user_id,
      project_user_id: (row.user_id && names.get(row.user_id)) ?? null,
      kind: row.content.kind,
      title: notification.title ?? null,
      body: notification.body ?? null,
      gateway: row.gateway,
      gateway_code: row.gateway_code || null,
      attempts: row.attempts,
      simulated: row.simulated,
      created_at: row.created_at,
      handed_at: row.handed_at,
      settled_at: row.settled_at,
      delivered_at: row.delivered_at,
      tapped_at: row.tapped_at,
      expires_at: row.not_after
    }
  })
}
