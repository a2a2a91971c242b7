import { Type } from '@sinclair/typebox'
import { type MakeSkill, result } from '../skill.ts'
import { withAudience, withoutNull } from '../spellings.ts'
import { triggerCampaignText } from './text.ts'

const Target = Type.Object({
  projectUserId: Type.Optional(Type.String()),
  deviceId: Type.Optional(Type.String()),
  userId: Type.Optional(Type.String())
})
const Broadcast = Type.Optional(Type.Boolean({ description: "To everybody in the campaign's segment." }))

const schema = Type.Object({
  skill: Type.Literal('trigger-campaign'),
  campaignId: Type.String({ description: 'The campaign; it must be API-triggered and active.' }),
  broadcast: Broadcast,
  targets: Type.Optional(
    Type.Array(Target, {
      description:
        "Recipients, each by one of its fields. Absent: the campaign's default audience, with broadcast false nobody. Ignored with broadcast."
    })
  ),
  properties: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: {},
      description: 'For {{ trigger.name }} in texts and conditions.'
    })
  )
})

/** As the body of a trigger has it (contract 2.4). */
const spellings = {
  audience: Type.Object(
    { broadcast: Broadcast, targets: Type.Optional(Type.Array(Target)) },
    { description: 'Instead of broadcast and targets. Where both are given and disagree, nobody gets it.' }
  ),
  target: { ...Target, description: 'Instead of targets: one recipient.' }
}

const names = { projectUserId: 'project_user_id', deviceId: 'device_id', userId: 'user_id' } as const

export const triggerCampaign: MakeSkill = (does) => ({
  id: 'trigger-campaign',
  name: 'Trigger Campaign',
  description: 'Sends the messages of a campaign to its audience, to given targets, or to everybody in its segment.',
  tags: ['campaign', 'marketing', 'automation'],
  examples: ['Trigger campaign welcome for user ana', 'Trigger campaign spring-sale for all users'],
  artifact: { name: 'trigger-result', example: { triggerId: '…' } },
  exception:
    'It asks about a field that it does not know (`input-required`), because the field may have been meant to narrow the audience.',
  text: triggerCampaignText,
  schema,
  spellings,
  settle: (fields) => withAudience(withoutNull(fields)),
  asksAboutUnknown: 'To name who gets it, send targets, broadcast or audience',
  triggers: true,
  ignores: ({ broadcast }) => (broadcast === true ? 'targets' : undefined),
  async run({ projectId, fields, runId }) {
    const { campaignId, broadcast, targets, properties } = fields
    // A task that began before audiences were settled may still say that it is no broadcast, and name nobody.
    const given = targets ?? (broadcast === false ? [] : undefined)
    const audience =
      broadcast === true ? { broadcast } : given && { targets: (given as Record<string, unknown>[]).map(renamed) }
    const body = { ...(audience && { audience }), ...(properties !== undefined && { properties }) }
    const { trigger_id } = await does.triggerCampaign(projectId, campaignId as string, body, runId)
    return { kind: 'completed', artifacts: [result('trigger-result', { triggerId: trigger_id })] }
  }
})

const renamed = (target: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(names)
      .filter(([name]) => target[name] !== undefined)
      .map(([name, wire]) => [wire, target[name]])
  )
