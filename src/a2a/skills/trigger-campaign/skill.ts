import { Type } from '@sinclair/typebox'
import { checkTriggerCampaign } from '../../../campaigns/campaigns.ts'
import { Refusal } from '../../../platform/errors.ts'
import { effectKeyOf, keyOfRun } from '../run-key.ts'
import { type MakeSkill, type Outcome, result } from '../skill.ts'
import { withAudience, withoutNull } from '../spellings.ts'
import { triggerCommandOf, triggerFields, triggerSpellings } from './command.ts'
import { confirmationFields, confirmedKey } from './confirmed.ts'
import { triggerCampaignText } from './text.ts'

const schema = Type.Object({ skill: Type.Literal('trigger-campaign'), ...triggerFields, ...confirmationFields })

const output = Type.Object({ triggerId: Type.String({ description: 'Its progress can be read by this id.' }) })

export const triggerCampaign: MakeSkill = (does) => ({
  id: 'trigger-campaign',
  name: 'Trigger Campaign',
  description: 'Sends the messages of a campaign to its audience, to given targets, or to everybody in its segment.',
  tags: ['campaign', 'marketing', 'automation'],
  examples: ['Trigger campaign welcome for user ana', 'Trigger campaign spring-sale for all users'],
  effect: 'send',
  rest: ['POST /campaigns/{campaign_id}:trigger'],
  example: { skill: 'trigger-campaign', campaignId: 'welcome', targets: [{ projectUserId: 'ana' }] },
  artifact: { name: 'trigger-result', example: { triggerId: '…' } },
  exception:
    'It asks about a field that it does not know (`input-required`), because the field may have been meant to narrow the audience.',
  text: triggerCampaignText,
  schema,
  output,
  spellings: triggerSpellings,
  settle: (fields) => withAudience(withoutNull(fields)),
  asksAboutUnknown: 'To name who gets it, send targets, broadcast or audience',
  triggers: true,
  ignores: ({ broadcast }) => (broadcast === true ? 'targets' : undefined),
  reach: (fields) => ({ trigger: triggerCommandOf(fields) }),
  async run({ projectId, fields, runId, permit, caller }) {
    const command = triggerCommandOf(fields)
    const key = confirmedKey(fields) ?? keyOfRun(runId, command)
    const trigger = { ...checkTriggerCampaign(command), actor: caller.actor }
    const { answer, replayed } = await does.triggers.accept(projectId, trigger, [key], permit).catch(unlessCanceled)
    const artifacts = [result('trigger-result', { triggerId: answer.trigger_id })]
    return { kind: 'completed', artifacts, earlier: replayed }
  },
  effectKey: (call) => confirmedKey(call.fields) ?? effectKeyOf(call),
  async undo({ projectId }, done) {
    const [part] = done.artifacts[0]!.parts as { data: { triggerId: string } }[]
    return leftOf(await does.triggers.cancel(projectId, part!.data.triggerId), done)
  }
})

/** Of a cancel and a run at once, the first one claims the key. The words of a caller's own key would mislead. */
function unlessCanceled(error: unknown): never {
  const isTaken = error instanceof Refusal && error.code === 'idempotency_key_reused'
  throw isTaken ? new Refusal(error.code, 'What was to be confirmed was canceled meanwhile.') : error
}

/** The result of a trigger that was canceled as soon as it was accepted. */
function leftOf(
  { id: triggerId, state, sent, failed }: Record<'id' | 'state' | 'sent' | 'failed', string>,
  done: Outcome & { kind: 'completed' }
): Outcome {
  if (state === 'completed' || state === 'failed') return done
  const { artifacts } = done
  if (state !== 'canceled')
    return { kind: 'failed', artifacts, reason: 'It is being canceled: some messages are still with the gateways.' }
  if (sent !== '0' || failed !== '0')
    return { kind: 'failed', artifacts, reason: `It was canceled on the way: ${sent} sent, ${failed} failed.` }
  return { kind: 'canceled', reason: 'Canceled by request, before anything was sent.', data: { triggerId } }
}
