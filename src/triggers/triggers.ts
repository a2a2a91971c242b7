import type { Campaigns } from '../campaigns/campaigns.ts'
import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { checkProjectUserId } from '../users/users.ts'
import { createAccept } from './accept.ts'
import { createChunks } from './batches/batch.ts'
import { removeHeld } from './batches/deferred.ts'
import { createExpansion } from './batches/expand.ts'
import { createBeginning } from './batches/small.ts'
import { createWaiting } from './batches/waiting.ts'
import { createCancel } from './cancel.ts'
import { createExplain } from './explain/explain.ts'
import { keepTriggersJob, sweepTriggersJob } from './jobs.ts'
import { type OnTriggerEnded, tellAndPublish } from './outcomes.ts'
import { resumeJob, scheduleResume } from './resume.ts'
import { eraseTriggerWindow, findTrigger, listTriggers, type TriggerRow } from './store.ts'
import { createStreams } from './stream.ts'

export { countOnTrigger } from './outcomes.ts'
export type Triggers = ReturnType<typeof createTriggers>

export interface TriggersOptions {
  pool: Pool
  listener: Listener
  metrics: Metrics
  messages: Messages
  campaigns: Pick<Campaigns, 'versions'>
  idempotencyHours: number
  /** How many processes work on jobs. */
  workers: () => number
  /** Receives triggers that end by what happens here; `countOnTrigger` passes on those that end by an outcome. */
  onTriggerEnded: OnTriggerEnded
}

/** Triggers: each sends a campaign to the users and devices that match when it runs. */
export function createTriggers(options: TriggersOptions) {
  const { pool, listener, messages, workers } = options
  const onEnded = tellAndPublish(options.onTriggerEnded)
  const { versions } = options.campaigns
  const { cancel, goOn } = createCancel({ pool, messages, onEnded })
  const waiting = createWaiting()
  const chunks = createChunks({ pool, messages, versions, onEnded, waiting })
  const expansion = createExpansion({
    pool,
    versions,
    onEnded,
    workers,
    runChunk: chunks.run,
    goOnCanceling: goOn,
    paused: messages.paused
  })
  const beginning = createBeginning({ pool, messages, versions, onEnded, waiting })
  const explain = createExplain({ pool, versions, pausedSince: messages.pausedSince })

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

    /** Before users are deleted: cancels what quiet hours defer for them. */
    removeOfUsers: (tx: Db, projectId: ProjectId, userIds: string[]) => removeHeld(tx, projectId, userIds, onEnded),

    /** Wakes the triggers that waited while their project was paused. */
    resume: scheduleResume,

    jobs: [beginning, expansion, chunks.job, resumeJob(pool, messages), sweepTriggersJob(pool), keepTriggersJob(pool)],

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
