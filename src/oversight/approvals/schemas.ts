import { type TSchema, Type } from '@sinclair/typebox'

const states = ['pending', 'approved', 'rejected', 'expired', 'superseded', 'canceled'] as const
const meaning =
  'pending: it waits for a person. expired: no person decided within 24 hours. superseded: the campaign or its audience had changed, and another approval was asked for. canceled: its task was canceled.'
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

export const State = Type.Union(
  states.map((state) => Type.Literal(state)),
  { description: meaning }
)

export const ApprovalAnswer = Type.Object({
  id: Type.String(),
  state: State,
  skill: Type.String({ description: 'The skill that the agent asked for.' }),
  campaign_id: orNull(Type.String()),
  campaign_name: orNull(Type.String()),
  campaign_version: orNull(Type.Integer({ description: 'The version that was shown; only this one is sent.' })),
  broadcast: Type.Boolean(),
  recipients: Type.Integer({ description: 'Distinct users that the action would reach when it was asked for.' }),
  devices: Type.Integer(),
  complete: Type.Boolean({ description: 'false: the numbers are lower bounds.' }),
  excluded: Type.Record(Type.String(), Type.Integer(), {
    description: 'Number of targets and devices that would receive nothing, by reason.'
  }),
  sample: Type.Array(
    Type.Object({
      project_user_id: orNull(Type.String()),
      title: orNull(Type.String()),
      body: orNull(Type.String())
    }),
    { description: 'The message as some of its recipients would see it.' }
  ),
  command: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: {},
    description: 'The action in the fields of its skill; at most 20 targets, and targetCount has the number of all.'
  }),
  reason: Type.String({ description: 'Why a person is asked.' }),
  key: Type.Object({ id: Type.String(), name: Type.String() }, { description: 'The key that asked.' }),
  agent: orNull(Type.String({ description: 'The name that the agent gave.' })),
  task_id: Type.String(),
  requested_at: Type.String(),
  expires_at: Type.String(),
  decided_at: orNull(Type.String()),
  decided_by: orNull(Type.String()),
  decided_by_name: orNull(Type.String({ description: 'The name of the token or person that decided.' })),
  note: orNull(Type.String()),
  superseded_by: orNull(Type.String({ description: 'The approval that was asked for instead.' })),
  url: Type.String({ description: 'Where a person decides.' })
})

export const Note = Type.Object({
  note: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 2_000,
      description: 'Why. The agent reads it.'
    })
  )
})
