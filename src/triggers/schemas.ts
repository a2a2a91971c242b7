import { type Static, Type } from '@sinclair/typebox'

export type TriggerState = 'scheduled' | 'accepted' | 'running' | 'canceling' | 'completed' | 'canceled' | 'failed'

export const State = Type.Unsafe<TriggerState>({
  type: 'string',
  enum: ['scheduled', 'accepted', 'running', 'canceling', 'completed', 'canceled', 'failed'],
  description: 'scheduled: it waits for its send_at. The last three are final: no message is pending.'
})
const Count = (description: string) => Type.Integer({ description })
const Reasons = (description: string) =>
  Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: { type: 'integer' }, description })
const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })
/** What made a trigger. */
export interface TriggerSource {
  kind: 'api' | 'schedule' | 'event' | 'step'
  [detail: string]: unknown
}
export const Source = Type.Unsafe<TriggerSource>({
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string', enum: ['api', 'schedule', 'event', 'step'] } },
  additionalProperties: {},
  description: 'What made the trigger: a call, an occurrence of a schedule, an event, or a step of a sequence.'
})
const Time = Nullable('In UTC; null: not yet.')

export const Counts = Type.Object(
  {
    targeted: Count('sent + failed + skipped + pending.'),
    sent: Count('Accepted by a gateway.'),
    failed: Count('Refused for good, or not accepted in time.'),
    skipped: Count('Not sent on purpose; skipped has the reasons.'),
    pending: Count('Not settled yet.'),
    delivered: Count('Reported by apps.'),
    tapped: Count('Reported by apps.')
  },
  { description: 'Messages to devices. A target without a device counts as one skipped.' }
)

export const TriggerAnswer = Type.Object({
  trigger_id: Type.String(),
  campaign_id: Type.String(),
  campaign_version: Type.Integer({ description: 'The version that was current when the trigger was accepted.' }),
  state: State,
  reason: Nullable('Why the trigger failed or was canceled by the service, or no_audience; otherwise null.'),
  source: Source,
  step: Nullable('The step of the campaign that it sends; null: the campaign has no steps.'),
  accepted_at: Type.String(),
  send_at: Nullable('When a scheduled trigger starts, or should have started; null: at once.'),
  expanded_at: Time,
  ended_at: Time,
  counts: Counts,
  skipped: Reasons('Number of skipped messages by reason.'),
  failures: Reasons('Number of failed messages by reason.'),
  conversions: Type.Object(
    { converted: Count('Users, each once.'), value: Type.Number({ description: 'The sum over their events.' }) },
    { description: 'Who sent the conversion event of the campaign in time, also of users who were held out.' }
  )
})
export type Trigger = Static<typeof TriggerAnswer>

/** A trigger as the console and the CLI see it. */
export const AuthoredTrigger = Type.Object({
  ...TriggerAnswer.properties,
  actor: Nullable('Who made it: `key …`, `token …` or `member …`; null: the service itself, or not recorded.'),
  actor_name: Nullable('The name of that key, token or person; null: not known.')
})
export type AuthoredTrigger = Static<typeof AuthoredTrigger>

export const TriggerSizeAnswer = Type.Object({
  devices: Type.Integer({ description: 'Devices and targets that it concerns: what counts.targeted comes to.' }),
  complete: Type.Boolean({ description: 'false: the time was too short, and there are more.' })
})
export type TriggerSize = Static<typeof TriggerSizeAnswer>

/** A condition of the segment; a group has conditions of its own. */
export interface GateCondition {
  passed: boolean
  message: string
  conditions?: GateCondition[]
}
export const Conditions = Type.Unsafe<GateCondition[]>({
  type: 'array',
  description:
    'Of the gate segment: each condition with the value that the user has now, as “age is 19, needs more than 30”. Groups have conditions of their own.',
  items: {
    type: 'object',
    required: ['passed', 'message'],
    properties: {
      passed: { type: 'boolean' },
      message: { type: 'string' },
      conditions: { type: 'array', items: { type: 'object', additionalProperties: {} } }
    }
  }
})

export const Gates = Type.Array(
  Type.Object({
    gate: Type.Unsafe<'project' | 'schedule' | 'audience' | 'user' | 'segment' | 'device' | 'rules' | 'delivery'>({
      type: 'string',
      enum: ['project', 'schedule', 'audience', 'user', 'segment', 'device', 'rules', 'delivery'],
      description: 'The check.'
    }),
    passed: Type.Boolean({ description: 'Whether the check was passed.' }),
    reason: Nullable('Why not, as a word for programs; null where the check was passed.'),
    message: Type.String({ description: 'The same as a sentence.' }),
    conditions: Type.Optional(Conditions)
  }),
  { description: 'In the order of the checks. Checks that left no trace are made again, as of now.' }
)

export const ExplainAnswer = Type.Object({
  trigger_id: Type.String(),
  project_user_id: Type.String(),
  state: State,
  gates: Gates,
  devices: Type.Array(
    Type.Object({
      device_id: Type.String(),
      message_id: Nullable('The message to this device; null: none was written.'),
      state: Type.String({
        description: 'The state of the message; pending: it is not written yet; none: there is no message.'
      }),
      gates: Gates
    }),
    { description: 'The devices of the user, the last seen first; at most 100.' }
  )
})
/** One check of an explanation. */
export type Gate = Static<typeof Gates>[number]
export type Explanation = Static<typeof ExplainAnswer>
