import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { decodeCursor } from '../../platform/http/paging.ts'
import { firstIdAt, isUuid, type ProjectId } from '../../platform/ids.ts'
import { identity } from '../../users/users.ts'
import { type MessageRow, openStates } from '../message.ts'
import { columns } from '../store.ts'

export interface MessageFilter {
  projectUserId: string | undefined
  deviceId: string | undefined
  triggerId: string | undefined
  campaignId: string | undefined
  status: 'SUCCEED' | 'FAILED' | 'PENDING' | undefined
  /** Only messages created in this time. */
  from?: Date | undefined
  to?: Date | undefined
  cursor: string | undefined
  limit: number
}

// Reads the next messages by a filter that has an index; the other filters mark hits among them. The last row is
// returned whether it is a hit or not, because the next page starts there.
const windowOf = (narrowed: string) => `
  select * from (
    select ${columns}, ($5::text is null or campaign_id = $5)
           and ($6::text is null
                or ($6 = 'PENDING' and state in ${openStates}) or ($6 = 'SUCCEED' and state = 'accepted')
                or ($6 = 'FAILED' and state in ('failed', 'skipped')))
           and ($7::text is null or device_id = $7)
           and ($8::timestamptz is null or created_at >= $8) and ($9::timestamptz is null or created_at < $9) as hit,
           row_number() over (order by trigger_id desc, device_id desc)::int as rank, count(*) over ()::int as seen
      from (select ${columns} from messages
             where project_id = $1 ${narrowed} and ($2::uuid is null or (trigger_id, device_id) < ($2, $3::text))
             order by trigger_id desc, device_id desc limit $4) newest) w
   where w.hit or w.rank = w.seen order by w.rank`
const newest = statement('messages.newest', windowOf(''))
const newestOfUser = statement('messages.newest_of_user', windowOf('and user_id = $10::uuid'))
const newestOfTrigger = statement('messages.newest_of_trigger', windowOf('and trigger_id = $10::uuid'))
const newestOfDevice = statement('messages.newest_of_device', windowOf('and device_id = $10'))

type Windowed = MessageRow & { hit: boolean; seen: number }

/** Reads by the most selective index of the filter. A user who does not exist has no messages. */
export async function findNewest(
  db: Db,
  projectId: ProjectId,
  filter: MessageFilter,
  limit: number
): Promise<Windowed[]> {
  const { triggerId, projectUserId, deviceId, campaignId, status } = filter
  const after = filter.cursor === undefined ? lastOf(filter) : cursorParts(filter.cursor)
  const period = [filter.from ?? null, filter.to ?? null]
  const values = [projectId, after?.[0] ?? null, after?.[1] ?? null, limit, campaignId ?? null, status ?? null]
  if (projectUserId !== undefined) {
    const userId = (await identity.idsOf(db, projectId, [projectUserId])).get(projectUserId)
    if (userId === undefined) return []
    const rows = await db.query<Windowed>(newestOfUser, [...values, deviceId ?? null, ...period, userId])
    return triggerId === undefined
      ? rows
      : rows.map((row) => ({ ...row, hit: row.hit && row.trigger_id === triggerId }))
  }
  if (triggerId !== undefined) {
    if (!isUuid(triggerId)) return []
    return db.query<Windowed>(newestOfTrigger, [...values, deviceId ?? null, ...period, triggerId])
  }
  if (deviceId !== undefined) return db.query<Windowed>(newestOfDevice, [...values, null, ...period, deviceId])
  return db.query<Windowed>(newest, [...values, null, ...period])
}

/**
 * Ids begin with the time of the send or of the trigger, so reading begins there. Two kinds of messages are older than their
 * ids and are found only if that time is asked for too: those sent for a later time, and those of a trigger that was moved to
 * an earlier one, which keeps its id.
 */
const lastOf = ({ to, triggerId }: MessageFilter): [string, string] | undefined =>
  to && triggerId === undefined ? [firstIdAt(Math.max(0, to.getTime())), ''] : undefined

/** A message is created at most this long after its trigger: quiet hours and limits delay it, up to its expiry. */
const longestDelayMs = 31 * 86_400_000

/** Whether no older message can be of the time that is asked for. */
export const isBefore = ({ from }: MessageFilter, { trigger_id }: Pick<MessageRow, 'trigger_id'>): boolean =>
  from !== undefined && trigger_id < firstIdAt(Math.max(0, from.getTime() - longestDelayMs))

function cursorParts(cursor: string): [string, string] {
  const [triggerId, deviceId] = decodeCursor(cursor, 2)
  // A foreign cursor is refused: text that is not an id must not reach the database.
  if (!isUuid(triggerId!)) decodeCursor('', 2)
  return [triggerId!, deviceId!]
}
