import { type Static, Type } from '@sinclair/typebox'
import {
  mostTriggerValues,
  readTrigger,
  TriggerBody,
  triggerExample,
  unknownTriggerFields,
  warningOf
} from '../campaigns/campaigns.ts'
import { Refusal } from '../platform/errors.ts'
import { answerOnce, idempotencyKeyOf } from '../platform/http/idempotency.ts'
import { pageOf } from '../platform/http/paging.ts'
import { largestBody, type Routes } from '../platform/http/routes.ts'
import type { Watching } from '../platform/http/streams/watching.ts'
import type { ApiAccess, ApiCaller } from '../projects/projects.ts'
import { listPage, TriggerQuery } from './list.ts'
import { confirmationIn, type PermitTrigger } from './permit.ts'
import { triggerResponse } from './response.ts'
import { ExplainAnswer, TriggerAnswer } from './schemas.ts'
import { sendStream } from './stream-response.ts'
import type { Triggers } from './triggers.ts'

const failed = 'Failed to send campaign trigger message'
const wording = {
  invalid: 'Campaign Id must be provided',
  texts: { campaign_not_found: failed, campaign_not_active: failed, campaign_not_api_triggered: failed }
}
const params = { campaign_id: 'The id of the campaign, percent-encoded.' }
const ofTrigger = { trigger_id: 'The id that the trigger request returned.' }
const MoveBody = Type.Object({
  send_at: Type.String({ description: 'RFC 3339, at most 90 days ahead. A past time sends it now.' })
})
const notByPolicy =
  'A key with a policy cannot move a trigger, because its limits were checked for the first time. Cancel it and trigger again.'
const TriggerId = Type.Object({ trigger_id: Type.String() })

/** Contract 4.4, and routes for the triggers that it creates. */
export function triggerRoutes(
  api: Routes<ApiCaller, ApiAccess>,
  { triggers, permitTrigger, watching }: { triggers: Triggers; permitTrigger: PermitTrigger; watching: Watching }
): void {
  // The obvious `:campaign_id::trigger` would be one parameter of that name and match every id.
  api.post(
    '/campaigns/:campaign_id(^[\\s\\S]*?)::trigger',
    {
      summary: 'Trigger a campaign',
      access: 'trigger',
      params,
      body: TriggerBody,
      maxBody: largestBody,
      warnsItself: true,
      maxValues: mostTriggerValues,
      bodyKind: 'optional',
      fieldCodes: { audience: 'invalid_trigger', properties: 'invalid_trigger', send_at: 'invalid_trigger' },
      idempotent: true,
      direct: true,
      answer: TriggerId,
      wording,
      example: triggerExample
    },
    async ({ caller, params: { campaign_id }, body, request, reply }) => {
      const key = idempotencyKeyOf(request, `/campaigns/${campaign_id}:trigger`)
      const trigger = readTrigger(campaign_id, body)
      const confirmationId = confirmationIn(caller, body)
      const once = async () => {
        // The key decides first: a repeat returns the first response, whatever the policy says by now.
        const isKnown = caller.key?.policy && key && (await triggers.isAccepted(caller.project.id, key))
        if (isKnown) return triggers.accept(caller.project.id, trigger, [key], 'repeat')
        const permitted = await permitTrigger(caller, trigger, confirmationId)
        const made = { ...(permitted?.trigger ?? trigger), actor: caller.actor }
        const keys = [key, permitted?.key].filter((one) => one !== undefined)
        return triggers.accept(caller.project.id, made, keys, permitted?.permit)
      }
      const { answer } = await answerOnce(reply, once)
      const unknown = unknownTriggerFields(body).filter((name) => !(confirmationId && name === 'confirmation_id'))
      if (unknown.length > 0) reply.header('x-service-warning', warningOf(unknown))
      return answer
    }
  )

  api.get(
    '/triggers',
    {
      summary: 'List triggers',
      query: TriggerQuery,
      answer: pageOf(TriggerAnswer),
      refusals: ['invalid_parameter']
    },
    ({ caller, query }) => listPage(triggers, caller.project.id, query)
  )

  api.get(
    '/triggers/:trigger_id',
    { summary: 'Read a trigger', params: ofTrigger, answer: TriggerAnswer, refusals: ['not_found'] },
    async ({ caller, params: { trigger_id } }) => triggerResponse(await triggers.get(caller.project.id, trigger_id!))
  )

  api.post(
    '/triggers/:trigger_id(^[\\s\\S]*?)::cancel',
    {
      summary: 'Cancel a trigger: after the response no further message is dispatched',
      params: ofTrigger,
      answer: TriggerAnswer,
      refusals: ['not_found']
    },
    async ({ caller, params: { trigger_id } }) => triggerResponse(await triggers.cancel(caller.project.id, trigger_id!))
  )

  api.patch(
    '/triggers/:trigger_id',
    {
      operationId: 'rescheduleTrigger',
      summary: 'Move a scheduled trigger to another time',
      params: ofTrigger,
      body: MoveBody,
      fieldCodes: { send_at: 'invalid_trigger' },
      idempotent: true,
      answer: TriggerAnswer,
      refusals: ['not_found', 'conflict', 'invalid_trigger'],
      example: { send_at: '2026-12-24T18:00:00.000Z' }
    },
    async ({ caller, params: { trigger_id }, body, request, reply }) => {
      if (caller.key?.policy) throw new Refusal('policy_refused', notByPolicy)
      const key = idempotencyKeyOf(request, `/triggers/${trigger_id}`)
      const once = () => triggers.move(caller.project.id, trigger_id!, body.send_at, key)
      return (await answerOnce(reply, once)).answer as Static<typeof TriggerAnswer>
    }
  )

  api.get(
    '/triggers/:trigger_id/explain',
    {
      operationId: 'explainTrigger',
      summary: 'Explain why a user received the message of a trigger, or why not',
      params: ofTrigger,
      query: Type.Object({ project_user_id: Type.String({ description: 'The user.' }) }),
      answer: ExplainAnswer,
      refusals: ['not_found', 'invalid_project_user_id']
    },
    ({ caller, params: { trigger_id }, query: { project_user_id } }) =>
      triggers.explain(caller.project.id, trigger_id!, { projectUserId: project_user_id })
  )

  api.get(
    '/triggers/:trigger_id/stream',
    {
      operationId: 'streamTrigger',
      summary: 'Watch a trigger: a server-sent event with the trigger whenever it changes, until it has ended',
      params: ofTrigger,
      answerType: 'text/event-stream',
      refusals: ['not_found', 'rate_limited'],
      unlimited: true
    },
    ({ caller, params: { trigger_id }, request, reply }) =>
      sendStream(triggers, { projectId: caller.project.id, triggerId: trigger_id! }, reply, () =>
        watching({ caller, request, reply })
      )
  )
}
