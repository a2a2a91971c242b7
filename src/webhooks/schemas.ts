import { type TSchema, Type } from '@sinclair/typebox'
import { overlapField } from '../platform/http/overlap.ts'

export const eventTypes = [
  'message.accepted',
  'message.failed',
  'message.delivered',
  'message.tapped',
  'trigger.completed',
  'approval.requested',
  'approval.decided',
  'user.opted_out',
  'campaign.converted'
] as const
export type EventType = (typeof eventTypes)[number]

export const Url = Type.String({ maxLength: 2048, description: 'Where to call: https, at a public address.' })
export const EventName = Type.Union(eventTypes.map((type) => Type.Literal(type)))
export const Events = Type.Array(EventName, {
  minItems: 1,
  maxItems: 50,
  description: 'The events to call for.'
})
export const Active = Type.Boolean({
  description: 'Whether new events are sent to it. Events from before are still sent.'
})
export const Secret = Type.String({ description: 'Signs the calls (Standard Webhooks). It is shown this once.' })

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
export const RotateSecret = Type.Object({
  overlap: overlapField(
    'How long the old secret still signs: 15m, 24h, 7d; at most 30d. 0s, for one that leaked, ends all earlier secrets at once. Default: 24h.'
  )
})
export const Description = orNull(Type.String({ maxLength: 500, description: 'A note for people. null: none.' }))

export const webhook = {
  id: Type.String(),
  url: Url,
  events: Events,
  active: Active,
  description: Description,
  created_at: Type.String(),
  updated_at: Type.String()
}
export const WebhookAnswer = Type.Object(webhook)
export const State = Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')], {
  description: 'pending: not delivered yet, retried. failed: not delivered within a day; it can be replayed.'
})
const delivery = {
  id: Type.String({ description: 'The webhook-id that the receiver sees.' }),
  state: State,
  source: Type.Object(
    { kind: Type.String({ description: 'outcome or task.' }), id: Type.String() },
    { description: 'The webhook or the task of the call.' }
  ),
  url: Url,
  attempts: Type.Integer({ description: 'How often it was tried.' }),
  last_status: Type.Union([Type.Integer(), Type.Null()], { description: 'The HTTP status of the last response.' }),
  last_error: Type.Union([Type.String(), Type.Null()], { description: 'Why the last attempt failed.' }),
  created_at: Type.String(),
  next_at: orNull(Type.String({ description: 'When the next attempt is due; null once the delivery has ended.' })),
  settled_at: orNull(Type.String())
}
export const DeliveryAnswer = Type.Object(delivery)
export const AttemptAnswer = Type.Object({
  at: Type.String(),
  duration_ms: Type.Integer(),
  status: orNull(Type.Integer({ description: 'The HTTP status of the response; null: none arrived.' })),
  error: orNull(Type.String({ description: 'Why the attempt failed; null: it did not.' })),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'The headers of the request. Values that a subscriber chose are masked.'
  }),
  response: orNull(Type.String({ description: 'The first 2,048 bytes of the body of the response.' }))
})
export const DeliveryDetailAnswer = Type.Object({
  ...delivery,
  body: Type.String({ description: 'The body of the request, as it is sent and signed.' }),
  expires_at: orNull(Type.String({ description: 'When a pending delivery is given up.' })),
  made: Type.Array(AttemptAnswer, { description: 'The attempts, newest first.' })
})
