import type { Db } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { heldMs } from './claims.ts'
import type { DeadEnd, MessageDraft, MessageRow } from './message.ts'
import { findMessages, insertMessages, isProject, keyOf } from './store.ts'

/** Rows that one statement writes. */
const rowsAtOnce = 1_000

const blank = {
  attempts: 0,
  retries: {},
  gateway_message_id: null,
  reason_message: null,
  gateway_code: null,
  delivered_at: null,
  tapped_at: null
}

export const rowOf = (draft: MessageDraft, place: number, simulated: boolean, at: Date, owner: string): MessageRow => ({
  ...blank,
  trigger_id: draft.triggerId,
  device_id: draft.device.deviceId,
  message_id: draft.messageId,
  push_id: newId(),
  user_id: draft.userId,
  campaign_id: draft.campaignId,
  place,
  state: 'queued',
  // Whoever wrote it hands it over now. If that process dies, others find it then.
  due_at: new Date(at.getTime() + heldMs),
  not_after: new Date(draft.notAfter),
  content: draft.content,
  collapse_id: draft.collapseId,
  priority: draft.priority,
  gateway: draft.device.gateway,
  environment: draft.device.environment,
  activity_type: draft.device.activity?.type ?? null,
  activity_id: draft.device.activity?.id ?? null,
  reason: null,
  simulated,
  created_at: at,
  handed_at: null,
  settled_at: null,
  owner,
  target: draft.device
})

export const deadEndRow = (end: DeadEnd, simulated: boolean, at: Date): MessageRow => ({
  ...blank,
  trigger_id: end.messageId,
  device_id: end.deviceId,
  message_id: end.messageId,
  push_id: newId(),
  user_id: end.userId,
  campaign_id: null,
  place: 0,
  state: 'failed',
  due_at: null,
  not_after: at,
  content: end.content,
  collapse_id: end.messageId,
  priority: 'high',
  gateway: null,
  environment: null,
  activity_type: null,
  activity_id: null,
  reason: end.reason,
  simulated,
  created_at: at,
  handed_at: null,
  settled_at: at,
  owner: null
})

/** Writes rows, and answers those that stand now: an earlier run's where it wrote one, none for users who are gone. */
export async function writeRows(tx: Db, projectId: ProjectId, rows: MessageRow[]): Promise<MessageRow[]> {
  const standing: MessageRow[] = []
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const batch = rows.slice(from, from + rowsAtOnce)
    const written = await insertMessages(tx, projectId, batch)
    if (written === batch.length) {
      standing.push(...batch)
      continue
    }
    const known = new Map((await findMessages(tx, projectId, batch)).map((row) => [keyOf(row), row]))
    for (const row of batch) {
      const found = known.get(keyOf(row))
      // Where the id is the one made for this row, the row is ours: it stands as we have it.
      if (found) standing.push(found.push_id === row.push_id ? row : Object.assign(found, { target: row.target }))
    }
  }
  if (standing.length < rows.length && !(await isProject(tx, projectId)))
    throw new Refusal('invalid_api_key', 'Invalid API key')
  return standing
}
