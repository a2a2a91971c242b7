import {
  type Campaign,
  readAudience,
  reserveThrottle,
  resolveTargets,
  type StoredAudience,
  type StoredTarget,
  type Versions
} from '../../campaigns/campaigns.ts'
import type { Messages } from '../../messages/messages.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { defineJob, type JobContext } from '../../platform/jobs/definition.ts'
import { addMany, knownKeys } from '../../platform/jobs/jobs.ts'
import { inParts } from '../../platform/parts.ts'
import { firstUser, matchWindow, type Place, type SegmentAt, SegmentFailed } from '../../segments/segments.ts'
import { expandJobRef, type Wake } from '../accept.ts'
import { addToCounters, nothing, type OnEnded, tally } from '../counters-store.ts'
import { type TriggerOutcome, terminal } from '../store.ts'
import * as chunks from './batch-store.ts'
import { orGiveUp, unlessGone } from './job-errors.ts'

export interface ChunkPayload extends Wake {
  number: number
}
export const chunkJobRef = { name: 'campaigns.chunk', queue: 'expansions' }
const chunkKey = (triggerId: string, number: number) => `${triggerId}:${number}`

/** Few enough that others get their turn, so many that what a chunk costs beside its messages does not matter. */
export const chunkDevices = 1_000
/** Of a broadcast's first chunk: the first push does not wait until a thousand are found, rendered and written. */
const firstDevices = 100
/** Of one trigger, for each worker there is: others get their turn in between. */
const chunksPerWorker = 2
/** At most so many chunks are planned in one go. */
export const chunksPerStep = 4
const targetsPerStep = 200
/** Over half an hour, with the usual waits between them. */
const maxAttempts = 12
/** Users that are looked at in one go. */
export const windows = { least: 500, first: 2_000, most: 20_000 }
/** How many slow triggers are remembered; one that is forgotten only takes longer. */
const mostSlow = 10_000

/** Where few match the next window is twice as wide: what a step costs beside its look matters less. */
export const widened = (window: number, found: number) => (found < chunkDevices ? window * 2 : windows.first)

export interface ExpansionOptions {
  pool: Pool
  versions: Versions
  onEnded: OnEnded
  /** How many processes work on jobs. */
  workers: () => number
  runChunk(payload: ChunkPayload, context: JobContext, inline: boolean): Promise<void>
  /** Goes on with a trigger that is being canceled. */
  goOnCanceling(projectId: ProjectId, triggerId: string): Promise<void>
  paused: Messages['paused']
}

/** Somebody else has taken this step, or the trigger is to end. */
class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** What one step found: the next devices, and where the one after it begins. */
interface Step {
  deviceIds: string[]
  skips: chunks.Skip[]
  cursor: string
  outcome: TriggerOutcome | null
  reason: string | null
}

/**
 * Turns an audience into chunks, a window at a time. The cursor moves in the transaction that adds the chunks, so this
 * can die anywhere and be done by somebody else; it stops when enough chunks are open, and a chunk that is done wakes it.
 */
