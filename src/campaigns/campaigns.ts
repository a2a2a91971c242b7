import type { Delivery } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { Refusal } from '../platform/errors.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { createRenderer } from '../templates/renderer.ts'
import { createAccept } from '../triggers/accept.ts'
import { createChunks } from '../triggers/batch.ts'
import { createCancel } from '../triggers/cancel.ts'
import type { OnEnded } from '../triggers/counting.ts'
import { createExpansion } from '../triggers/expand.ts'
import { createExplain } from '../triggers/explain.ts'
import { keepTriggersJob, sweepTriggersJob } from '../triggers/jobs.ts'
import { resumeJob, scheduleResume } from '../triggers/resume.ts'
import { createBeginning } from '../triggers/small.ts'
import { eraseTriggerWindow, findTrigger, listTriggers, type TriggerRow } from '../triggers/store.ts'
import { createStreams } from '../triggers/stream.ts'
import { createWaiting } from '../triggers/waiting.ts'
import { checkProjectUserId } from '../users/users.ts'
import { createDefinitions } from './definitions.ts'
import { createPreview } from './preview.ts'
import { createSaving } from './saving.ts'
import { eraseCampaignWindow } from './store.ts'
import { createTestSend } from './testing.ts'

export { parseDuration } from '../segments/duration.ts'
export type { Counted as EndedTrigger, OnEnded } from '../triggers/counting.ts'
export { removeHeld } from '../triggers/deferred.ts'
export { countOutcomes } from '../triggers/outcomes.ts'
export { tellEnded } from '../triggers/stream.ts'
export { demoCampaign } from './demo.ts'
export type Campaigns = ReturnType<typeof createCampaigns>

export interface CampaignsOptions {
  pool: Pool
  listener: Listener
  metrics: Metrics
  delivery: Delivery
  idempotencyHours: number
  /** How many processes work on jobs. */
  workers: () => number
  /** Told of triggers that end by what happens here; those that end by an outcome are told by `countOutcomes`. */
  onEnded: OnEnded
}

/** Campaigns, and the triggers that send them. */
export function createCampaigns(options: CampaignsOptions) {
  const { pool, listener, metrics, delivery, workers, onEnded } = options
  const saving = createSaving(pool)
  const renderer = createRenderer(metrics)
  const definitions = createDefinitions(pool, renderer)
  const { cancel, goOn } = createCancel({ pool, delivery, onEnded })
  const waiting = createWaiting()
  const chunks = createChunks({ pool, delivery, definitions, onEnded, waiting })
  const expansion = createExpansion({
    pool,
    definitions,
    onEnded,
    workers,
    runChunk: chunks.run,
    goOnCanceling: goOn,
    paused: delivery.paused
  })
  const beginning = createBeginning({ pool, delivery, definitions, onEnded, waiting })
  const explain = createExplain({ pool, definitions, pausedSince: delivery.pausedSince })
  const preview = createPreview(pool, renderer)
  const testSend = createTestSend({ pool, delivery, renderer })
  const known = (triggerId: string) => {
    if (!isUuid(triggerId)) throw noTrigger()
    return triggerId.toLowerCase()
  }

  return {
    saving,
    streams: createStreams(pool, listener),
    /** Records the trigger and answers at once; workers do the rest. */
    trigger: createAccept(options),

    async getTrigger(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      const row = await findTrigger(pool, projectId, known(triggerId))
      if (!row) throw noTrigger()
      return row
    },

    listTriggers: (
      projectId: ProjectId,
      filter: Parameters<typeof listTriggers>[2],
      before: string | null,
      limit: number
    ) => listTriggers(pool, projectId, filter, before, limit),

    /** Answers when nothing more can be handed over, or after 5 s, still canceling. */
    async cancelTrigger(projectId: ProjectId, triggerId: string): Promise<TriggerRow> {
      const row = await cancel(projectId, known(triggerId))
      if (!row) throw noTrigger()
      return row
    },

    async explainTrigger(projectId: ProjectId, triggerId: string, projectUserId: string) {
      const explanation = await explain(projectId, known(triggerId), checkProjectUserId(projectUserId))
      if (!explanation) throw noTrigger()
      return explanation
    },

    /** What a trigger of the campaign as it is saved now would do. */
    async preview(projectId: ProjectId, campaignId: unknown, body: unknown) {
      return preview(projectId, (await saving.get(projectId, campaignId)).definition, body)
    },

    /** The same for one that is not saved, or not yet as it is given here. */
    async previewDraft(projectId: ProjectId, campaign: unknown, body: unknown) {
      return preview(projectId, await saving.check(campaign), body)
    },

    async testSend(projectId: ProjectId, campaignId: unknown, body: Parameters<typeof testSend>[2]) {
      return testSend(projectId, (await saving.get(projectId, campaignId)).definition, body)
    },

    /** Ends the processes that render templates. */
    close: renderer.close,

    /** After a pause: triggers that waited go on. */
    resume: scheduleResume,

    jobs: [beginning, expansion, chunks.job, resumeJob(pool, delivery), sweepTriggersJob(pool), keepTriggersJob(pool)],

    /** Up to a window of what a project that is being erased has here. */
    async eraseWindow(db: Db, projectId: ProjectId): Promise<number> {
      return (await eraseTriggerWindow(db, projectId)) || eraseCampaignWindow(db, projectId)
    }
  }
}

const noTrigger = () => new Refusal('not_found', 'There is no trigger of this id.')
