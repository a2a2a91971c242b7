import type { Draft, SendCommand, Undeliverable } from '../channels/channels.ts'
import { type Db, isPassing, type Pool } from '../platform/db/db.ts'
import { isWithoutPartition, makePartitions } from '../platform/db/partitions.ts'
import type { Presence } from '../platform/db/presence.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import { type Claim, claimKey, type IdempotencyKey, settleKey } from '../platform/idempotency/idempotency.ts'
import { idAt, newId, type ProjectId, timeOfId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import type { Dispatcher } from './dispatch/dispatch.ts'
import { messageMonths, scheduleRetry } from './jobs.ts'
import { isSettled, type MessageRow } from './message.ts'
import type { Pauses } from './pauses.ts'
import type { Persist } from './persist.ts'
import { type DeliveryResult, resultOf } from './reading/results.ts'
import { fewestUntimed, scheduleRelease } from './release-send.ts'
import { findByMessageId } from './store.ts'

export interface Delivered {
  results: DeliveryResult[]
  /** The response to an earlier call with the same key. */
  replayed: boolean
}

/** Sends now. Returns a result for each item within 10 s; a message that is not settled by then is pending. */
export type Send = (
  projectId: ProjectId,
  command: SendCommand,
  key?: IdempotencyKey,
  admit?: AdmitSend
) => Promise<Delivered>

/**
 * Checks a send by the users that it reaches, in the transaction that writes its messages. It throws to prevent the
 * send. A repeat with the same key is not checked again. `times`: when the messages are sent.
 */
export type AdmitSend = (
  tx: Db,
  projectId: ProjectId,
  sendId: string,
  recipients: number,
  times: Date[]
) => Promise<void>

export interface SendOptions {
  pool: Pool
  idempotencyHours: number
  presence: Presence | undefined
  nodeId: string
  persist: Persist
  dispatcher: Dispatcher
  pauses: Pauses
}

/** Stored with an idempotency key, for a repeat after a crash. */
interface Work {
  messageIds: string[]
  /** The node that wrote the messages. Absent in keys of older versions. */
  owner?: string
}

interface Begun {
  messageIds: string[]
  rows: MessageRow[]
  /** The owner of the rows, if it is known to be dead. */
  deadOwner?: string | undefined
}

/** The longest time that a request waits for gateways. */
const requestMs = 10_000
/** A shorter time to live would be over before a gateway can respond. */
const leastTtlSeconds = 10
/** Up to this many rows are written as claimed. */
const claimedAtOnce = 500

export const createSend = (options: SendOptions): Send => {
  const { pool, dispatcher, pauses } = options
  return async (projectId, command, key, admit) => {
    const at = new Date()
    const deadline = steadyMs() + requestMs
    const headings = command.items.map((item) => headingOf(item, command.ttlSeconds, at))
    const paused = await pauses.paused(projectId)
    const request = { projectId, command, headings, paused, key, admit }
    const begin = () => inTries((last, again) => beginOnce(options, request, last, again))
    const begun = await begin().catch(async (error) => {
      if (!isWithoutPartition(error)) throw error
      // The partition of the month is missing: no worker has run for months, or the clock was set. It is created now.
      await makePartitions(pool, messageMonths, at)
      return begin()
    })
    if ('answered' in begun) return { results: begun.answered, replayed: true }
    const { messageIds, rows, deadOwner } = begun
    // In a paused project nothing is dispatched: the messages stay pending until the resume.
    if (!paused)
      await dispatcher.dispatch(
        projectId,
        rows.filter((row) => isUndispatched(row) && !isLater(row)),
        { deadline, deadOwner, urgent: true }
      )
    const byMessage = Map.groupBy(rows, ({ message_id }) => message_id)
    const results = messageIds.map((id) => resultOf(id, byMessage.get(id) ?? []))
    // Stored as text: a repeat gets the same bytes, and jsonb would reorder the fields.
    if (key) await settleKey(pool, projectId, key, JSON.stringify(results))
    return { results, replayed: false }
  }
}

/** The id of a message that waits begins with the time of its sending, from which it is kept and lives. */
function headingOf(
  { priority, ttlSeconds, sendAt }: SendCommand['items'][number],
  usualTtlSeconds: number,
  at: Date
): Request['headings'][number] {
  const life = Math.max(ttlSeconds ?? usualTtlSeconds, leastTtlSeconds) * 1000
  if (!sendAt || sendAt <= at) return { messageId: newId(), priority, notAfter: at.getTime() + life }
  return { messageId: idAt(sendAt.getTime()), priority, notAfter: sendAt.getTime() + life, dueAt: sendAt }
}

/** Whether the message waits for its send_at, with which its id begins, and not for a retry. The retry job sends it then. */
const isLater = ({ owner, due_at, message_id }: MessageRow, now = Date.now()): boolean =>
  owner === null && due_at !== null && due_at.getTime() > now && timeOfId(message_id) > now

interface Request {
  projectId: ProjectId
  command: SendCommand
  headings: Parameters<SendCommand['draft']>[2]
  paused: boolean
  key: IdempotencyKey | undefined
  admit: AdmitSend | undefined
}

/** Claims the key and writes the rows in one transaction: a crash leaves both or neither. */
async function beginOnce(
  options: SendOptions,
  { projectId, command, headings, paused, key, admit }: Request,
  last: boolean,
  again: boolean
): Promise<{ answered: DeliveryResult[] } | Begun> {
  const { pool, nodeId, persist, dispatcher } = options
  const messageIds = headings.map(({ messageId }) => messageId)
  // Prepared before the transaction, so that the transaction is short.
  const drafts = (await command.draft(pool, projectId, headings)).flat()
  const open = drafts.filter((draft) => !('reason' in draft)).length
  const owner = paused ? 'none' : open > claimedAtOnce ? 'node' : open >= fewestUntimed ? 'untimed' : 'claimed'
  let written: MessageRow[] = []
  const begun = pool.transaction(async (tx) => {
    if (key) {
      const known = await resumeKey(tx, options, projectId, key, { messageIds, owner: nodeId })
      if (known) return known
    }
    const later = headings.flatMap(({ dueAt }) => dueAt ?? [])
    const times = later.length < headings.length ? [new Date(), ...later] : later
    if (admit) await admit(tx, projectId, messageIds[0]!, recipientsOf(drafts), times)
    const rows = await persist(tx, projectId, drafts, { owner, areNew: !again })
    if (owner === 'untimed') await scheduleRelease(tx, projectId, rows)
    if (later.length > 0) await scheduleRetry(tx, projectId, new Date(Math.min(...later.map(Number))))
    if (rows.length < drafts.length && !last) throw new UserDeleted('a user was deleted while this was written')
    written = rows
    return { messageIds, rows }
  })
  return begun.catch((error: unknown) => {
    // The commit may have succeeded although its response was lost: then the retry job sends the messages.
    if (isPassing(error)) dispatcher.releaseUnsure(projectId, written)
    throw error
  })
}

/** The distinct users that messages can reach. */
const recipientsOf = (drafts: (Draft | Undeliverable)[]): number =>
  new Set(drafts.flatMap((draft) => ('reason' in draft ? [] : draft.userId))).size

/** The stored response, or the messages of a request that a crash interrupted; undefined if the key is new. */
async function resumeKey(
  tx: Db,
  { idempotencyHours, presence, dispatcher }: SendOptions,
  projectId: ProjectId,
  key: IdempotencyKey,
  work: Work
): Promise<{ answered: DeliveryResult[] } | Begun | undefined> {
  const claim = await claimKey<Work, string>(tx, projectId, key, work, idempotencyHours, presence)
  refuseTaken(claim)
  if (claim.state === 'answered') return { answered: JSON.parse(claim.answer) }
  if (claim.state !== 'resumed') return undefined
  const { messageIds, owner } = claim.work
  const deadOwner = claim.gone ? owner : undefined
  const rows = await findByMessageId(tx, projectId, messageIds)
  const undispatched = rows.filter((row) => isUndispatched(row) && !isLater(row))
  const { others } = await dispatcher.byOwner(projectId, undispatched, deadOwner, tx)
  // A request may outlast the claim on its key, for example if the database could not be reached. The refusal leaves
  // the key to that request.
  if (others.length > 0) refuseTaken({ state: 'running' })
  return { messageIds, rows, deadOwner }
}

/**
 * An accepted message stays accepted, and the retry job keeps those that it will repeat. The crash left only the
 * others.
 */
const isUndispatched = (row: MessageRow) =>
  !isSettled(row) && (row.state === 'handed' || (row.state === 'queued' && row.attempts === 0))

/** The devices of a deleted user may belong to another user now, so the recipients are looked up again. */
class UserDeleted extends Error {}

async function inTries<Result>(attempt: (last: boolean, again: boolean) => Promise<Result>): Promise<Result> {
  for (let left = 3; ; left -= 1) {
    try {
      return await againIfRaced((again) => attempt(left === 1, again))
    } catch (error) {
      if (!(error instanceof UserDeleted)) throw error
    }
  }
}

function refuseTaken({ state }: Claim<unknown, unknown>): void {
  if (state === 'running') throw new Refusal('idempotency_key_in_use', 'Idempotency key is in use')
  if (state === 'other') throw new Refusal('idempotency_key_reused', 'Idempotency key was used with another body')
}
