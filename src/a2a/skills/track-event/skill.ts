import { Type } from '@sinclair/typebox'
import type { TrackEvent } from '../../../events/events.ts'
import { type MakeSkill, result } from '../skill.ts'
import { spelledTarget, withoutNull, withTarget } from '../spellings.ts'
import { trackEventText } from './text.ts'

const schema = Type.Object({
  skill: Type.Literal('track-event'),
  eventName: Type.String({ minLength: 1, description: 'What happened, 1 to 256 characters.' }),
  deviceId: Type.Optional(Type.String({ description: 'The device it happened on.' })),
  projectUserId: Type.Optional(Type.String({ description: 'Instead of a device: the user, by your id.' })),
  userId: Type.Optional(Type.String({ description: "Instead of a device: the user, by the service's id." })),
  properties: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: {},
      description: 'Any JSON, at most 64 KiB and 16 levels.'
    })
  )
})

const output = Type.Object({ trackedEvents: Type.Integer(), eventName: Type.String() })

const who = ['deviceId', 'projectUserId', 'userId'] as const

export const trackEvent: MakeSkill = (does) => ({
  id: 'track-event',
  name: 'Track User Event',
  description: 'Records that a user did something.',
  tags: ['event', 'analytics', 'tracking'],
  examples: ['Track event purchase for device ana-phone with amount=12.5'],
  effect: 'write',
  rest: ['POST /events'],
  example: { skill: 'track-event', eventName: 'purchase', deviceId: 'ana-phone', properties: { amount: 12.5 } },
  artifact: { name: 'event-result', example: { trackedEvents: 1, eventName: 'purchase' } },
  text: trackEventText,
  schema,
  output,
  spellings: spelledTarget,
  settle: (fields) => withTarget(withoutNull(fields)),
  oneOf: [who],
  async run({ projectId, fields, runId, begunAt }) {
    const named = who.filter((name) => fields[name] !== undefined)
    if (named.length > 1) return { kind: 'rejected', reason: `Give only one of ${named.join(' and ')}.` }
    const [by] = named as [(typeof who)[number]]
    const { eventName, properties = {} } = fields
    const run = { id: runId, at: begunAt }
    await does.events.track(projectId, { eventName, [by]: fields[by], properties, run } as TrackEvent)
    return { kind: 'completed', artifacts: [result('event-result', { trackedEvents: 1, eventName })] }
  }
})
