import type { Campaigns, ProjectOf } from '../campaigns/campaigns.ts'
import { checkDeviceId } from '../devices/devices.ts'
import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { Refusal } from '../platform/errors.ts'
import { findClaims, type IdempotencyKey } from '../platform/idempotency/idempotency.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { checkProjectUserId } from '../users/users.ts'
import { acceptInternal, createAccept, type Reserve } from './accept.ts'
import { Batches } from './batches/batch.ts'
import { heldUsers } from './batches/batch-store.ts'
import { cancelDeferred } from './batches/deferred.ts'
import { Expansion } from './batches/expand.ts'
import { canceledAmong, propertiesOf } from './batches/expansion-store.ts'
import { createFreeSlots } from './batches/free-slots.ts'
import type { Sequences } from './batches/sequence.ts'
import { createSkipUsers } from './batches/skip-users.ts'
import { SmallTriggers } from './batches/small.ts'
import { Cancel } from './cancel.ts'
import { notifyAndPublish, type OnTriggersEnded } from './counting/outcomes.ts'
import { createDiscard } from './discard.ts'
import { createExplain, type Explained } from './explain/explain.ts'
import { keepTriggersJob, sweepTriggersJob } from './jobs.ts'
import { countOpen } from './maintenance-store.ts'
import { createRecheck } from './recheck.ts'
import { resumeJob, scheduleResume } from './resume.ts'
import { createMove } from './scheduled/move.ts'
import { releaseJob } from './scheduled/release.ts'
import { createSizes, type TriggerSize } from './size.ts'
import { eraseTriggerWindow, findTrigger, listTriggers, type TriggerRow } from './store.ts'
import { createStreams } from './stream.ts'

export { whyRefused } from './accept.ts'
export { canceledAmong } from './batches/expansion-store.ts'
export type { Sequences, SequenceTrigger } from './batches/sequence.ts'
export { countOnTrigger } from './counting/outcomes.ts'
export { countWaitingTriggers } from './discard-store.ts'
export type { Explained } from './explain/explain.ts'
export { skipsOfUser } from './explain/explain-store.ts'
export type { PermittedTrigger } from './permit.ts'
export { triggerResponse } from './response.ts'
export type { TriggerSource } from './schemas.ts'
export type { NewTrigger, TriggerRow } from './store.ts'
export type Triggers = ReturnType<typeof createTriggers>

export interface TriggersOptions {
  pool: Pool
  listener: Listener
  metrics: Metrics
  messages: Messages
  campaigns: Pick<Campaigns, 'versions'>
  /** Its limits and quiet hours over all campaigns. */
  projectOf: ProjectOf
  idempotencyHours: number
  /** The number of processes that run jobs. */
  workers: () => number
  /** A slot of this process for a job that it adds. */
  reserve: Reserve
  /** Users in the steps of campaigns. */
  sequences: () => Sequences
  /** Receives triggers that end in this capability; `countOnTrigger` passes on those that an outcome ends. */
  onTriggersEnded: OnTriggersEnded
}

