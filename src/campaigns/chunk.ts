import { collapseIdOf, type Delivery, type MessageDraft, type MessageRow } from '../delivery/delivery.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { firstIdAt, newId, type ProjectId } from '../platform/ids.ts'
import { defineJob, type JobContext } from '../platform/jobs/definition.ts'
import { wake } from './accept.ts'
import type { Campaign } from './campaign-shape.ts'
import * as chunks from './chunk-store.ts'
import { addToCounters, type Delta, nothing, type OnEnded, tally } from './counting.ts'
import type { Definitions, Ready } from './definitions.ts'
import { parseDuration } from './duration.ts'
import { addChunkJobs, type ChunkPayload, chunkJobName } from './expansion.ts'
import { findTargets, notAfterOf, quietFor } from './gates.ts'
import { countReceived, loadRecipients } from './recipients.ts'
import { lockCampaign } from './store.ts'
import { TemplateFailed } from './template.ts'

/** How long a chunk waits for gateways. What they have not taken by then goes on by itself. */
const handOverMs = 30_000

/** The reason of a message that could not be made; the only one here that is a failure. */
const templateFailed = 'template_failed'

/** Told to whoever has written too much: the trigger was canceled meanwhile, and nothing of this stands. */
class Canceled extends Error {
  override readonly name = 'Canceled'
}

/** What comes of the devices of a chunk. */
interface Sorted {
  drafts: MessageDraft[]
  skips: chunks.Skip[]
  /** Devices that quiet hours hold, by when these end. */
  held: Map<number, string[]>
}

export interface ChunkOptions {
  pool: Pool
  delivery: Pick<Delivery, 'write' | 'unsettled' | 'handOver'>
  definitions: Definitions
  onEnded: OnEnded
}

/** Sends one chunk: messages are written under their unique key, counted, and handed over. */
export function createChunks({ pool, delivery, definitions, onEnded }: ChunkOptions) {
  async function run({ projectId, triggerId, number }: ChunkPayload, context: JobContext, inline = false) {
    const work = await chunks.loadWork(pool, projectId, triggerId)
    const chunk = work && (await chunks.findChunk(pool, projectId, triggerId, number))
    if (!work || !chunk) return
    const rows =
      chunk.state === 'planned'
        ? await writeOnce(projectId, work, chunk)
        : // Somebody died with them in hands.
          await delivery.unsettled(projectId, triggerId, chunk.device_ids)
    // Whoever cancels takes care of what is not written.
    if (!rows) return
    await delivery.handOver(projectId, rows, { untilMs: Date.now() + handOverMs, signal: context.signal })
    // What was not handed over goes on by itself, so the chunk is done, also by a worker that stops and may not end its job.
    await pool.transaction(async (tx) => {
      if (await chunks.removeChunk(tx, projectId, triggerId, number)) {
        const [counted] = await addToCounters(tx, projectId, [{ ...nothing(triggerId), openChunks: -1 }], onEnded)
        if (counted?.outcome === null) await wake(tx, { projectId, triggerId })
      }
      if (!inline && !context.signal.aborted) await context.complete(tx)
    })
  }

  async function writeOnce(projectId: ProjectId, work: chunks.Work, chunk: chunks.ChunkRow) {
    const ready = await definitions.get(projectId, work.campaign_id, work.campaign_version)
    try {
      return await againIfRaced(() => write(projectId, work, chunk, ready))
    } catch (error) {
      if (error instanceof Canceled) return undefined
      throw error
    }
  }

  /** One transaction: either all of a chunk is written and counted, or nothing. */
  const write = (
    projectId: ProjectId,
    work: chunks.Work,
    chunk: chunks.ChunkRow,
    ready: Ready
  ): Promise<MessageRow[]> =>
    pool.transaction(async (tx) => {
      // Of two who run the same chunk the second waits here, and then finds nothing to do.
      if (!(await chunks.markChunkWritten(tx, projectId, work.id, chunk.number))) return []
      const sorted = await sort(tx, projectId, work, chunk, ready)
      const rows = await delivery.write(tx, projectId, sorted.drafts)
      const own = new Set(sorted.drafts.map(({ messageId }) => messageId))
      // A device that another chunk of this trigger has reached already is not counted twice.
      const written = rows.filter(({ message_id }) => own.has(message_id))
      const skips = await chunks.addSkips(tx, projectId, work.id, sorted.skips, new Date())
      const delta = deltaOf(work.id, written.length, skips, sorted.held)
      // Those that were held have been counted when they were.
      if (chunk.held) delta.targeted -= chunk.device_ids.length
      await hold(tx, projectId, work.id, sorted.held)
      const [counted] = await addToCounters(tx, projectId, [delta], onEnded)
      if (!counted || counted.outcome === 'canceled') throw new Canceled()
      return written
    })

  async function sort(tx: Db, projectId: ProjectId, work: chunks.Work, chunk: chunks.ChunkRow, ready: Ready) {
    const { definition } = ready
    const now = new Date()
    const notAfter = notAfterOf(definition, chunk.held ? chunk.due_at : work.accepted_at)
    const sorted: Sorted = { drafts: [], skips: [], held: new Map() }
    const recipients = await loadRecipients(tx, projectId, chunk.device_ids)
    const targets = await findTargets(tx, projectId, definition, chunk.device_ids)
    const full = await whoHasEnough(tx, projectId, work, definition, [...new Set(recipients.map((one) => one.user_id))])
    const render = ready.rendering.for(work)
    for (const recipient of recipients) {
      const { device_id: value, user_id: userId } = recipient
      const skip = (reason: string) => sorted.skips.push({ kind: 'device_id', value, reason, userId })
      const device = targets.get(value)
      if (device === undefined || typeof device === 'string') {
        skip((device ?? 'NO_DEVICE').toLowerCase())
        continue
      }
      if (notAfter <= now.getTime()) {
        skip('expired')
        continue
      }
      const quiet = quietFor(definition, recipient, now)
      if (quiet && definition.quiet_hours!.action === 'skip') {
        skip('quiet_hours')
        continue
      }
      if (quiet) {
        const until = sorted.held.get(quiet.getTime()) ?? []
        sorted.held.set(quiet.getTime(), until)
        until.push(value)
        continue
      }
      if (full.has(userId)) {
        skip('frequency_cap')
        continue
      }
      try {
        const content = render(recipient)
        const messageId = newId()
        const collapseId = collapseIdOf(content, messageId)
        const { id: triggerId, campaign_id: campaignId } = work
        sorted.drafts.push({
          messageId,
          triggerId,
          campaignId,
          userId,
          device,
          content,
          collapseId,
          priority: 'high',
          notAfter
        })
      } catch (error) {
        if (!(error instanceof TemplateFailed)) throw error
        skip(templateFailed)
      }
    }
    return sorted
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

  return {
    run,
    job: defineJob<ChunkPayload>({
      name: chunkJobName,
      maxAttempts: 50,
      run: (payload, context) => run(payload, context)
    })
  }
}

function deltaOf(triggerId: string, written: number, skips: chunks.Skip[], held: Sorted['held']): Delta {
  const delta = nothing(triggerId)
  delta.targeted = written + skips.length
  for (const deviceIds of held.values()) delta.targeted += deviceIds.length
  for (const { reason } of skips) {
    // Held back on purpose is one thing, could not be made another.
    if (reason === templateFailed) {
      delta.failed += 1
      tally(delta.failedFor, templateFailed.toUpperCase())
    } else {
      delta.skipped += 1
      tally(delta.skippedFor, reason)
    }
  }
  return delta
}
