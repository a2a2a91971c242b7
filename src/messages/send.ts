import { isPassing, type Pool } from '../platform/db/db.ts'
import { isWithoutPartition, makePartitions } from '../platform/db/partitions.ts'
import type { Presence } from '../platform/db/presence.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { Refusal } from '../platform/errors.ts'
import { type Claim, claimKey, type IdempotencyKey, settleKey } from '../platform/idempotency.ts'
import { newId, type ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import { heldUntil } from './claims.ts'
import type { createHandOver } from './dispatch.ts'
import { type Planned, planChanges, planPushes, planStarts, type Wish } from './draft.ts'
import type { ActivityChangeItem, ActivityStartItem, PushItem } from './items.ts'
import { messageMonths } from './jobs.ts'
import { isSettled, type MessageRow } from './message.ts'
import type { Pauses } from './pauses.ts'
import { deadEndRow, rowOf, writeRows } from './persist.ts'
import { type DeliveryResult, resultOf } from './results.ts'
import { findByMessageId } from './store.ts'

export interface Delivered {
  results: DeliveryResult[]
  /** The answer of an earlier call with the same key. */
  replayed: boolean
}

/** What a repeat after a crash goes on with. */
interface Work {
  messageIds: string[]
  /** The node that wrote them. Absent in keys of older versions. */
  owner?: string
}

/** A request waits this long for gateways; what is not settled then is pending. */
const requestMs = 10_000
/** As long as the gateways keep a notification by themselves. */
const alertTtlSeconds = 28 * 86_400
/** As long as an activity lives. */
const activityTtlSeconds = 8 * 3_600
/** Less would be over before a gateway can be asked. */
const leastTtlSeconds = 10
/** Up to here rows are written as handed: one statement less, and a crash in between is one whose answer was lost. */
const handedAtOnce = 500

interface Begun {
  messageIds: string[]
  rows: MessageRow[]
  /** The owner of the rows, where it is known to be gone. */
  gone?: string | undefined
}

type Item = { priority: 'high' | 'normal'; ttlSeconds: number | undefined }

export function createSending({
  pool,
  idempotencyHours,
  presence,
  nodeId,
  isSimulated,
  hands,
  pauses
}: {
  pool: Pool
  idempotencyHours: number
  presence: Presence | undefined
  nodeId: string
  isSimulated: (projectId: ProjectId) => Promise<boolean>
  hands: ReturnType<typeof createHandOver>
  pauses: Pauses
}) {
  async function deliver(
    projectId: ProjectId,
    items: Item[],
    ttlSeconds: number,
    plan: (wishes: Wish[]) => Promise<Planned[]>,
    key: IdempotencyKey | undefined
  ): Promise<Delivered> {
    const at = new Date()
    const untilMs = steadyMs() + requestMs
    const wishes = items.map(({ priority, ttlSeconds: own }) => ({
      messageId: newId(),
      priority,
      notAfter: at.getTime() + Math.max(own ?? ttlSeconds, leastTtlSeconds) * 1000
    }))
    const simulated = await isSimulated(projectId)
    const paused = await pauses.paused(projectId)
    const begin = () => writeInTries((last) => write(projectId, wishes, plan, { simulated, paused }, at, key, last))
    const begun = await begin().catch(async (error) => {
      if (!isWithoutPartition(error)) throw error
      // No worker has run for months, or the clock was set: the month is made now.
      await makePartitions(pool, messageMonths, at)
      return begin()
    })
    if ('answered' in begun) return { results: begun.answered, replayed: true }
    const { messageIds, rows, gone } = begun
    // In a paused project nothing is waited for: what was written is pending, and goes out after the resume.
    if (!paused) await hands.handOver(projectId, rows.filter(isOurs), { untilMs, gone, urgent: true })
    const byMessage = Map.groupBy(rows, ({ message_id }) => message_id)
    const results = messageIds.map((id) => resultOf(id, byMessage.get(id) ?? []))
    // As text: a repeat gets the same bytes, and the database would put the fields into another order.
    if (key) await settleKey(pool, projectId, key, JSON.stringify(results))
    return { results, replayed: false }
  }

  /** Takes the key and writes the rows in one transaction: a crash leaves both or neither. */
  async function write(
    projectId: ProjectId,
    wishes: Wish[],
    plan: (wishes: Wish[]) => Promise<Planned[]>,
    { simulated, paused }: { simulated: boolean; paused: boolean },
    at: Date,
    key: IdempotencyKey | undefined,
    last: boolean
  ): Promise<{ answered: DeliveryResult[] } | Begun> {
    const messageIds = wishes.map(({ messageId }) => messageId)
    // Outside of the transaction, so that it is short.
    const planned = await plan(wishes)
    const rows = planned.flatMap((one) =>
      'deadEnd' in one
        ? [deadEndRow(one.deadEnd, simulated, at)]
        : one.drafts.map((draft, place) => rowOf(draft, place, simulated, at, nodeId))
    )
    const open = rows.filter((row) => !isSettled(row))
    if (paused) for (const row of open) Object.assign(row, { due_at: at, owner: null })
    else if (open.length <= handedAtOnce) {
      const until = heldUntil()
      for (const row of open) {
        hands.markHeld(row, until)
        row.handed_at = at
      }
    }
    let written = false
    const begun = pool.transaction(async (tx) => {
      if (key) {
        const work = { messageIds, owner: nodeId }
        const claim = await claimKey<Work, string>(tx, projectId, key, work, idempotencyHours, presence)
        refuseTaken(claim)
        if (claim.state === 'answered') return { answered: JSON.parse(claim.answer) }
        if (claim.state === 'resumed') {
          const { messageIds, owner } = claim.work
          const gone = claim.gone ? owner : undefined
          const rows = await findByMessageId(tx, projectId, messageIds)
          // A request may outlast the time of its key, as when the database was away. The refusal leaves the key to it.
          if ((await hands.sort(projectId, rows.filter(isOurs), gone, tx)).others.length > 0)
            refuseTaken({ state: 'running' })
          return { messageIds, rows, gone }
        }
      }
      const standing = await writeRows(tx, projectId, rows)
      if (standing.length < rows.length && !last) throw new UserGone('a user went while this was being written')
      written = true
      return { messageIds, rows: standing }
    })
    return begun.catch((error: unknown) => {
      // The commit may have gone through, and only its answer was lost: then the retry job sends them.
      if (written && isPassing(error)) hands.giveUp(projectId, rows)
      throw error
    })
  }

  return {
    pushes: (projectId: ProjectId, items: PushItem[], key?: IdempotencyKey) =>
      deliver(projectId, items, alertTtlSeconds, (wishes) => planPushes(pool, projectId, items, wishes), key),
    starts: (projectId: ProjectId, items: ActivityStartItem[], key?: IdempotencyKey) =>
      deliver(projectId, items, activityTtlSeconds, (wishes) => planStarts(pool, projectId, items, wishes), key),
    changes: (
      projectId: ProjectId,
      kind: 'activity-update' | 'activity-end',
      items: ActivityChangeItem[],
      key?: IdempotencyKey
    ) =>
      deliver(projectId, items, activityTtlSeconds, (wishes) => planChanges(pool, projectId, kind, items, wishes), key)
  }
}

/** What was accepted stays so, and what a job will try again is left to it. The rest nobody has: a crash left it. */
const isOurs = (row: MessageRow) =>
  !isSettled(row) && (row.state === 'handed' || (row.state === 'queued' && row.attempts === 0))

/** Its devices may be somebody else's now: who has them is looked up anew. */
class UserGone extends Error {}

async function writeInTries<Result>(write: (last: boolean) => Promise<Result>): Promise<Result> {
  for (let left = 3; ; left -= 1) {
    try {
      return await againIfRaced(() => write(left === 1))
    } catch (error) {
      if (!(error instanceof UserGone)) throw error
    }
  }
}

function refuseTaken({ state }: Claim<unknown, unknown>): void {
  if (state === 'running') throw new Refusal('idempotency_key_in_use', 'Idempotency key is in use')
  if (state === 'other') throw new Refusal('idempotency_key_reused', 'Idempotency key was used with another body')
}
