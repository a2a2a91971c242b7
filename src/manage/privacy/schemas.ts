import { Type } from '@sinclair/typebox'

const Time = Type.String({ format: 'date-time' })

export const RemainingAnswer = Type.Object({
  table: Type.String(),
  rows: Type.Integer({ description: 'Rows that still hold the id; 0 if they could not be searched.' }),
  reason: Type.String(),
  until: Type.Union([Time, Type.Null()], { description: 'When the last of them ends. null: until you change it.' })
})

export const ErasureAnswer = Type.Object({
  erasure_id: Type.String(),
  project_id: Type.String(),
  subject: Type.String({ description: 'A keyed hash of the project_user_id. The id itself is not kept.' }),
  actor: Type.String({ description: 'The token or the member that asked for it.' }),
  requested_at: Time,
  completed_at: Time,
  erased: Type.Unsafe<Record<string, number>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'By table: rows that were deleted, or rewritten without the user. Each counts once.'
  }),
  remaining: Type.Array(RemainingAnswer, { description: 'What still holds the id, why, and until when.' }),
  signature: Type.String({ description: 'Proves that this project issued the receipt as it is.' })
})

export const ErasureBody = Type.Object({
  project_user_id: Type.String({ description: "The project's own id of the user." })
})

export const VerifyBody = Type.Object({
  receipt: ErasureAnswer,
  project_user_id: Type.Optional(Type.String({ description: 'Is the receipt about this user?' }))
})

export const VerifyAnswer = Type.Object({
  valid: Type.Boolean({ description: 'Whether this project issued the receipt, and it is unchanged.' }),
  same_user: Type.Union([Type.Boolean(), Type.Null()], { description: 'null if no user was named.' })
})
