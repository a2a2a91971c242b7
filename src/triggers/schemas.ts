import { type Static, Type } from '@sinclair/typebox'

export type TriggerState = 'accepted' | 'running' | 'canceling' | 'completed' | 'canceled' | 'failed'
const states: TriggerState[] = ['accepted', 'running', 'canceling', 'completed', 'canceled', 'failed']
export const State = Type.Unsafe<TriggerState>({
  type: 'string',
  enum: states,
  description: 'The last three are ends: then nothing is pending.'
})
const Count = (description: string) => Type.Integer({ description })
const Reasons = (description: string) =>
  Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: { type: 'integer' }, description })
const Time = Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'When, in UTC; null: not yet.' })

export const TriggerAnswer = Type.Object({
  trigger_id: Type.String(),
  campaign_id: Type.String(),
  campaign_version: Type.Integer({ description: 'The version it was accepted with, and runs.' }),
  state: State,
  reason: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'Why it failed, or no_audience; else null.'
  }),
  accepted_at: Type.String(),
  expanded_at: Time,
  ended_at: Time,
  counts: Type.Object(
    {
      targeted: Count('sent + failed + skipped + pending.'),
      sent: Count('Accepted by a gateway.'),
      failed: Count('Refused for good, or given up.'),
      skipped: Count('Held back on purpose: see skipped.'),
      pending: Count('Under way.'),
      delivered: Count('Reported by apps.'),
      tapped: Count('Reported by apps.')
    },
    { description: 'Messages to devices. A target without a device counts as one skipped.' }
  ),
  skipped: Reasons('How many were skipped for which reason.'),
  failures: Reasons('How many failed for which reason.')
})

const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

const Gates = Type.Array(
  Type.Object({
    gate: Type.Unsafe<'project' | 'audience' | 'user' | 'segment' | 'device' | 'rules' | 'delivery'>({
      type: 'string',
      enum: ['project', 'audience', 'user', 'segment', 'device', 'rules', 'delivery'],
      description: 'What was asked.'
    }),
    passed: Type.Boolean({ description: 'Whether it was no obstacle.' }),
    reason: Nullable('Why not, as a word; null where it was passed.'),
    message: Type.String({ description: 'The same for people.' })
  }),
  { description: 'In the order in which they are asked. What can change is asked as of now.' }
)

export const ExplainAnswer = Type.Object({
  trigger_id: Type.String(),
  project_user_id: Type.String(),
  state: State,
  gates: Gates,
  devices: Type.Array(
    Type.Object({
      device_id: Type.String(),
      message_id: Nullable('The message to it, if one was made.'),
      state: Type.String({ description: 'Of the message; pending: it is not made yet; none: there is none.' }),
      gates: Gates
    }),
    { description: 'The devices of the user, last seen first; at most 100.' }
  )
})

export type Trigger = Static<typeof TriggerAnswer>
/** Why a user received the message of a trigger, or why not. */
export type Explanation = Static<typeof ExplainAnswer>
/** One check that a message must pass. */
export type Gate = Explanation['gates'][number]
