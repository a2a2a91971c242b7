import { type TSchema, Type } from '@sinclair/typebox'
import { taskStates } from '../states.ts'

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
export const State = Type.Union(
  taskStates.map((state) => Type.Literal(state)),
  { description: 'The state in the spelling of the contract.' }
)

export const TaskRecordAnswer = Type.Object({
  id: Type.String(),
  context_id: Type.String({ description: 'The conversation that the task belongs to.' }),
  state: State,
  begun_at: Type.String(),
  changed_at: Type.String(),
  asked_by: Type.Object(
    {
      actor: orNull(Type.String({ description: 'As the audit log names it.' })),
      actor_name: orNull(Type.String({ description: 'The name of the token or person, if it was no key.' })),
      key_id: orNull(Type.String()),
      key_name: orNull(Type.String()),
      agent: orNull(Type.String({ description: 'The name that the agent gave.' }))
    },
    { description: 'Who sent the first message.' }
  ),
  request: Type.String({ description: 'The first message in a line.' }),
  understood: orNull(
    Type.Object(
      {
        skill: orNull(Type.String()),
        fields: Type.Record(Type.String(), Type.Unknown()),
        text: orNull(Type.String({ description: 'A text as it was understood, in words.' }))
      },
      { description: 'The skill and the fields that the messages led to; null: none so far.' }
    )
  ),
  steps: Type.Array(
    Type.Object({
      kind: Type.Union([Type.Literal('message'), Type.Literal('state'), Type.Literal('result')]),
      at: orNull(Type.String({ description: 'null for messages of the agent and for results.' })),
      state: orNull(Type.String()),
      name: orNull(Type.String({ description: 'Of a result.' })),
      text: orNull(Type.String()),
      data: Type.Array(Type.Unknown())
    }),
    { description: 'What was asked, understood, shown, agreed and done, in order.' }
  )
})
