import { type Static, Type } from '@sinclair/typebox'
import type { Target as Recipient, TriggerCampaign } from '../../../campaigns/campaigns.ts'
import { Refusal } from '../../../platform/errors.ts'

// The fields of a trigger, which a preview takes too.

const Target = Type.Object({
  projectUserId: Type.Optional(Type.String()),
  deviceId: Type.Optional(Type.String()),
  userId: Type.Optional(Type.String()),
  properties: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: {},
      description: 'For this recipient, merged over properties.'
    })
  )
})
const Broadcast = Type.Optional(Type.Boolean({ description: "To everybody in the campaign's segment." }))

export const triggerFields = {
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
  ),
  sendAt: Type.Optional(
    Type.String({ description: 'When it is sent: RFC 3339, at most 90 days ahead. Absent or past: at once.' })
  )
}

/** As in the body of a trigger (contract 2.4). */
export const triggerSpellings = {
  audience: Type.Object(
    { broadcast: Broadcast, targets: Type.Optional(Type.Array(Target)) },
    { description: 'Instead of broadcast and targets. Where both are given and disagree, nobody gets it.' }
  ),
  target: { ...Target, description: 'Instead of targets: one recipient.' }
}

/** The fields as the schema has checked them. */
interface Sent {
  campaignId: string
  broadcast?: boolean
  targets?: Static<typeof Target>[]
  properties?: Record<string, unknown>
  campaignVersion?: number
  sendAt?: string
}

/** The command that the checked fields of a request stand for. */
export function triggerCommandOf(fields: Record<string, unknown>): TriggerCampaign {
  const { campaignId, broadcast, targets, properties, campaignVersion, sendAt } = fields as unknown as Sent
  const version = campaignVersion === undefined ? {} : { campaignVersion }
  const time = sendAt === undefined ? {} : { sendAt }
  const command = { campaignId, ...(properties && { properties }), ...version, ...time }
  if (broadcast) return { ...command, audience: { broadcast } }
  // A task that an earlier version began may hold `broadcast: false` without targets, which reaches no user.
  const named = targets ?? (broadcast === false ? [] : undefined)
  return named ? { ...command, audience: { targets: named.map(recipientOf) } } : command
}

const ids = ['projectUserId', 'deviceId', 'userId'] as const

function recipientOf(target: Static<typeof Target>, index: number): Recipient {
  const [id, ...more] = ids.filter((name) => target[name] !== undefined)
  if (id === undefined || more.length > 0)
    throw new Refusal('invalid_trigger', `audience.targets[${index}]: must have exactly one of ${ids.join(', ')}`)
  const { properties } = target
  return { [id]: target[id], ...(properties && { properties }) } as Recipient
}
