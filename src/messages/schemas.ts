import { Type } from '@sinclair/typebox'

// What requests and answers look like, for the docs; bodies are read by items.ts.

/** Null is as good as absent (settled-2, 9). */
const OrNull = <Value>(type: string, more: object) =>
  Type.Optional(Type.Unsafe<Value | null>({ ...more, type: [type, 'null'] }))
const Text = (description: string) => OrNull<string>('string', { description })
const Id = Text
const TargetSchema = Type.Object(
  {
    project_user_id: Id("All devices of a user, by the project's own id."),
    device_id: Id('One device.'),
    user_id: Id("All devices of a user, by the service's own id.")
  },
  { description: 'Exactly one of the three.' }
)
const Ttl = OrNull<number>('integer', {
  minimum: 0,
  maximum: 2_419_200,
  description: 'How long it is worth delivering; less than 10 counts as 10.'
})
const Priority = OrNull<string>('string', {
  enum: ['high', 'normal', null],
  description: 'high, unless said otherwise.'
})
const AnyObject = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: {}, description: `${description} At most 16 KiB.` })

export const SendBody = Type.Object({
  push_notifications: Type.Array(
    Type.Object({
      target: TargetSchema,
      title: Text('A title or a body must be given.'),
      body: Text('The text below the title.'),
      image_url: Text('A picture, by http or https.'),
      landing_url: Text('What a tap opens: an absolute address of any scheme.'),
      collapse_key: Text('Notifications of one key replace each other on the phone.'),
      ttl_seconds: Ttl,
      priority: Priority,
      data: OrNull<Record<string, string>>('object', {
        additionalProperties: { type: 'string' },
        description: 'For the app, texts only.'
      }),
      sound: Text('The name of a sound, or default.'),
      badge: OrNull<number>('integer', { minimum: 0, description: 'The number on the icon.' }),
      channel_id: Text("Android's notification channel."),
      thread_id: Text('Notifications of one thread are grouped.')
    }),
    { minItems: 1, maxItems: 1_000, description: 'Up to 500 are recommended. One bad item, and none is sent.' }
  )
})

const alert = OrNull<object>('object', {
  properties: { title: Type.String({ description: 'The title.' }), body: Type.String({ description: 'The text.' }) },
  required: ['title', 'body'],
  description: 'What the phone shows with it. A start without one says Live Activity / Started.'
})
const content_state = AnyObject('What changes while it runs.')
const attributes_type = { description: 'The Swift type of the attributes.' }

export const StartBody = Type.Object({
  live_activities: Type.Array(
    Type.Object({
      target: TargetSchema,
      attributes_type: Type.String(attributes_type),
      attributes: AnyObject('What stays the same.'),
      content_state,
      alert,
      ttl_seconds: Ttl,
      priority: Priority
    }),
    { minItems: 1, maxItems: 1_000, description: 'One bad item, and none is started.' }
  )
})

const Moment = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | string | null>({
      type: ['integer', 'string', 'null'],
      description: `${description} Unix seconds or RFC 3339, with Z or an offset.`
    })
  )

export const ChangeBody = Type.Object({
  live_activities: Type.Array(
    Type.Object({
      activity_id: Text('One running activity; or else target and attributes_type.'),
      target: Type.Optional(TargetSchema),
      attributes_type: Type.Optional(Type.String(attributes_type)),
      content_state,
      stale_date: Moment('From when on it counts as out of date.'),
      dismissal_date: Moment('When an ended one leaves the screen.'),
      alert,
      ttl_seconds: Ttl,
      priority: Priority
    }),
    { minItems: 1, maxItems: 1_000, description: 'One bad item, and none is changed.' }
  )
})

const Status = Type.Union(
  [
    Type.Literal('DELIVERY_RESULT_STATUS_SUCCEED'),
    Type.Literal('DELIVERY_RESULT_STATUS_FAILED'),
    Type.Literal('DELIVERY_RESULT_STATUS_PENDING')
  ],
  { description: 'SUCCEED: a gateway accepted it. PENDING: it is still being tried.' }
)
const outcome = {
  device_id: Type.String({ description: 'The device; empty where there is none.' }),
  gateway_message_id: Type.String({ description: 'The id the gateway gave it; empty where there is none.' }),
  failure_reason: Type.String({ description: 'Why not, as [CODE] and a sentence; else empty.' })
}
const params = Type.Object({
  ...outcome,
  devices: Type.Optional(
    Type.Array(Type.Object({ ...outcome, status: Status }), { description: 'Each device. Only with ?expand=devices.' })
  ),
  simulated: Type.Optional(
    Type.Boolean({ description: 'Whether it went to the simulator. Only with ?expand=devices.' })
  )
})

export const ResultsAnswer = Type.Object({
  delivery_results: Type.Array(Type.Object({ message_id: Type.String(), status: Status, additional_params: params }), {
    description: 'One for each item, in order.'
  })
})

const MaybeText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })
const MaybeTime = () => Type.Unsafe<string | null>({ type: ['string', 'null'] })

export const MessageEntry = Type.Object({
  message_id: Type.String(),
  ...outcome,
  status: Status,
  state: Type.String({ description: 'queued, handed, unknown, accepted, failed or skipped.' }),
  trigger_id: MaybeText('The trigger that sent it; null if none did.'),
  campaign_id: MaybeText('The campaign that sent it; null if none did.'),
  user_id: MaybeText("The service's own id of the user; null where there is none."),
  project_user_id: MaybeText("The project's own id of the user; null where there is none."),
  kind: Type.String({ description: 'alert, activity-start, activity-update or activity-end.' }),
  title: MaybeText('The title of a notification.'),
  body: MaybeText('The text of a notification.'),
  gateway: MaybeText('apns, fcm or webpush.'),
  gateway_code: MaybeText("The gateway's own word for a failure."),
  attempts: Type.Integer({ description: 'How often a gateway was asked.' }),
  simulated: Type.Boolean({ description: 'Sent to the simulator.' }),
  created_at: Type.String(),
  handed_at: MaybeTime(),
  settled_at: MaybeTime(),
  delivered_at: MaybeTime(),
  tapped_at: MaybeTime(),
  expires_at: Type.String()
})

export const MessageAnswer = Type.Object({
  message_id: Type.String(),
  status: Status,
  additional_params: params,
  trigger_id: MaybeText('The trigger that sent it; null if none did.'),
  campaign_id: MaybeText('The campaign that sent it; null if none did.'),
  created_at: Type.String(),
  devices: Type.Array(MessageEntry, { description: 'Each device it went to.' })
})

const Count = (description: string) => Type.Integer({ description, examples: [3] })
export const MinuteEntry = Type.Object({
  minute: Type.String({ description: 'When it began.', examples: ['2026-01-01T12:00:00.000Z'] }),
  sent: Count('Accepted by a gateway.'),
  failed: Count('Refused for good, or given up.'),
  delivered: Count('Reported by apps.'),
  tapped: Count('Reported by apps.')
})
