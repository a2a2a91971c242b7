import {
  findEndpoints,
  loadRecipients,
  lockCampaign,
  lookUpWinners,
  notAfterOf,
  noteLongWait,
  overCap,
  type ProjectOf,
  type ProjectRules,
  type Ready,
  rulesFor,
  type Versions
} from '../../campaigns/campaigns.ts'
import type { MessageRow, Messages } from '../../messages/messages.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { defineJob, type JobContext } from '../../platform/jobs/definition.ts'
import { orGiveUp } from '../../platform/jobs/give-up.ts'
import { steadyMs } from '../../platform/time.ts'
import { topicDefaults } from '../../preferences/preferences.ts'
import { addToCounters, type OnEnded } from '../counting/counter-store.ts'
import { addTo, type Delta, noChange, partOf, skipPlanned } from '../counting/delta.ts'
import { uncountUsers } from '../counting/users-store.ts'
import { wake } from '../wake.ts'
import { addBatchJobs, type BatchRef, batchJobRef } from './batch-jobs.ts'
import * as store from './batch-store.ts'
import { atOnce, type Drafts, deltaOf, draftMessages, usersOf } from './draft.ts'
import { loadTrigger, type RunningTrigger, reserveBatches, targetProperties } from './expansion-store.ts'
import type { FreeSlots } from './free-slots.ts'
import { ownedByOthers, unlessErased } from './job-errors.ts'
import { withinMessageLimits } from './message-limit.ts'
import { withinLimit } from './recipient-limit.ts'
import { withoutRepeats } from './repeats.ts'
import { delayNextStep, enterSteps, type Sequences, withoutUsers } from './sequence.ts'
import { awaitTurn } from './throttle.ts'

/** How long a batch waits for gateways. Messages they have not taken by then are released, and other jobs get a turn. */
const dispatchMs = 5_000
/** The attempts take over half an hour, with the usual waits between them. */
const maxAttempts = 12

/** The state in which a run finds its batch. */
type Claim =
  /** This run wrote the messages. */
  | { state: 'ours'; messages: MessageRow[] }
  /** An earlier run wrote them and did not finish: its worker died, or lost its lease. */
  | { state: 'resumed'; messages: MessageRow[] }
  /** Another run wrote them after this one read the batch, and dispatches them. */
  | { state: 'busy'; messages: MessageRow[] }
  /** The trigger was canceled before they were written. */
  | { state: 'canceled' }

/** Rules beside those of the campaign. `left`: users who have left its steps. */
type BatchRules = ProjectRules & { left: ReadonlySet<string> }

/** Rolls back the messages of a batch whose trigger was canceled meanwhile. */
class Canceled extends Error {
  override readonly name = 'Canceled'
}

export interface BatchesOptions {
  pool: Pool
  messages: Pick<
    Messages,
    'persist' | 'findUnanswered' | 'byOwner' | 'dispatch' | 'release' | 'cancelClaimed' | 'paused'
  >
  versions: Versions
  onEnded: OnEnded
  freeSlots: FreeSlots
  projectOf: ProjectOf
  sequences: () => Sequences
}

/** Sends batches of triggers. */
export class Batches {
  readonly #pool: Pool
  readonly #messages: BatchesOptions['messages']
  readonly #versions: Versions
  readonly #onEnded: OnEnded
  readonly #freeSlots: FreeSlots
  readonly #projectOf: ProjectOf
  readonly #sequences: () => Sequences

  constructor({ pool, messages, versions, onEnded, freeSlots, projectOf, sequences }: BatchesOptions) {
    this.#pool = pool
    this.#messages = messages
    this.#versions = versions
    this.#onEnded = onEnded
    this.#freeSlots = freeSlots
    this.#projectOf = projectOf
    this.#sequences = sequences
  }

  readonly job = defineJob<BatchRef>({
    ...batchJobRef,
    maxAttempts,
    ...orGiveUp(
      unlessErased((ref, job) => this.run(ref, job)),
      (ref) => this.giveUp(ref)
    )
  })

