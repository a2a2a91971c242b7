import type { Draft, Undeliverable } from '../channels/channels.ts'
import type { Db } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { type Claims, claimMs, claimUntil } from './dispatch/claims.ts'
import type { MessageRow } from './message.ts'
import { findMessages, insertMessages, isProject, keyOf } from './store.ts'

/**
 * The owner of new messages.
 * node: this process, which dispatches them next. After a crash other processes find them when their claim has ended.
 * claimed: the same, written as claimed. That saves a statement; after a crash they count as messages whose response was lost.
 * untimed: as claimed, without a `due_at`, so that no index is touched when they are settled. Something else finds them
 * after a crash: the job of the batch or of small triggers, which is run again and calls `release` at its end, or the job of a
 * large send.
 * none: the retry job takes them, for example after the pause of their project.
 */
export type Owner = 'node' | 'claimed' | 'untimed' | 'none'

/**
 * `areNew`: no earlier run should have written the messages. If one did, the transaction fails as by a lost race, and its
 * repeat leaves `areNew` out.
 */
export type Persist = (
  tx: Db,
  projectId: ProjectId,
  drafts: (Draft | Undeliverable)[],
  options?: { owner?: Owner; areNew?: boolean }
) => Promise<MessageRow[]>

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

/** The times that rows of a batch share. */
interface Times {
  at: Date
  /** When the claim of a row ends. */
  until: Date
  notAfter: Date
}

const rowOf = (draft: Draft, place: number, simulated: boolean, times: Times, owner: string): MessageRow => ({
  trigger_id: draft.triggerId,
  device_id: draft.endpoint.deviceId,
  message_id: draft.messageId,
  push_id: newId(),
  user_id: draft.userId,
  campaign_id: draft.campaignId,
  variant: draft.variant ?? null,
  language: draft.language ?? null,
  step: draft.step ?? null,
  place,
  state: 'queued',
  due_at: times.until,
  not_after: times.notAfter,
  content: draft.content,
  collapse_id: draft.collapseId,
  priority: draft.priority,
  gateway: draft.endpoint.gateway,
  environment: draft.endpoint.environment,
  activity_type: draft.endpoint.activity?.type ?? null,
  activity_id: draft.endpoint.activity?.id ?? null,
  attempts: 0,
  retries: blank.retries,
  gateway_message_id: null,
  reason: null,
  reason_message: null,
  gateway_code: null,
  simulated,
  created_at: times.at,
  handed_at: null,
  settled_at: null,
  delivered_at: null,
  tapped_at: null,
  owner,
  endpoint: draft.endpoint,
  claimEndsAtMs: undefined
})

const failedRow = (draft: Undeliverable, simulated: boolean, at: Date): MessageRow => ({
  ...blank,
  trigger_id: draft.messageId,
  device_id: draft.deviceId,
  message_id: draft.messageId,
  push_id: newId(),
  user_id: draft.userId,
  campaign_id: null,
  variant: null,
  language: null,
  step: null,
  place: 0,
  state: 'failed',
  due_at: null,
  not_after: at,
  content: draft.content,
  collapse_id: draft.messageId,
  priority: 'high',
  gateway: null,
  environment: null,
  activity_type: null,
  activity_id: null,
  reason: draft.reason,
  simulated,
  created_at: at,
  handed_at: null,
  settled_at: at,
  owner: null
})

/** The only function that adds messages. Returns the stored rows, also those of an earlier run. */
export const createPersist =
  (nodeId: string, claims: Claims, isSimulated: (projectId: ProjectId, tx?: Db) => Promise<boolean>): Persist =>
  async (tx, projectId, drafts, { owner = 'node', areNew = false } = {}) => {
    const simulated = await isSimulated(projectId, tx)
    const at = new Date()
    const until = claimUntil()
    const times = { at, until: new Date(at.getTime() + claimMs), notAfter: at }
    let place = 0
    const rows = drafts.map((draft, index) => {
      place = drafts[index - 1]?.messageId === draft.messageId ? place + 1 : 0
      if ('reason' in draft) return failedRow(draft, simulated, at)
      if (times.notAfter.getTime() !== draft.notAfter) times.notAfter = new Date(draft.notAfter)
      const row = rowOf(draft, place, simulated, times, nodeId)
      if (draft.dueAt) return Object.assign(row, { due_at: draft.dueAt, owner: null })
      if (owner === 'untimed') claims.markUntimed(row, at)
      if (owner === 'none') Object.assign(row, { due_at: at, owner: null })
      if (owner === 'claimed') {
        claims.mark(row, until)
        row.handed_at = at
      }
      return row
    })
    return write(tx, projectId, rows, areNew)
  }

/** A row that an earlier run wrote stays. Deleted users get none. */
async function write(tx: Db, projectId: ProjectId, rows: MessageRow[], areNew: boolean): Promise<MessageRow[]> {
  const standing: MessageRow[] = []
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const batch = rows.slice(from, from + rowsAtOnce)
    const written = await insertMessages(tx, projectId, batch, areNew)
    if (written === batch.length) {
      standing.push(...batch)
      continue
    }
    const known = new Map((await findMessages(tx, projectId, batch)).map((row) => [keyOf(row), row]))
    for (const row of batch) {
      const found = known.get(keyOf(row))
      // A row with the id that was made for it was written by this run, and equals the one in memory.
      if (found) standing.push(found.push_id === row.push_id ? row : Object.assign(found, { endpoint: row.endpoint }))
    }
  }
  if (standing.length < rows.length && !(await isProject(tx, projectId)))
    throw new Refusal('invalid_api_key', 'Invalid API key')
  return standing
}
