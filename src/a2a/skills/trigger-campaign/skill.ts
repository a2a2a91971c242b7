import { type Static, Type } from '@sinclair/typebox'
import { checkTriggerCampaign, type Target as Recipient, type TriggerCampaign } from '../../../campaigns/campaigns.ts'
import { Refusal } from '../../../platform/errors.ts'
import { keyOfRun } from '../run-key.ts'
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

const output = Type.Object({ triggerId: Type.String({ description: 'Its progress can be read by this id.' }) })

/** As the body of a trigger has it (contract 2.4). */
const spellings = {
  audience: Type.Object(
    { broadcast: Broadcast, targets: Type.Optional(Type.Array(Target)) },
    { description: 'Instead of broadcast and targets. Where both are given and disagree, nobody gets it.' }
  ),
  target: { ...Target, description: 'Instead of targets: one recipient.' }
}

export const triggerCampaign: MakeSkill = (does) => ({
  id: 'trigger-campaign',
  name: 'Trigger Campaign',
  description: 'Sends the messages of a campaign to its audience, to given targets, or to everybody in its segment.',
  tags: ['campaign', 'marketing', 'automation'],
  examples: ['Trigger campaign welcome for user ana', 'Trigger campaign spring-sale for all users'],
  effect: 'send',
  rest: ['POST /campaigns/{campaign_id}:trigger'],
  artifact: { name: 'trigger-result', example: { triggerId: '…' } },
  exception:
    'It asks about a field that it does not know (`input-required`), because the field may have been meant to narrow the audience.',
  text: triggerCampaignText,
  schema,
  output,
  spellings,
  settle: (fields) => withAudience(withoutNull(fields)),
  asksAboutUnknown: 'To name who gets it, send targets, broadcast or audience',
  triggers: true,
  ignores: ({ broadcast }) => (broadcast === true ? 'targets' : undefined),
  async run({ projectId, fields, runId }) {
    const command = commandOf(fields as unknown as Sent)
    const { answer } = await does.triggers.accept(projectId, checkTriggerCampaign(command), keyOfRun(runId, command))
    return { kind: 'completed', artifacts: [result('trigger-result', { triggerId: answer.trigger_id })] }
  }
})

/** The fields as the schema has checked them. */
interface Sent {
  campaignId: string
  broadcast?: boolean
  targets?: Static<typeof Target>[]
  properties?: Record<string, unknown>
}

function commandOf({ campaignId, broadcast, targets, properties }: Sent): TriggerCampaign {
  const command = { campaignId, ...(properties && { properties }) }
  if (broadcast) return { ...command, audience: { broadcast } }
  // A task that began before audiences were settled may hold `broadcast: false` without targets, which reaches nobody.
  const named = targets ?? (broadcast === false ? [] : undefined)
  return named ? { ...command, audience: { targets: named.map(recipientOf) } } : command
}

const ids = ['projectUserId', 'deviceId', 'userId'] as const

function recipientOf(target: Static<typeof Target>, index: number): Recipient {
  const [id, ...more] = ids.filter((name) => target[name] !== undefined)
  if (id === undefined || more.length > 0)
    throw new Refusal('invalid_trigger', `audience.targets[${index}]: must have exactly one of ${ids.join(', ')}`)
  return { [id]: target[id] } as Recipient
}