  /**
   * Sends one batch. Safe to repeat: messages are unique by trigger and device. `inline`: the job belongs to the expansion
   * of the trigger, which ends it.
   */
  async run(ref: BatchRef, job: JobContext, inline = false): Promise<void> {
    const { projectId, triggerId, number } = ref
    const trigger = await loadTrigger(this.#pool, projectId, triggerId)
    const batch = trigger && (await store.findBatch(this.#pool, projectId, triggerId, number))
    if (!trigger || !batch) return
    // A planned batch waits for the resume. Written messages are dispatched nevertheless, which defers them until then.
    if (batch.state === 'planned' && (await this.#messages.paused(projectId))) return
    const claim = await this.#claim(projectId, trigger, batch)
    // cancel() deletes batches that were not written.
    if (claim.state === 'canceled') return
    // cancel() leaves written batches to their run, so a run that resumes one must not send what is left of it.
    const discarded =
      claim.state === 'resumed' && trigger.outcome === 'canceled'
        ? await this.#unowned(projectId, claim.messages)
        : null
    if (claim.state !== 'busy' && !discarded) await this.#dispatch(projectId, claim.messages, job)
    // Messages that were not dispatched are retried without their batch, so the batch is done, also when the worker stops
    // and may not end its job.
    await this.#pool.transaction(async (tx) => {
      if (discarded) await this.#messages.cancelClaimed(tx, projectId, triggerId, discarded)
      await this.#release(tx, ref, claim.messages)
      if (!inline && !job.signal.aborted) await job.complete(tx)
    })
  }

  async #claim(projectId: ProjectId, trigger: RunningTrigger, batch: store.BatchRow): Promise<Claim> {
    const earlier = () => this.#messages.findUnanswered(projectId, [trigger.id], batch.device_ids)
    if (batch.state === 'written') return { state: 'resumed', messages: await earlier() }
    const ready = await this.#versions.get(projectId, trigger.campaign_id, trigger.campaign_version)
    await awaitTurn(this.#pool, projectId, trigger, batch, ready.definition)
    // Also where the campaign has no cap: one that is set later counts these messages.
    await noteLongWait(this.#pool, projectId, trigger)
    // Before the transaction, which must not wait for a second connection.
    const left = await this.#left(projectId, trigger, batch, ready)
    const rules = { ...(await rulesFor(this.#projectOf, projectId, ready.definition)), left }
    try {
      const messages = await againIfRaced((again) =>
        this.#pool.transaction((tx) => this.#write(tx, projectId, trigger, batch, ready, rules, !again))
      )
      return messages ? { state: 'ours', messages } : { state: 'busy', messages: await earlier() }
    } catch (error) {
      if (error instanceof Canceled) return { state: 'canceled' }
      throw error
    }
  }

  /** The users who have left the steps of the campaign since the batch was deferred. */
  async #left(projectId: ProjectId, trigger: RunningTrigger, batch: store.BatchRow, { definition }: Ready) {
    if (!batch.deferred || !definition.exit) return new Set<string>()
    return this.#sequences().exited(projectId, trigger, await loadOwn(this.#pool, projectId, trigger.id, batch))
  }

  /**
   * Writes all messages of a batch and counts them. Returns undefined if another run did so since the batch was read: the
   * second of two runs waits for the row of the batch, and then finds it written.
   */
  async #write(
    tx: Db,
    projectId: ProjectId,
    trigger: RunningTrigger,
    read: store.BatchRow,
    ready: Ready,
    rules: BatchRules,
    areNew: boolean
  ): Promise<MessageRow[] | undefined> {
    // Makes the cap exact for triggers that run at the same time. Before the batch: the throttle and a cancel lock the
    // campaign and then its batches.
    if (ready.definition.frequency_cap) await lockCampaign(tx, projectId, trigger.campaign_id)
    const claimed = await store.claimBatch(tx, projectId, trigger.id, read.number)
    if (!claimed) return undefined
    const batch = { ...read, ...claimed }
    const drafted = await this.#draft(tx, projectId, trigger, batch, ready, rules)
    const allowed = await withinMessageLimits(tx, projectId, trigger.id, rules.limits, drafted)
    const once = await withoutRepeats(tx, projectId, trigger, allowed)
    const drafts = await withinLimit(tx, projectId, trigger, once)
    const deferred = await store.lockDevices(tx, projectId, drafts.deferred)
    const rows = await this.#messages.persist(tx, projectId, drafts.messages, { owner: 'untimed', areNew })
    const own = new Set(drafts.messages.map(({ messageId }) => messageId))
    // A device that another batch of this trigger has reached already is not counted twice.
    const written = rows.filter(({ message_id }) => own.has(message_id))
    const skips = await store.addSkips(tx, projectId, drafts.skips, new Date())
    const delta = deltaOf(trigger.id, written, skips, deferred)
    if (batch.counted) subtractPlanned(delta, batch.device_ids.length, drafts.deleted)
    const { recipients } = drafts
    const waits = { wasDeferred: batch.deferred, recipients, deferred, written }
    // Before the trigger is locked: of two batches with the same next step, one holds its job and then wants the trigger.
    await delayNextStep(tx, projectId, { trigger, ready }, waits, this.#sequences())
    await this.#defer(tx, projectId, trigger, deferred, batch)
    const [counted] = await addToCounters(tx, projectId, [delta], this.#onEnded)
    if (!counted || counted.outcome === 'canceled') throw new Canceled()
    if (counted.batches > 1) await countOnce(tx, projectId, trigger, batch, ready, usersOf(written, skips))
    return written
  }

  async #draft(
    tx: Db,
    projectId: ProjectId,
    trigger: RunningTrigger,
    batch: store.BatchRow,
    ready: Ready,
    { quietHours, left }: BatchRules
  ) {
    const { definition } = ready
    const { device_ids, deferred, quiet_until } = batch
    const loaded = await loadOwn(tx, projectId, trigger.id, batch)
    const staying = withoutUsers(trigger.id, loaded, left, 'exited')
    const entering = { trigger, ready, recipients: staying.entered }
    const { entered: recipients, refused } = await enterSteps(tx, projectId, entering, this.#sequences())
    const endpoints = await findEndpoints(tx, projectId, definition.live_activity, recipients)
    const of = { campaignId: trigger.campaign_id, triggerId: trigger.id }
    const capped = await overCap(tx, projectId, definition, of, [...new Set(recipients.map((one) => one.user_id))])
    const topics = await topicDefaults(tx, projectId, definition.topic === undefined ? [] : [definition.topic])
    const notAfter = notAfterOf(definition, liveFrom(trigger, batch))
    const texts = ready.texts(trigger.step)
    const winnerOf = await lookUpWinners(tx, projectId, [{ campaignId: trigger.campaign_id, texts }])
    const winner = winnerOf(trigger.campaign_id, texts)
    // The job of a held batch becomes due by the clock of the database. On a node whose clock is behind, the quiet hours that
    // have ended would hold it again and again.
    const now = new Date(deferred ? Math.max(Date.now(), quiet_until.getTime()) : Date.now())
    const limits = { endpoints, topics, quietHours, capped, notAfter, now }
    const drafts = await draftMessages({ trigger, ready, recipients, ...limits, winner })
    return {
      ...drafts,
      skips: [...staying.refused, ...refused, ...drafts.skips],
      recipients,
      deleted: device_ids.length - loaded.length
    }
  }

  /** Adds one batch for each time at which deferred devices are due. */
  async #defer(
    tx: Db,
    projectId: ProjectId,
    trigger: RunningTrigger,
    deferred: Drafts['deferred'],
    batch: store.BatchRow
  ): Promise<void> {
    if (deferred.size === 0) return
    const { device_ids, places } = batch
    const { id: triggerId } = trigger
    const placeOf = places && new Map(device_ids.map((id, index) => [id, places[index]!]))
    const last = await reserveBatches(tx, projectId, triggerId, deferred.size)
    if (last === undefined) return
    const added = [...deferred].map(([dueMs, deviceIds], index) => ({
      number: last - index,
      deviceIds,
      ...(placeOf && { places: deviceIds.map((id) => placeOf.get(id)!) }),
      dueAt: dueMs === atOnce ? new Date() : new Date(dueMs),
      deferred: true,
      ...(dueMs === atOnce && { liveFrom: liveFrom(trigger, batch) })
    }))
    await store.insertBatches(tx, projectId, triggerId, added)
    await addBatchJobs(tx, projectId, triggerId, added)
  }

  /** Messages that no live process owns. Throws to wait while another process owns some. */
  async #unowned(projectId: ProjectId, messages: MessageRow[]): Promise<MessageRow[]> {
    const { free, others } = await this.#messages.byOwner(projectId, messages)
    if (others.length > 0) throw ownedByOthers()
    return free
  }

  /** Skips messages that this process owns already, so a run that follows a failed one sends none of them twice. */
  async #dispatch(projectId: ProjectId, messages: MessageRow[], job: JobContext): Promise<void> {
    const options = { deadline: steadyMs() + dispatchMs, signal: job.signal }
    const others = await this.#freeSlots(job, messages.length, () =>
      this.#messages.dispatch(projectId, messages, options)
    )
    if (others.length > 0) throw ownedByOthers()
  }

  /** Deletes the batch, and gives its open messages a time at which they are retried. */
  async #release(tx: Db, { projectId, triggerId, number }: BatchRef, messages: MessageRow[]): Promise<void> {
    await this.#messages.release(tx, projectId, messages)
    if (await store.deleteBatch(tx, projectId, triggerId, number))
      await this.#close(tx, projectId, { ...noChange(triggerId), openBatches: -1 })
  }

  /** After the last attempt: devices without a message have failed. */
  async giveUp({ projectId, triggerId, number }: BatchRef): Promise<void> {
    await this.#pool.transaction(async (tx) => {
      const batch = await store.findBatch(tx, projectId, triggerId, number)
      const deleted = batch && (await store.deleteBatch(tx, projectId, triggerId, number))
      if (!deleted) return
      const messages = await this.#messages.findUnanswered(projectId, [triggerId], batch.device_ids, tx)
      await this.#messages.release(tx, projectId, messages)
      const delta = { ...noChange(triggerId), openBatches: -1 }
      if (deleted.state === 'planned') {
        const { devices } = deleted
        addTo(delta, 'failed', undefined, devices)
        partOf(delta).targeted = devices
        delta.targeted = batch.counted ? 0 : devices
        delta.failedFor = { INTERNAL_ERROR: devices }
      }
      await this.#close(tx, projectId, delta)
    })
  }

