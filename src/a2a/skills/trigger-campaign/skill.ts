import { Type } from '@sinclair/typebox'
import { checkTriggerCampaign } from '../../../campaigns/campaigns.ts'
import { keyOfRun } from '../run-key.ts'
import { type MakeSkill, result } from '../skill.ts'
import { withAudience, withoutNull } from '../spellings.ts'
import { triggerCommandOf, triggerFields, triggerSpellings } from './command.ts'
import { triggerCampaignText } from './text.ts'

const schema = Type.Object({ skill: Type.Literal('trigger-campaign'), ...triggerFields })

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
  async run({ projectId, fields, runId }) {
    const command = triggerCommandOf(fields)
    const { answer } = await does.triggers.accept(projectId, checkTriggerCampaign(command), keyOfRun(runId, command))
    return { kind: 'completed', artifacts: [result('trigger-result', { triggerId: answer.trigger_id })] }
  }
})
