import {
  type Campaign,
  countReceived,
  findTargets,
  loadRecipients,
  lockCampaign,
  notAfterOf,
  type Ready,
  type Versions
} from '../../campaigns/campaigns.ts'
import type { MessageRow, Messages } from '../../messages/messages.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { parseDuration } from '../../platform/duration.ts'
import { firstIdAt, type ProjectId } from '../../platform/ids.ts'
import { defineJob, type JobContext } from '../../platform/jobs/definition.ts'
import { steadyMs } from '../../platform/time.ts'
import { wake } from '../accept.ts'
import { addToCounters, type Delta, nothing, type OnEnded, tally } from '../counters-store.ts'
import * as chunks from './batch-store.ts'
import { deltaOf, type Sorted, sortRecipients } from './eligibility.ts'
import { addChunkJobs, type ChunkPayload, chunkJobRef } from './expand.ts'
import { followedByOthers, orGiveUp, unlessGone } from './job-errors.ts'
import type { Waiting } from './waiting.ts'

/** How long a chunk waits for gateways. What they have not taken by then goes on by itself, and others get a turn. */
const dispatchMs = 5_000
/** Over half an hour, with the usual waits between them. */
const maxAttempts = 12

/** Told to whoever has written too much: the trigger was canceled meanwhile, and nothing of this stands. */
class Canceled extends Error {
  override readonly name = 'Canceled'
}

export interface ChunkOptions {
  pool: Pool
  messages: Pick<
    Messages,
    'persist' | 'findUnanswered' | 'byOwner' | 'dispatch' | 'release' | 'cancelClaimed' | 'paused'
  >
  versions: Versions
  onEnded: OnEnded
  waiting: Waiting
}