/** Triggers: each sends a campaign to the users and devices that match when it runs. */
export function createTriggers(options: TriggersOptions) {
  const { pool, listener, messages, workers, projectOf, sequences } = options
  options.metrics.gauge(
    'tidings_triggers',
    'Triggers of the whole installation that are under way.',
    () => countOpen(pool),
    {
      of: 'all'
    }
  )
  const onEnded = notifyAndPublish(options.onTriggersEnded)
  const { versions } = options.campaigns
  const cancel = new Cancel({ pool, messages, onEnded })
  const move = createMove(options)
  const freeSlots = createFreeSlots()
  const batches = new Batches({ pool, messages, versions, onEnded, freeSlots, projectOf, sequences })
  const expansion = new Expansion({
    pool,
    versions,
    onEnded,
    workers,
    batches,
    continueCancel: (projectId, triggerId) => cancel.continue(projectId, triggerId),
    paused: messages.paused
  })
  const small = new SmallTriggers({ pool, messages, versions, onEnded, freeSlots, projectOf, sequences })
  const sizeOf = createSizes(pool, versions)
  const explain = createExplain({ pool, versions, projectOf, pausedSince: messages.pausedSince })

  return {
    streams: createStreams(pool, listener),
    /** Writes the trigger and returns its id; workers do the rest. */
    accept: createAccept(options),

    /** Accepts triggers that the service itself makes, in the transaction of their cause. */
    acceptInternal,

    /** Counts users that the service left out of a trigger of its own, each with a reason. */
    skipUsers: createSkipUsers(onEnded),

    /** The properties of triggers that still exist, by their ids. */
    propertiesOf,
    canceledAmong,
    heldUsers,

    /** Whether a trigger was accepted under this key: a repeat returns it, and a request with another body is refused. */
    async isAccepted(projectId: ProjectId, key: IdempotencyKey): Promise<boolean> {
      const state = (await findClaims(pool, projectId, [key])).get(key.key)?.state
      return state === 'answered' || state === 'other'
    },

    async get(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      return existing(await findTrigger(pool, projectId, checkTriggerId(triggerId)))
    },

    /** The devices and targets that the trigger concerns, counted for up to three seconds. */
    async size(projectId: ProjectId, triggerId: string): Promise<TriggerSize> {
      return existing(await sizeOf(projectId, checkTriggerId(triggerId)))
    },

    list: (projectId: ProjectId, filter: Parameters<typeof listTriggers>[2], before: string | null, limit: number) =>
      pool.reading((db) => listTriggers(db, projectId, filter, before, limit)),

    /** Returns when no further message can be dispatched, or after 5 s, while the state is still canceling. */
    async cancel(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      return existing(await cancel.cancel(projectId, checkTriggerId(triggerId)))
    },

    /** Moves a scheduled trigger to another time. */
    async move(projectId: ProjectId, triggerId: string, sendAt: unknown, key?: IdempotencyKey) {
      return existing(await move(projectId, checkTriggerId(triggerId), sendAt, key))
    },

    /** Explains a user, or one device and its user. */
    async explain(projectId: ProjectId, triggerId: string, who: Explained) {
      const checked =
        'deviceId' in who
          ? { deviceId: checkDeviceId(who.deviceId) }
          : { projectUserId: checkProjectUserId(who.projectUserId) }
      return existing(await explain(projectId, checkTriggerId(triggerId), checked))
    },

    /** Cancels the deferred messages of users that are being deleted. */
    removeOfUsers: (tx: Db, projectId: ProjectId, userIds: string[]) => cancelDeferred(tx, projectId, userIds, onEnded),

    /** Cancels the triggers that waited in a backup, with their messages. */
    discard: createDiscard({ messages, onEnded }),

    /** Wakes the triggers that waited while their project was paused. */
    resume: scheduleResume,

    jobs: [
      small.job,
      expansion.job,
      batches.job,
      releaseJob({ pool, paused: messages.paused, onEnded }),
      resumeJob(pool, messages),
      sweepTriggersJob(pool, messages),
      keepTriggersJob(pool)
    ],

    /** Checks messages of triggers again that were written before. */
    recheck: createRecheck({ pool, versions, projectOf, sequences }),

    /** Deletes up to 500 triggers of a project that is being erased, and returns how many. */
    eraseWindow: (db: Db, projectId: ProjectId): Promise<number> => eraseTriggerWindow(db, projectId)
  }
}

function checkTriggerId(triggerId: string): string {
  if (!isUuid(triggerId)) throw notFound()
  return triggerId.toLowerCase()
}

function existing<Found>(found: Found | undefined): Found {
  if (found === undefined) throw notFound()
  return found
}

const notFound = () => new Refusal('not_found', 'There is no trigger of this id.')
