import type { Campaigns } from '../campaigns/campaigns.ts'
import type { Delivery } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { checkProjectUserId } from '../users/users.ts'
import { createAccept } from './accept.ts'
import { createChunks } from './batches/batch.ts'
import { createExpansion } from './batches/expand.ts'
import { createBeginning } from './batches/small.ts'
import { createWaiting } from './batches/waiting.ts'
import { createCancel } from './cancel.ts'
import type { OnEnded } from './counters-store.ts'
import { createExplain } from './explain/explain.ts'
import { keepTriggersJob, sweepTriggersJob } from './jobs.ts'
import { resumeJob, scheduleResume } from './resume.ts'
import { eraseTriggerWindow, findTrigger, listTriggers, type TriggerRow } from './store.ts'
import { createStreams } from './stream.ts'

export { removeHeld } from './batches/deferred.ts'
export type { Counted as EndedTrigger, OnEnded } from './counters-store.ts'
export { countOutcomes } from './outcomes.ts'
export { tellEnded } from './stream.ts'
export type Triggers = ReturnType<typeof createTriggers>

export interface TriggersOptions {
  pool: Pool
  listener: Listener
  metrics: Metrics
  delivery: Delivery
  campaigns: Pick<Campaigns, 'versions'>
  idempotencyHours: number
  /** How many processes work on jobs. */
  workers: () => number
  /** Receives triggers that end by what happens here; `countOutcomes` passes on those that end by an outcome. */
  onEnded: OnEnded
}

/** Triggers: each sends a campaign to the users and devices that match when it runs. */
export function createTriggers(options: TriggersOptions) {
  const { pool, listener, delivery, workers, onEnded } = options
  const { versions } = options.campaigns
  const { cancel, goOn } = createCancel({ pool, delivery, onEnded })
  const waiting = createWaiting()
  const chunks = createChunks({ pool, delivery, versions, onEnded, waiting })
  const expansion = createExpansion({
    pool,
    versions,
    onEnded,
    workers,
    runChunk: chunks.run,
    goOnCanceling: goOn,
    paused: delivery.paused
  })
  const beginning = createBeginning({ pool, delivery, versions, onEnded, waiting })
  const explain = createExplain({ pool, versions, pausedSince: delivery.pausedSince })

  return {
    streams: createStreams(pool, listener),
    /** Writes the trigger and returns its id; workers do the rest. */
    accept: createAccept(options),

    async get(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      return existing(await findTrigger(pool, projectId, checkTriggerId(triggerId)))
    },

    list: (projectId: ProjectId, filter: Parameters<typeof listTriggers>[2], before: string | null, limit: number) =>
      listTriggers(pool, projectId, filter, before, limit),

    /** Returns when no further message can be dispatched, or after 5 s, while the state is still canceling. */
    async cancel(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      return existing(await cancel(projectId, checkTriggerId(triggerId)))
    },

    async explain(projectId: ProjectId, triggerId: string, projectUserId: string) {
      return existing(await explain(projectId, checkTriggerId(triggerId), checkProjectUserId(projectUserId)))
    },

    /** Wakes the triggers that waited while their project was paused. */
    resume: scheduleResume,

    jobs: [beginning, expansion, chunks.job, resumeJob(pool, delivery), sweepTriggersJob(pool), keepTriggersJob(pool)],

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
