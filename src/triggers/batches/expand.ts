import type { Campaign, Versions } from '../../campaigns/campaigns.ts'
import type { Messages } from '../../messages/messages.ts'
import type { Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { defineJob, type JobContext } from '../../platform/jobs/definition.ts'
import { orGiveUp } from '../../platform/jobs/give-up.ts'
import { inParts } from '../../platform/parts.ts'
import { SegmentFailed } from '../../segments/segments.ts'
import { learnProjects } from '../../users/users.ts'
import { addToCounters, type OnEnded } from '../counting/counter-store.ts'
import { noChange } from '../counting/delta.ts'
import { terminal } from '../store.ts'
import { expandJobRef, type Wake } from '../wake.ts'
import type { Batches } from './batch.ts'
import { addBatchJobs, restoreBatchJobs } from './batch-jobs.ts'
import { addSkips, insertBatches, openBatches } from './batch-store.ts'
import { deltaOf } from './draft.ts'
import { advanceTrigger, loadTrigger, type RunningTrigger } from './expansion-store.ts'
import { unlessErased } from './job-errors.ts'
import { batchDevices, nextStep, type Step, usersPerStep, widened } from './step.ts'
import { dueTimes, isNow, takeFreedTurns } from './throttle.ts'

/** The most open batches of one trigger for each worker, so that other triggers get a turn in between. */
const batchesPerWorker = 2
/** The attempts take over half an hour, with the usual waits between them. */
const maxAttempts = 12
/** Slow triggers that are remembered. A forgotten one only takes longer. */
const maxSlow = 10_000

export interface ExpansionOptions {
  pool: Pool
  versions: Versions
  onEnded: OnEnded
  /** Returns the number of processes that run jobs. */
  workers: () => number
  batches: Batches
  /** Continues the cancellation of a trigger. */
  continueCancel(projectId: ProjectId, triggerId: string): Promise<void>
  paused: Messages['paused']
}

/** Another worker took this step, or the trigger ends. */
class Overtaken extends Error {
  override readonly name = 'Overtaken'
}

/** Users that the steps of one run look at: `now` in the next one, `most` in any. */
interface Reach {
  now: number
  most: number
}

/**
 * Expands audiences into batches, step by step. The cursor moves in the transaction that adds the batches, so another
 * worker can take over after a crash. The expansion stops while enough batches are open, and a finished batch wakes it.
 */
export class Expansion {
  readonly #options: ExpansionOptions
  /** Triggers whose segment was too slow for many users. They continue with few, also when they are woken again. */
  readonly #slow = new Set<string>()

  constructor(options: ExpansionOptions) {
    this.#options = options
  }

  readonly job = defineJob<Wake>({
    ...expandJobRef,
    maxAttempts,
    ...orGiveUp(
      unlessErased((ref, job) => this.#run(ref, job)),
      (ref) => this.#giveUp(ref)
    )
  })

  async #run(ref: Wake, job: JobContext): Promise<void> {
    const { least, first, most } = usersPerStep
    const slow = this.#slow.has(ref.triggerId)
    const reach = { now: slow ? least : first, most: slow ? least : most }
    for (;;) {
      job.signal.throwIfAborted()
      if (await this.#step(ref, reach, job)) return
    }
  }

  /** Takes one step. Returns whether this run is done. */
  async #step({ projectId, triggerId }: Wake, reach: Reach, job: JobContext): Promise<boolean> {
    const { pool, versions, workers, batches, continueCancel, paused } = this.#options
    const trigger = await loadTrigger(pool, projectId, triggerId)
    if (!trigger || terminal.has(trigger.state)) return true
    if (trigger.outcome === 'canceled') {
      await continueCancel(projectId, triggerId)
      return true
    }
    // The resume of the project wakes this trigger.
    if (await paused(projectId)) return true
    const open = await openBatches(pool, projectId, triggerId)
    const room = batchesPerWorker * workers() - open.filter(({ deferred }) => !deferred).length
    const ready = await versions.get(projectId, trigger.campaign_id, trigger.campaign_version)
    if (trigger.outcome !== null || room <= 0) {
      await takeFreedTurns(pool, projectId, trigger, ready.definition)
      await restoreBatchJobs(pool, projectId, triggerId, open)
      return true
    }
    try {
      const step = await nextStep(pool, projectId, trigger, ready, reach.now, room)
      // Its batches look thousands of devices up: in an unknown project each look-up could read all of them. A failure
      // makes them slow and nothing worse; the job that looks every minute reports it.
      if (step.deviceIds.length > batchDevices) await learnProjects(pool, [projectId]).catch(() => {})
      reach.now = Math.min(reach.most, widened(reach.now, step.deviceIds.length))
      const only = await this.#book(projectId, trigger, ready.definition, step)
      if (only !== undefined) await batches.run({ projectId, triggerId, number: only }, job, true)
      else if (step.outcome) this.#slow.delete(triggerId)
      return only !== undefined || step.outcome !== null
    } catch (error) {
      if (error instanceof Overtaken) return true
      if (!(error instanceof SegmentFailed)) throw error
      return this.#narrowOrFail(projectId, trigger, error, reach)
    }
  }

  /** A segment may be slow without being hostile, so it gets a step with few users before its trigger fails. */
  async #narrowOrFail(projectId: ProjectId, trigger: RunningTrigger, { reason }: SegmentFailed, reach: Reach) {
    if (reason === 'segment_invalid' || reach.now === usersPerStep.least) {
      this.#slow.delete(trigger.id)
      await this.#fail(projectId, trigger, reason)
      return true
    }
    if (this.#slow.size >= maxSlow) this.#slow.clear()
    this.#slow.add(trigger.id)
    reach.now = reach.most = usersPerStep.least
    return false
  }

  /** Writes a step. Returns the number of its batch if that is the only one: this run then sends it, without a job. */
  #book(projectId: ProjectId, trigger: RunningTrigger, definition: Campaign, step: Step): Promise<number | undefined> {
    const { pool, onEnded } = this.#options
    return againIfRaced(() =>
      pool.transaction(async (tx) => {
        const at = new Date()
        const size = Math.min(batchDevices, definition.throttle_per_second ?? batchDevices)
        const parts = inParts(step.deviceIds, size)
        const due = await dueTimes(tx, projectId, trigger.campaign_id, definition, parts, at)
        const { outcome, reason } = step
        const advance = { from: trigger.cursor, to: step.cursor, batches: parts.length, outcome, reason }
        // Before the trigger is locked: skips wait for users, and deleting a user waits for its triggers.
        const skips = await addSkips(tx, projectId, step.skips, at)
        const last = await advanceTrigger(tx, projectId, trigger.id, advance, at)
        if (last === undefined) throw new Overtaken()
        const added = parts.map((deviceIds, index) => ({
          number: last - parts.length + 1 + index,
          deviceIds,
          ...(step.places && { places: step.places.slice(index * size, (index + 1) * size) }),
          dueAt: due[index]!,
          deferred: false
        }))
        await insertBatches(tx, projectId, trigger.id, added)
        const delta = deltaOf(trigger.id, [], skips, new Map())
        delta.targeted += step.deviceIds.length
        await addToCounters(tx, projectId, [delta], onEnded)
        const [first] = added
        const alone = outcome !== null && last === 1 && first && isNow(first.dueAt, at)
        if (!alone) await addBatchJobs(tx, projectId, trigger.id, added)
        return alone ? first.number : undefined
      })
    )
  }

  /** Fails the rest of the audience. Batches that were planned are sent. */
  async #fail(projectId: ProjectId, trigger: RunningTrigger, reason: string): Promise<void> {
    const { pool, onEnded } = this.#options
    await pool.transaction(async (tx) => {
      const step = { from: trigger.cursor, to: trigger.cursor, batches: 0, outcome: 'failed' as const, reason }
      await advanceTrigger(tx, projectId, trigger.id, step, new Date())
      await addToCounters(tx, projectId, [noChange(trigger.id)], onEnded)
    })
  }

  async #giveUp({ projectId, triggerId }: Wake): Promise<void> {
    const trigger = await loadTrigger(this.#options.pool, projectId, triggerId)
    if (trigger && trigger.outcome === null) await this.#fail(projectId, trigger, 'internal_error')
  }
}
