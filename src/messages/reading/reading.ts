import { channelOf } from '../../channels/channels.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import { encodeCursor } from '../../platform/http/paging.ts'
import { isUuid, type ProjectId } from '../../platform/ids.ts'
import { identity } from '../../users/users.ts'
import type { MessageRow } from '../message.ts'
import { findByMessageId } from '../store.ts'
import { findNewest, isBefore, type MessageFilter } from './reading-store.ts'
import { deviceResult, resultOf, shownResult } from './results.ts'

/** The messages that one filtered page reads: a fixed number, whatever the size of the project. */
const filteredRows = 2_000

/** One entry for each device of each message, newest first. */
export async function listMessages(pool: Pool, projectId: ProjectId, filter: MessageFilter) {
  const { limit, status, campaignId, deviceId, triggerId, from, to } = filter
  const filtered = [status, campaignId, deviceId, triggerId, from, to].some((value) => value !== undefined)
  const read = filtered ? filteredRows : limit + 1
  return pool.reading(async (db) => {
    const rows = await findNewest(db, projectId, filter, read)
    const hits = rows.filter(({ hit }) => hit)
    const shown = hits.slice(0, limit)
    // If there are more hits than the page shows, the next page follows the last one shown. Otherwise it follows the last
    // row read, if more exist.
    const oldest = rows.at(-1)?.seen === read ? rows.at(-1) : undefined
    const last = hits.length > limit ? shown.at(-1) : oldest && !isBefore(filter, oldest) ? oldest : undefined
    return {
      items: await entries(db, projectId, shown),
      next_cursor: last ? encodeCursor(last.trigger_id, last.device_id) : null
    }
  })
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

/** A message that no trigger sent has its own id in place of the trigger's. */
const triggerOf = ({ trigger_id, message_id, campaign_id }: MessageRow) =>
  campaign_id === null && trigger_id === message_id ? null : trigger_id

async function entries(db: Db, projectId: ProjectId, rows: MessageRow[]) {
  const userIds = [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))]
  const names = await identity.namesOf(db, projectId, userIds)
  return rows.map((row) => {
    const { title = null, body = null } = channelOf(row.content).heading(row.content)
    return {
      message_id: row.message_id,
      ...deviceResult(row),
      state: row.state,
      trigger_id: triggerOf(row),
      campaign_id: row.campaign_id,
      variant: row.variant,
      language: row.language,
      step: row.step,
      user_id: row.user_id,
      project_user_id: (row.user_id && names.get(row.user_id)) ?? null,
      kind: row.content.kind,
      title,
      body,
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