/** Sends one chunk: messages are written under their unique key, counted, and handed over. */
export function createChunks({ pool, messages, versions, onEnded, waiting }: ChunkOptions) {
  async function run({ projectId, triggerId, number }: ChunkPayload, context: JobContext, inline = false) {
    const work = await chunks.loadWork(pool, projectId, triggerId)
    const chunk = work && (await chunks.findChunk(pool, projectId, triggerId, number))
    if (!work || !chunk) return
    // What is not written waits as it is. What is written is released by its hand-over, for after the resume.
    if (chunk.state === 'planned' && (await messages.paused(projectId))) return
    const written = chunk.state === 'planned' ? await writeOnce(projectId, work, chunk) : 'before'
    // Where the one who wrote it is gone, and the trigger was canceled since.
    const canceled = written === 'before' && work.outcome === 'canceled'
    // Whoever cancels takes care of what is not written.
    if (written === 'canceled') return
    const rows =
      typeof written === 'string' ? await messages.findUnanswered(projectId, [triggerId], chunk.device_ids) : written
    // Rows that were written before are owned by a dead process, or still by a living one, where this run follows one whose
    // lease was lost: then they are not handed over again. Rows that are written this very moment are their writer's.
    const options = { deadline: steadyMs() + dispatchMs, signal: context.signal }
    const sorted = canceled ? await messages.byOwner(projectId, rows) : undefined
    const handsOver = written !== 'meanwhile' && !canceled
    const others = handsOver
      ? await waiting(context, rows.length, () => messages.dispatch(projectId, rows, options))
      : (sorted?.others ?? [])
    if (others.length > 0) throw followedByOthers()
    // What was not handed over goes on by itself, so the chunk is done, also by a worker that stops and may not end its job.
    await pool.transaction(async (tx) => {
      if (sorted) await messages.cancelClaimed(tx, projectId, triggerId, sorted.free)
      await messages.release(tx, projectId, triggerId, rows)
      if (await chunks.removeChunk(tx, projectId, triggerId, number)) {
        const [counted] = await addToCounters(tx, projectId, [{ ...nothing(triggerId), openChunks: -1 }], onEnded)
        if (counted?.outcome === null) await wake(tx, { projectId, triggerId })
      }
      if (!inline && !context.signal.aborted) await context.complete(tx)
    })
  }

  async function writeOnce(projectId: ProjectId, work: chunks.Work, chunk: chunks.ChunkRow) {
    const ready = await versions.get(projectId, work.campaign_id, work.campaign_version)
    try {
      return await againIfRaced(() => write(projectId, work, chunk, ready))
    } catch (error) {
      if (error instanceof Canceled) return 'canceled'
      throw error
    }
  }

  /** One transaction: either all of a chunk is written and counted, or nothing. */
  const write = (
    projectId: ProjectId,
    work: chunks.Work,
    read: chunks.ChunkRow,
    ready: Ready
  ): Promise<MessageRow[] | 'meanwhile'> =>
    pool.transaction(async (tx) => {
      // Of two who run the same chunk the second waits here, and then finds nothing to do.
      const device_ids = await chunks.markChunkWritten(tx, projectId, work.id, read.number)
      if (!device_ids) return 'meanwhile'
      const chunk = { ...read, device_ids }
      const sorted = await sort(tx, projectId, work, chunk, ready)
      const held = await chunks.keepDevices(tx, projectId, sorted.held)
      const rows = await messages.persist(tx, projectId, sorted.drafts, { owner: 'batch' })
      const own = new Set(sorted.drafts.map(({ messageId }) => messageId))
      // A device that another chunk of this trigger has reached already is not counted twice.
      const written = rows.filter(({ message_id }) => own.has(message_id))
      const skips = await chunks.addSkips(tx, projectId, sorted.skips, new Date())
      const delta = deltaOf(work.id, written.length, skips, held)
      if (chunk.counted) countFrom(delta, chunk.device_ids.length, sorted.gone)
      await hold(tx, projectId, work.id, held)
      const [counted] = await addToCounters(tx, projectId, [delta], onEnded)
      if (!counted || counted.outcome === 'canceled') throw new Canceled()
      return written
    })

  async function sort(tx: Db, projectId: ProjectId, work: chunks.Work, chunk: chunks.ChunkRow, ready: Ready) {
    const { definition } = ready
    const recipients = await loadRecipients(tx, projectId, chunk.device_ids)
    const targets = await findTargets(tx, projectId, definition.live_activity, recipients)
    const full = await whoHasEnough(tx, projectId, work, definition, [...new Set(recipients.map((one) => one.user_id))])
    const notAfter = notAfterOf(definition, chunk.held ? chunk.due_at : work.accepted_at)
    const sorted = await sortRecipients({ trigger: work, ready, recipients, targets, full, notAfter })
    return { ...sorted, gone: chunk.device_ids.length - recipients.length }
  }

  /** The lock makes this exact also where two triggers reach a user at once: the second sees what the first wrote. */
  async function whoHasEnough(
    tx: Db,
    projectId: ProjectId,
    work: chunks.Work,
    { frequency_cap: cap }: Campaign,
    userIds: string[]
  ): Promise<Set<string>> {
    if (!cap || userIds.length === 0) return new Set()
    await lockCampaign(tx, projectId, work.campaign_id)
    const since = firstIdAt(Date.now() - parseDuration(cap.within)!)
    const of = { campaignId: work.campaign_id, triggerId: work.id, since }
    const received = await countReceived(tx, projectId, of, userIds)
    return new Set(userIds.filter((id) => (received.get(id) ?? 0) >= cap.count))
  }

  /** A chunk of their own for all that may be reached at the same time. */
  async function hold(tx: Db, projectId: ProjectId, triggerId: string, held: Sorted['held']): Promise<void> {
    if (held.size === 0) return
    const last = await chunks.moreChunks(tx, projectId, triggerId, held.size)
    if (last === undefined) return
    const added = [...held].map(([until, deviceIds], index) => ({
      number: last - index,
      deviceIds,
      dueAt: new Date(until),
      held: true
    }))
    await chunks.addChunks(tx, projectId, triggerId, added)
    await addChunkJobs(tx, projectId, triggerId, added)
  }

  /** After many attempts: what it still holds has failed. */
  const giveUp = ({ projectId, triggerId, number }: ChunkPayload) =>
    pool.transaction(async (tx) => {
      const chunk = await chunks.findChunk(tx, projectId, triggerId, number)
      const removed = chunk && (await chunks.removeChunk(tx, projectId, triggerId, number))
      if (!removed) return
      const rows = await messages.findUnanswered(projectId, [triggerId], chunk.device_ids, tx)
      await messages.release(tx, projectId, triggerId, rows)
      const delta = { ...nothing(triggerId), openChunks: -1 }
      if (removed.state === 'planned') {
        const { devices } = removed
        delta.failed = devices
        delta.targeted = chunk.counted ? 0 : devices
        delta.failedFor = { INTERNAL_ERROR: devices }
      }
      const [counted] = await addToCounters(tx, projectId, [delta], onEnded)
      if (counted?.outcome === null) await wake(tx, { projectId, triggerId })
    })

  const job = defineJob<ChunkPayload>({
    ...chunkJobRef,
    maxAttempts,
    run: unlessGone(orGiveUp((payload, context) => run(payload, context), giveUp))
  })
  return { run, giveUp, job }
}

/** Its devices were counted as targeted when they were planned. Those whose user was deleted since will get nothing. */
function countFrom(delta: Delta, planned: number, gone: number): void {
  delta.targeted += gone - planned
  if (gone === 0) return
  delta.skipped += gone
  tally(delta.skippedFor, 'canceled', gone)
}
