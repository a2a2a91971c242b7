import { Type } from '@sinclair/typebox'
import { defaultLimit, encodeCursor, idAfter, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import type { Campaigns } from './campaigns.ts'
import { State, TriggerAnswer, wireTrigger } from './trigger-wire.ts'

const failed = 'Failed to send campaign trigger message'
const wording = {
  invalid: 'Campaign Id must be provided',
  texts: { campaign_not_found: failed, campaign_not_active: failed, campaign_not_api_triggered: failed }
}
const params = { campaign_id: 'The id of the campaign, percent-encoded.' }
const ofTrigger = { trigger_id: 'As the trigger was answered.' }
/** Targets are judged by the handler, because a broadcast ignores them whatever they are. */
export const TriggerBody = Type.Object({
  audience: Type.Optional(
    Type.Object(
      {
        broadcast: Type.Optional(
          Type.Boolean({ description: "All users that match the campaign's segment; targets are ignored." })
        ),
        targets: Type.Optional(
          Type.Unsafe<unknown>({
            description:
              'At most 20,000, each with exactly one of project_user_id, device_id and user_id. Those outside the segment get nothing.'
          })
        )
      },
      { description: "Who is to get it. Absent: the campaign's default audience. Without targets: nobody." }
    )
  ),
  properties: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: {},
      description: 'For templates and conditions, as {{ trigger.name }}. Any JSON, at most 1 MiB.'
    })
  )
})
const example = {
  audience: { targets: [{ project_user_id: 'ana' }, { device_id: 'ana-phone' }] },
  properties: { code: 'SPRING' }
}
const TriggerId = Type.Object({ trigger_id: Type.String() })

/** Contract 4.4, and the triggers that come of it. */
export function campaignRoutes(api: Routes<ApiCaller, ApiAccess>, campaigns: Campaigns): void {
  // The obvious `:campaign_id::trigger` would be one parameter of that name and match every id.
  api.post(
    '/campaigns/:campaign_id(^.*?)::trigger',
    {
      summary: 'Trigger a campaign',
      access: 'trigger',
      params,
      body: TriggerBody,
      bodyKind: 'optional',
      fieldCodes: { audience: 'invalid_trigger', properties: 'invalid_trigger' },
      answer: TriggerId,
      wording,
      example
    },
    async ({ caller, params: { campaign_id }, body }) =>
      (await campaigns.trigger(caller.project.id, campaign_id, body)).answer
  )

  api.get(
    '/triggers',
    {
      summary: 'List triggers',
      query: Type.Object({
        ...pageQuery,
        campaign_id: Type.Optional(Type.String({ maxLength: 1024, description: 'Only those of this campaign.' })),
        state: Type.Optional(State)
      }),
      answer: pageOf(TriggerAnswer)
    },
    async ({ caller, query: { limit = defaultLimit, cursor, campaign_id, state } }) => {
      const filter = { campaignId: campaign_id, state }
      const rows = await campaigns.listTriggers(caller.project.id, filter, idAfter(cursor), limit + 1)
      return page(rows, limit, (row) => encodeCursor(row.id), wireTrigger)
    }
  )

  api.get(
    '/triggers/:trigger_id',
    { summary: 'Read a trigger', params: ofTrigger, answer: TriggerAnswer, refusals: ['not_found'] },
    async ({ caller, params: { trigger_id } }) => wireTrigger(await campaigns.getTrigger(caller.project.id, trigger_id))
  )
}
