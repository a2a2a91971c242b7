import { Type } from '@sinclair/typebox'

export const Status = Type.Union(
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
export const DeviceOutcome = Type.Object({ ...outcome, status: Status })
const params = Type.Object({
  ...outcome,
  devices: Type.Optional(Type.Array(DeviceOutcome, { description: 'Each device. Only with ?expand=devices.' })),
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

export const State = Type.Unsafe<'queued' | 'handed' | 'unknown' | 'accepted' | 'failed' | 'skipped'>({
  type: 'string',
  enum: ['queued', 'handed', 'unknown', 'accepted', 'failed', 'skipped'],
  description: 'The last three are final.'
})
const Kind = Type.Unsafe<'alert' | 'activity-start' | 'activity-update' | 'activity-end'>({
  type: 'string',
  enum: ['alert', 'activity-start', 'activity-update', 'activity-end'],
  description: 'A notification, or a step in the life of a Live Activity.'
})

export const MessageEntry = Type.Object({
  message_id: Type.String(),
  ...outcome,
  status: Status,
  state: State,
  trigger_id: MaybeText('The trigger that sent it; null if none did.'),
  campaign_id: MaybeText('The campaign that sent it; null if none did.'),
  variant: MaybeText('The variant of the campaign; null where it has none.'),
  language: MaybeText('The language of the text, as a tag; null where the campaign names none.'),
  step: MaybeText('The step of the campaign; null where it has none.'),
  user_id: MaybeText("The service's own id of the user; null where there is none."),
  project_user_id: MaybeText("The project's own id of the user; null where there is none."),
  kind: Kind,
  title: MaybeText('The title of a notification.'),
  body: MaybeText('The text of a notification.'),
  gateway: MaybeText('The gateway it was dispatched to, as in the routes of gateways.'),
  gateway_code: MaybeText("The gateway's own word for a failure."),
  attempts: Type.Integer({ description: 'How often it was dispatched to a gateway.' }),
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
  failed: Count('Refused for good, or not accepted in time.'),
  delivered: Count('Reported by apps.'),
  tapped: Count('Reported by apps.')
})