  /** Counts a batch that is done, and wakes the expansion if it has not reached the end of the audience. */
  async #close(tx: Db, projectId: ProjectId, delta: Delta): Promise<void> {
    const [counted] = await addToCounters(tx, projectId, [delta], this.#onEnded)
    if (counted?.outcome === null) await wake(tx, { projectId, triggerId: delta.id })
  }
}

/** The time from which the messages of a batch live: the end of the quiet hours that held it, or the start of the trigger. */
const liveFrom = ({ started_at }: RunningTrigger, { deferred, quiet_until }: store.BatchRow): Date =>
  deferred ? quiet_until : started_at

/** The devices of a batch with their users, and with the properties of their targets. */
async function loadOwn(db: Db, projectId: ProjectId, triggerId: string, { device_ids, places }: store.BatchRow) {
  const recipients = await loadRecipients(db, projectId, device_ids)
  if (!places) return recipients
  const own = await targetProperties(db, projectId, triggerId, places)
  const ownOf = new Map(device_ids.map((id, index) => [id, own.get(places[index]!)]))
  return recipients.map((recipient) => ({ ...recipient, own: ownOf.get(recipient.device_id) }))
}

/**
 * Users with devices in several batches count once. A broadcast finds users in order, so only the first and the last one
 * of a batch can have devices in another.
 */
async function countOnce(
  tx: Db,
  projectId: ProjectId,
  trigger: RunningTrigger,
  { device_ids, deferred }: store.BatchRow,
  { definition: { default_audience } }: Ready,
  users: ReturnType<typeof usersOf>
): Promise<void> {
  const ids = [...users.keys()].sort()
  const isBroadcast =
    trigger.audience === 'broadcast' || (trigger.audience === 'default' && default_audience?.broadcast === true)
  const shared = isBroadcast && !deferred ? new Set([ids[0], ids.at(-1)]) : ids
  const counted = [...shared].flatMap((id) => {
    const said = id && users.get(id)
    return said ? { user_id: id, variant: said.variant ?? '', language: said.language ?? '' } : []
  })
  if (counted.length > 0) await uncountUsers(tx, projectId, trigger, counted, device_ids)
}

/** Devices of a batch count as targeted when it is planned. Those of users deleted since count as canceled. */
function subtractPlanned(delta: Delta, planned: number, deleted: number): void {
  delta.targeted += deleted - planned
  skipPlanned(delta, 'canceled', deleted)
}
