import { Type } from '@sinclair/typebox'

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
export const Events = Type.Array(Type.Union(eventTypes.map((type) => Type.Literal(type))), {
  minItems: 1,
  maxItems: 50,
  description: 'The events to call for.'
})
export const Active = Type.Boolean({
  description: 'Whether new events are sent to it. Events from before are still sent.'
})
export const Secret = Type.String({ description: 'Signs the calls (Standard Webhooks). It is shown this once.' })

export const webhook = {
  id: Type.String(),
  url: Url,
  events: Events,
  active: Active,
  created_at: Type.String(),
  updated_at: Type.String()
}
export const WebhookAnswer = Type.Object(webhook)
export const State = Type.Union([Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('failed')], {
  description: 'pending: not delivered yet, retried. failed: not delivered within a day; it can be replayed.'
})
export const DeliveryAnswer = Type.Object({
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
  next_at: Type.Union([Type.String(), Type.Null()]),
  settled_at: Type.Union([Type.String(), Type.Null()])
})
