import { shownResult } from '../../messages/messages.ts'
import { isObject } from '../../platform/fields.ts'
import { largestBody, type Routes } from '../../platform/http/routes.ts'
import type { ApiAccess, ApiCaller, ManageAccess, ManageCaller } from '../../projects/projects.ts'
import { type CheckedTrigger, readTrigger } from '../audience/request.ts'
import { mostTriggerValues, TriggerBody, triggerExample } from '../audience/request-schema.ts'
import type { Campaigns } from '../campaigns.ts'
import { DraftBody, example, TestAnswer, TestBody } from '../schemas.ts'
import { PreviewAnswer } from './schemas.ts'

/**
 * Stores the facts that a caller is shown, and returns the id by which it may agree to them; undefined if it needs
 * none.
 */
export type IssueConfirmation = (
  caller: ApiCaller,
  trigger: CheckedTrigger,
  shown: { campaignVersion: number; recipients: number; complete: boolean }
) => undefined | Promise<string>

/** The preview takes the same request as a trigger. */
export function campaignPreviewRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  campaigns: Campaigns,
  issue: IssueConfirmation = () => undefined
): void {
  api.post(
    '/campaigns/:campaign_id(^[\\s\\S]*?)::preview',
    {
      summary: 'Preview a trigger: its audience and a rendered sample, without sending anything',
      params: { campaign_id: 'The id of the campaign, percent-encoded.' },
      body: TriggerBody,
      warnsItself: true,
      maxBody: largestBody,
      maxValues: mostTriggerValues,
      bodyKind: 'optional',
      fieldCodes: { audience: 'invalid_trigger', properties: 'invalid_trigger', send_at: 'invalid_trigger' },
      answer: PreviewAnswer,
      refusals: ['not_found', 'invalid_campaign_id', 'invalid_trigger', 'invalid_segment'],
      example: triggerExample
    },
    async ({ caller, params: { campaign_id }, body }) => {
      const preview = await campaigns.preview(caller.project.id, campaign_id, body)
      const { users: recipients, complete } = preview.audience
      const shown = { campaignVersion: preview.campaign_version, recipients, complete }
      const confirmation_id = await issue(caller, readTrigger(campaign_id, body), shown)
      return confirmation_id === undefined ? preview : { ...preview, confirmation_id }
    }
  )
}

const path = '/projects/:project_id/campaigns'

/** Routes that try a campaign before it is sent. */
export function campaignTrialRoutes(manage: Routes<ManageCaller, ManageAccess>, campaigns: Campaigns): void {
  manage.post(
    `${path}::preview`,
    {
      operationId: 'previewProjectCampaignDraft',
      summary: 'Preview a trigger of a campaign that is not saved, without sending anything',
      access: 'editor',
      body: DraftBody,
      warnsItself: true,
      maxBody: largestBody,
      checksBody: true,
      answer: PreviewAnswer,
      refusals: ['invalid_trigger', 'invalid_campaign', 'invalid_segment', 'invalid_template'],
      example: { campaign: example, audience: { broadcast: true }, properties: { code: 'SPRING' } }
    },
    ({ caller, body }) => {
      const { campaign, ...trigger } = (isObject(body) ? body : {}) as Record<string, unknown>
      return campaigns.previewDraft(caller.project!.id, campaign, trigger)
    }
  )

  manage.post(
    `${path}/:campaign_id(^[\\s\\S]*?)::test`,
    {
      summary: 'Send a test of a campaign to chosen devices now, regardless of its segment, status and limits',
      access: 'editor',
      body: TestBody,
      maxBody: largestBody,
      answer: TestAnswer,
      refusals: ['invalid_parameter', 'invalid_template', 'invalid_campaign_id', 'not_found'],
      example: { device_ids: ['ana-phone'], properties: { code: 'SPRING' } }
    },
    async ({ caller, params, body }) => ({
      delivery_results: (await campaigns.testSend(caller.project!.id, params.campaign_id, body)).map((result) =>
        shownResult(result)
      )
    })
  )
}