export function createExpansion(options: ExpansionOptions) {
  const { pool, versions, onEnded, workers, runChunk, goOnCanceling, paused } = options
  /** Whose segment took too long for a large window: they go on with small ones, also when they are woken again. */
  const slow = new Set<string>()

  async function expand({ projectId, triggerId }: Wake, context: JobContext): Promise<void> {
    let window: number = slow.has(triggerId) ? windows.least : windows.first
    let most: number = slow.has(triggerId) ? windows.least : windows.most
    for (;;) {
      context.signal.throwIfAborted()
      const work = await chunks.loadWork(pool, projectId, triggerId)
      if (!work || terminal.has(work.state)) return
      if (work.outcome === 'canceled') return goOnCanceling(projectId, triggerId)
      // The resume of the project wakes this trigger.
      if (await paused(projectId)) return
      const open = await chunks.openChunks(pool, projectId, triggerId)
      if (work.outcome !== null) return wakeChunks(projectId, triggerId, open)
      const room = chunksPerWorker * workers() - open.filter(({ held }) => !held).length
      if (room <= 0) return wakeChunks(projectId, triggerId, open)
      const campaign = await versions.get(projectId, work.campaign_id, work.campaign_version)
      try {
        const step = await nextStep(projectId, work, campaign.definition, campaign.segmentFor(work), window, room)
        window = Math.min(most, widened(window, step.deviceIds.length))
        const only = await take(projectId, work, campaign.definition, step)
        if (only !== undefined) return runChunk({ projectId, triggerId, number: only }, context, true)
        if (step.outcome) return void slow.delete(triggerId)
      } catch (error) {
        if (error instanceof Overtaken) return
        if (!(error instanceof SegmentFailed)) throw error
        // A segment may be slow without being hostile: it is given a small window before it is given up.
        if (error.reason === 'segment_invalid' || window === windows.least) {
          slow.delete(triggerId)
          return fail(projectId, work, error.reason)
        }
        if (slow.size >= mostSlow) slow.clear()
        slow.add(triggerId)
        window = most = windows.least
      }
    }
  }

  async function nextStep(
    projectId: ProjectId,
    work: chunks.Work,
    definition: Campaign,
    segment: SegmentAt,
    window: number,
    room: number
  ): Promise<Step> {
    const ofDefault =
      work.audience === 'default' && definition.default_audience ? readAudience(definition.default_audience) : null
    if (work.audience === 'default' && !ofDefault)
      return { deviceIds: [], skips: [], cursor: '', outcome: 'completed', reason: 'no_audience' }
    const broadcast = work.audience === 'broadcast' || (ofDefault && 'broadcast' in ofDefault)
    return broadcast
      ? nextWindow(
          projectId,
          work,
          segment,
          window,
          work.cursor === '' ? firstDevices : Math.min(room, chunksPerStep) * chunkDevices
        )
      : nextTargets(projectId, work, segment, ofDefault)
  }

  async function nextWindow(
    projectId: ProjectId,
    { cursor }: chunks.Work,
    segment: SegmentAt,
    size: number,
    limit: number
  ): Promise<Step> {
    if (segment(1).nobody)
      return { deviceIds: [], skips: [], cursor, outcome: 'completed', reason: 'missing_trigger_property' }
    const { deviceIds, next } = await matchWindow(pool, projectId, segment, placeOf(cursor), size, limit)
    return {
      deviceIds,
      skips: [],
      cursor: next ? cursorOf(next) : cursor,
      outcome: next ? null : 'completed',
      reason: null
    }
  }

  async function nextTargets(
    projectId: ProjectId,
    { id, cursor }: chunks.Work,
    segment: SegmentAt,
    ofDefault: StoredAudience | null
  ): Promise<Step> {
    const from = Number(cursor)
    const to = from + targetsPerStep
    const { length, targets } =
      ofDefault && 'targets' in ofDefault
        ? sliceOf(ofDefault.targets, from, to)
        : await chunks.sliceTargets(pool, projectId, id, from, to)
    const { deviceIds, skips } = await resolveTargets(pool, projectId, segment, targets)
    const own = skips.map((skip) => ({ ...skip, triggerId: id }))
    return { deviceIds, skips: own, cursor: String(to), outcome: to >= length ? 'completed' : null, reason: null }
  }

  /** Books a step. Answers the number of its chunk where that is all there is: then nobody else has to be woken for it. */
  const take = (projectId: ProjectId, work: chunks.Work, definition: Campaign, step: Step) =>
    againIfRaced(() =>
      pool.transaction(async (tx) => {
        const at = new Date()
        const size = Math.min(chunkDevices, definition.throttle_per_second ?? chunkDevices)
        const parts = inParts(step.deviceIds, size)
        const due = await dueTimes(tx, projectId, work.campaign_id, definition, parts, at)
        const advance = { from: work.cursor, to: step.cursor, chunks: parts.length, ...pick(step) }
        // Before the trigger is locked: they wait for users, and whoever deletes a user waits for its triggers.
        const skips = await chunks.addSkips(tx, projectId, step.skips, at)
        const last = await chunks.advanceTrigger(tx, projectId, work.id, advance, at)
        if (last === undefined) throw new Overtaken()
        const added = parts.map((deviceIds, index) => ({
          number: last - parts.length + 1 + index,
          deviceIds,
          dueAt: due[index]!,
          held: false
        }))
        await chunks.addChunks(tx, projectId, work.id, added)
        const delta = nothing(work.id)
        delta.skipped = skips.length
        delta.targeted = delta.skipped + step.deviceIds.length
        for (const { reason } of skips) tally(delta.skippedFor, reason)
        await addToCounters(tx, projectId, [delta], onEnded)
        const [first] = added
        const alone = step.outcome !== null && last === 1 && first && first.dueAt <= at
        if (!alone) await addChunkJobs(tx, projectId, work.id, added)
        return alone ? first.number : undefined
      })
    )

  /** A throttle lets chunks go one after the other, in turn with other triggers of the campaign. */
  async function dueTimes(
    tx: Db,
    projectId: ProjectId,
    campaignId: string,
    { throttle_per_second: perSecond }: Campaign,
    parts: string[][],
    at: Date
  ): Promise<Date[]> {
    if (perSecond === undefined || parts.length === 0) return parts.map(() => at)
    const all = parts.reduce((sum, part) => sum + part.length, 0)
    let next = (await reserveThrottle(tx, projectId, campaignId, all, perSecond, at)).getTime()
    return parts.map((part) => {
      const from = next
      next += (part.length * 1000) / perSecond
      return new Date(from)
    })
  }

  /** For what a crash or a restored backup has lost. Jobs that wait or run are left as they are. */
  async function wakeChunks(projectId: ProjectId, triggerId: string, open: { number: number; due_at: Date }[]) {
    const keys = open.map(({ number }) => chunkKey(triggerId, number))
    const known = await knownKeys(pool, chunkJobRef.name, keys)
    // What is held for hours has time to be found when it is due.
    const soon = Date.now() + 60_000
    const lost = open.filter(({ number, due_at }) => !known.has(chunkKey(triggerId, number)) && due_at.getTime() < soon)
    const jobs = lost.map(({ number, due_at }) => ({ number, dueAt: due_at }))
    await addChunkJobs(pool, projectId, triggerId, jobs)
  }

  /** What has been planned still goes out: only the rest of the audience cannot be found. */
  const fail = (projectId: ProjectId, work: chunks.Work, reason: string) =>
    pool.transaction(async (tx) => {
      const step = { from: work.cursor, to: work.cursor, chunks: 0, outcome: 'failed' as const, reason }
      await chunks.advanceTrigger(tx, projectId, work.id, step, new Date())
      await addToCounters(tx, projectId, [nothing(work.id)], onEnded)
    })

  async function giveUp({ projectId, triggerId }: Wake): Promise<void> {
    const work = await chunks.loadWork(pool, projectId, triggerId)
    if (work && work.outcome === null) await fail(projectId, work, 'internal_error')
  }

  return defineJob<Wake>({ ...expandJobRef, maxAttempts, run: unlessGone(orGiveUp(expand, giveUp)) })
}

export const addChunkJobs = (
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  added: { number: number; dueAt: Date }[]
) =>
  addMany<ChunkPayload>(
    db,
    chunkJobRef,
    added.map(({ number, dueAt }) => ({
      payload: { projectId, triggerId, number },
      projectId,
      key: chunkKey(triggerId, number),
      runAt: dueAt
    }))
  )

const pick = ({ outcome, reason }: Step) => ({ outcome, reason })

function sliceOf(targets: StoredTarget[], from: number, to: number) {
  return { length: targets.length, targets: targets.slice(from, to) }
}

const cursorOf = ({ user, device }: Place): string => (device === null ? user : `${user} ${device}`)

function placeOf(cursor: string): Place {
  if (cursor === '') return { user: firstUser, device: null }
  return { user: cursor.slice(0, 36), device: cursor.length > 36 ? cursor.slice(37) : null }
}
