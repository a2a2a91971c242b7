import { Type } from '@sinclair/typebox'
import type { Campaigns } from '../campaigns/campaigns.ts'
import { mostNames as mostWarned, unknownFields, warningOf } from '../campaigns/unknown-fields.ts'
import { answerOnce, idempotencyKeyOf } from '../platform/http/idempotency.ts'
import { pageOf } from '../platform/http/paging.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import { building, unknownNames } from '../platform/http/schema.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import { listPage, TriggerQuery } from './list.ts'
import { maxTargets } from './request.ts'
import { ExplainAnswer, PreviewAnswer } from './schemas.ts'
import { TriggerAnswer, wireTrigger } from './wire.ts'

const failed = 'Failed to send campaign trigger message'
const wording = {
  invalid: 'Campaign Id must be provided',
  texts: { campaign_not_found: failed, campaign_not_active: failed, campaign_not_api_triggered: failed }
}
const params = { campaign_id: 'The id of the campaign, percent-encoded.' }
const ofTrigger = { trigger_id: 'As the trigger was answered.' }
const targetFields = { project_user_id: Type.String(), device_id: Type.String(), user_id: Type.String() }
/** Targets are judged by the handler, because a broadcast ignores them whatever they are. */
export const TriggerBody = Type.Object(
  {
    audience: Type.Optional(
      Type.Unsafe<object | null>({
        type: ['object', 'null'],
        properties: {
          broadcast: {
            type: ['boolean', 'null'],
            description: "All users that match the campaign's segment; targets are ignored."
          },
          targets: {
            [building]: Type.Array(Type.Object(targetFields), { maxItems: maxTargets }),
            description:
              'At most 20,000, each with exactly one of project_user_id, device_id and user_id. Those outside the segment get nothing.'
          }
        },
        description: "Who is to get it. Absent or null: the campaign's default audience. Without targets: nobody."
      })
    ),
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: {},
        description: 'For templates and conditions, as {{ trigger.name }}. Any JSON, at most 1 MiB.'
      })
    )
  },
  { [unknownNames]: mostWarned }
)
const example = {
  audience: { targets: [{ project_user_id: 'ana' }, { device_id: 'ana-phone' }] },
  properties: { code: 'SPRING' }
}
const TriggerId = Type.Object({ trigger_id: Type.String() })

/** Contract 4.4, and the triggers that come of it. */
export function campaignRoutes(api: Routes<ApiCaller, ApiAccess>, campaigns: Campaigns): void {
  // The obvious `:campaign_id::trigger` would be one parameter of that name and match every id.
  api.post(
    '/campaigns/:campaign_id(^[\\s\\S]*?)::trigger',
    {
      summary: 'Trigger a campaign',
      access: 'trigger',
      params,
      body: TriggerBody,
      maxBody: largestBody,
      bodyKind: 'optional',
      fieldCodes: { audience: 'invalid_trigger', properties: 'invalid_trigger' },
      idempotent: true,
      answer: TriggerId,
      wording,
      example
    },
    async ({ caller, params: { campaign_id }, body, request, reply }) => {
      const key = idempotencyKeyOf(request, `/campaigns/${campaign_id}:trigger`)
      const once = () => campaigns.trigger(caller.project.id, campaign_id, body, key)
      const { answer } = await answerOnce(reply, once)
      const unknown = unknownFields(body)
      if (unknown.length > 0) reply.header('x-service-warning', warningOf(unknown))
      return answer
    }
  )

  api.post(
    '/campaigns/:campaign_id(^[\\s\\S]*?)::preview',
    {
      summary: 'See what a trigger would do, without doing it',
      params,
      body: TriggerBody,
      maxBody: largestBody,
      bodyKind: 'optional',
      fieldCodes: { audience: 'invalid_trigger', properties: 'invalid_trigger' },
      answer: PreviewAnswer,
      refusals: ['not_found', 'invalid_campaign_id', 'invalid_trigger'],
      example
    },
    ({ caller, params: { campaign_id }, body }) => campaigns.preview(caller.project.id, campaign_id, body)
  )

  api.get(
    '/triggers',
    {
      summary: 'List triggers',
      query: TriggerQuery,
      answer: pageOf(TriggerAnswer),
      refusals: ['invalid_parameter']
    },
    ({ caller, query }) => listPage(campaigns, caller.project.id, query)
  )

  api.get(
    '/triggers/:trigger_id',
    { summary: 'Read a trigger', params: ofTrigger, answer: TriggerAnswer, refusals: ['not_found'] },
    async ({ caller, params: { trigger_id } }) =>
      wireTrigger(await campaigns.getTrigger(caller.project.id, trigger_id!))
  )

  api.post(
    '/triggers/:trigger_id(^[\\s\\S]*?)::cancel',
    {
      summary: 'Cancel a trigger: when this is answered, nothing more is handed over',
      params: ofTrigger,
      answer: TriggerAnswer,
      refusals: ['not_found']
    },
    async ({ caller, params: { trigger_id } }) =>
      wireTrigger(await campaigns.cancelTrigger(caller.project.id, trigger_id!))
  )

  api.get(
    '/triggers/:trigger_id/explain',
    {
      summary: 'Why a user got the message of a trigger, or why not',
      params: ofTrigger,
      query: Type.Object({ project_user_id: Type.String({ description: 'Whose messages are asked about.' }) }),
      answer: ExplainAnswer,
      refusals: ['not_found', 'invalid_project_user_id']
    },
    ({ caller, params: { trigger_id }, query: { project_user_id } }) =>
      campaigns.explainTrigger(caller.project.id, trigger_id!, project_user_id)
  )
}
