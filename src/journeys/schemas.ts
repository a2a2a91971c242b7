import { type Static, Type } from '@sinclair/typebox'

const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

export const JourneyAnswer = Type.Object({
  journey_id: Type.String(),
  campaign_id: Type.String(),
  campaign_version: Type.Integer({ description: 'The version with which the user entered, and finishes.' }),
  source: Type.Unsafe<{ kind: 'event' | 'trigger'; [detail: string]: unknown }>({
    type: 'object',
    required: ['kind'],
    properties: { kind: { type: 'string', enum: ['event', 'trigger'] } },
    additionalProperties: {},
    description: 'The event, or the trigger, with which it began.'
  }),
  state: Type.Unsafe<'waiting' | 'completed' | 'exited' | 'stopped'>({
    type: 'string',
    enum: ['waiting', 'completed', 'exited', 'stopped'],
    description: 'exited: by an event. stopped: the campaign was not active when the next message was due.'
  }),
  message: Type.String({ description: 'The state in a sentence.' }),
  step: Nullable('The step that comes next, or would have come; null: the campaign has no steps, or all were sent.'),
  entered_at: Type.String(),
  due_at: Nullable('When the next message is due; null if none is.'),
  ended_at: Nullable('In UTC; null: not yet.'),
  reason: Nullable('The name of the event by which the user left, or why the campaign stopped.'),
  not_entered_again: Type.Integer({ description: 'How often the user could not enter again meanwhile.' })
})
export type JourneyAnswer = Static<typeof JourneyAnswer>

export const CampaignJourneys = Type.Object({
  waiting: Type.Integer({ description: 'Users on their way.' }),
  completed: Type.Integer(),
  exited: Type.Integer(),
  stopped: Type.Integer(),
  not_entered_again: Type.Integer({ description: 'How often a user could not enter again.' }),
  steps: Type.Array(
    Type.Object({
      campaign_version: Type.Integer(),
      step: Nullable('The step that they wait for; null: the campaign has no steps.'),
      waiting: Type.Integer(),
      next_due_at: Type.String()
    }),
    { description: 'Users who wait, by version and step.' }
  )
})
