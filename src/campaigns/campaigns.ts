import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Metrics } from '../platform/metrics.ts'
import { createRenderer } from '../templates/templates.ts'
import type { ProjectOf } from './audience/limits.ts'
import { readTriggerRequest } from './audience/request.ts'
import { unknownFields, warningOf } from './audience/unknown-fields.ts'
import type { Campaign } from './definition/definition.ts'
import { cannotRun } from './definition/running.ts'
import { ignoredFields, readWarnings, warningsOf } from './definition/warnings.ts'
import { createPreview } from './preview/preview.ts'
import type { UsersUnderWay } from './preview/reach.ts'
import { createTestSend } from './preview/test-send.ts'
import { type CampaignSaved, createSaving } from './saving.ts'
import { upcoming } from './schedule/occurrences.ts'
import { campaignsUsing, eraseCampaignWindow, listCampaigns } from './store.ts'
import { createWinners } from './texts/winner.ts'
import { createVersions } from './versions.ts'

export {
  checkEligibility,
  type Deferred,
  defer,
  hoursOf,
  notAfterOf,
  quietFor,
  type RecipientWithChoices
} from './audience/eligibility.ts'
export { type Endpoints, findEndpoints } from './audience/endpoints.ts'
export { overCap, overLimits, type ProjectOf, type ProjectRules, rulesFor } from './audience/limits.ts'
export { localTime, quietUntil, zoneFor } from './audience/quiet-hours.ts'
export { loadRecipients, noteLongWait, type Reachable } from './audience/recipients-store.ts'
export {
  type CheckedTrigger,
  checkCampaignId,
  checkTriggerCampaign,
  commandOfTrigger,
  hasOwnProperties,
  readAudience,
  readSendAt,
  readTrigger,
  readTriggerRequest,
  type StoredAudience,
  type StoredTarget,
  type Target,
  type TriggerCampaign
} from './audience/request.ts'
export { mostTriggerValues, TriggerBody, triggerExample } from './audience/request-schema.ts'
export {
  type Resolved,
  resolveReachable,
  resolveTargets,
  type SegmentOf,
  type SkippedTarget
} from './audience/targets.ts'
export { unknownFields as unknownTriggerFields, warningOf } from './audience/unknown-fields.ts'
export type { Campaign, Schedule } from './definition/definition.ts'
export { demoCampaign } from './definition/demo.ts'
export { countConcerned } from './preview/preview.ts'
export type { CampaignSaved } from './saving.ts'
export {
  instantsOf,
  isOfUsers,
  lateMs,
  nextAfter,
  occurrenceId,
  occurrencesIn
} from './schedule/occurrences.ts'
export { readWall, wallText } from './schedule/wall-time.ts'
export {
  campaignsOfTopic,
  factsOf,
  findVersion,
  lockCampaign,
  lockThrottle,
  passThrottle,
  reserveThrottle,
  writtenSegment
} from './store.ts'
export { heldOutOf } from './texts/choosing.ts'
export { lookUpWinners, type WinnersOf } from './texts/winner.ts'
export { CampaignErased, type Ready, type Versions } from './versions.ts'
export type Campaigns = ReturnType<typeof createCampaigns>

export interface CampaignsOptions {
  pool: Pool
  metrics: Metrics
  messages: Pick<Messages, 'send'>
  /** The rules of a project over all its campaigns. */
  projectOf: ProjectOf
  usersUnderWay: UsersUnderWay
  /** Called in the transaction that saves a campaign. */
  onSaved: CampaignSaved
}

/** The times of a schedule that the preview of a draft shows. */
const shownAhead = 5

/** Saves campaigns, previews them and sends tests. Triggers send them to their audience. */
export function createCampaigns(options: CampaignsOptions) {
  const { pool, metrics, messages, projectOf, usersUnderWay, onSaved } = options
  const saving = createSaving(pool, onSaved)
  const renderer = createRenderer(metrics)
  const preview = createPreview({ pool, renderer, projectOf, usersUnderWay })
  const testSend = createTestSend({ pool, messages, renderer })

  const previewBody = async (projectId: ProjectId, definition: Campaign, body: unknown) => ({
    ...(await preview(projectId, definition, readTriggerRequest(body))),
    warnings: unknownFields(body).map((name) => warningOf([name]))
  })

  return {
    saving,
    winners: createWinners(pool),
    versions: createVersions(pool, renderer),

    /** The newest campaigns; with `text`, those whose id or name contains it. */
    newest: (projectId: ProjectId, { text, limit }: { text: string | undefined; limit: number }) =>
      listCampaigns(pool, projectId, undefined, undefined, limit, text),

    /** Previews a trigger of the saved campaign. */
    async preview(projectId: ProjectId, campaignId: unknown, body: unknown) {
      const { definition, version } = await saving.get(projectId, campaignId)
      return { campaign_version: version, ...(await previewBody(projectId, definition, body)) }
    },

    /** Previews a draft: a campaign that is not saved, or differs from the saved one. */
    async previewDraft(projectId: ProjectId, campaign: unknown, body: unknown) {
      const definition = await saving.check(projectId, campaign)
      const { type, schedule } = definition
      const { warnings, ...previewed } = await previewBody(projectId, definition, body)
      await readWarnings([definition])
      return {
        ...previewed,
        warnings: [...warnings, ...warningsOf(definition), ...ignoredFields(campaign)],
        ...(type === 'scheduled' && schedule && { next_at: upcoming(schedule, Date.now(), shownAhead) }),
        cannot_run: cannotRun(definition)
      }
    },

    /** Previews a checked trigger, with the definition that its caller has read. */
    previewTrigger: preview,

    async testSend(projectId: ProjectId, campaignId: unknown, body: Parameters<typeof testSend>[2]) {
      return testSend(projectId, (await saving.get(projectId, campaignId)).definition, body)
    },

    /** The campaigns of saved segments. */
    ofSegments: {
      using: (db: Db, projectId: ProjectId, segmentId: string) => campaignsUsing(db, projectId, segmentId, 20),
      renew: saving.renew
    },

    /** Ends the processes that render templates. */
    close: renderer.close,

    /** Deletes up to a thousand campaigns of a project that is being erased, and returns how many. */
    eraseWindow: (db: Db, projectId: ProjectId): Promise<number> => eraseCampaignWindow(db, projectId)
  }
}
