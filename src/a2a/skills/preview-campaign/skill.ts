import { Type } from '@sinclair/typebox'
import { List, Maybe, Reasons } from '../shapes.ts'
import { type MakeSkill, result } from '../skill.ts'
import { withAudience, withoutNull } from '../spellings.ts'
import { triggerCommandOf, triggerFields, triggerSpellings } from '../trigger-campaign/command.ts'
import { previewCampaignText } from './text.ts'

const schema = Type.Object({ skill: Type.Literal('preview-campaign'), ...triggerFields })

const output = Type.Object({
  skill: Type.String({ description: 'The skill that would do it: trigger-campaign.' }),
  campaignId: Type.String(),
  campaignName: Type.String(),
  campaignVersion: Type.Integer({ description: 'The version that was previewed.' }),
  broadcast: Type.Boolean({ description: 'Whether it would go to everybody in the segment, by default too.' }),
  recipients: Type.Integer({ description: 'Distinct users with a device that would get the message.' }),
  devices: Type.Integer({ description: 'Devices that would get the message.' }),
  excluded: Reasons('Number of targets and devices that would get nothing, by reason.'),
  sample: List(
    Type.Object({
      projectUserId: Maybe('null: the user is anonymous.'),
      title: Maybe('The rendered title.'),
      body: Maybe('The rendered text.')
    }),
    'The message as up to five recipients would see it.'
  ),
  complete: Type.Boolean({
    description: 'false: the time was too short for the whole audience, and the numbers are lower bounds.'
  }),
  obstacle: Maybe('Why a trigger would be refused now; null: it would be accepted.'),
  confirmationId: Maybe(
    'For 15 minutes, {confirmationId, confirm: true} of the same caller triggers what is shown here. null where there is an obstacle.'
  )
})

export const previewCampaign: MakeSkill = (does) => ({
  id: 'preview-campaign',
  name: 'Preview Campaign',
  description: 'Counts who would get a campaign if it were triggered now, and renders samples. Nothing is sent.',
  tags: ['campaign', 'preview', 'read'],
  examples: ['Preview campaign spring-sale for all users'],
  effect: 'read',
  rest: ['POST /campaigns/{campaign_id}:preview'],
  extension: true,
  example: { skill: 'preview-campaign', campaignId: 'spring-sale', broadcast: true },
  artifact: {
    name: 'campaign-preview',
    example: { campaignId: 'spring-sale', campaignVersion: 3, recipients: 120, devices: 151 }
  },
  exception: 'It asks about a field that it does not know, as trigger-campaign does.',
  text: previewCampaignText,
  schema,
  output,
  spellings: triggerSpellings,
  settle: (fields) => withAudience(withoutNull(fields)),
  asksAboutUnknown: 'To name who would get it, send targets, broadcast or audience',
  ignores: ({ broadcast }) => (broadcast === true ? 'targets' : undefined),
  async run({ projectId, caller, fields }) {
    const command = triggerCommandOf(fields)
    const facts = await does.oversight.factsOf(projectId, command)
    const { obstacle, ...shown } = facts
    const confirmationId = obstacle ? null : await does.oversight.confirmations.issue(projectId, caller, command, facts)
    const data = { confirmationId, skill: 'trigger-campaign', ...shown, obstacle: obstacle?.message ?? null }
    return { kind: 'completed', artifacts: [result('campaign-preview', data)] }
  }
})
