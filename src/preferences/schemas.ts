import { Type } from '@sinclair/typebox'
import { mostNames } from '../platform/http/schema.ts'

const Default = Type.Union([Type.Literal('subscribed'), Type.Literal('unsubscribed')], {
  description: 'For users who have made no choice.'
})
const Name = Type.String({ minLength: 1, maxLength: 200, description: 'As users read it.' })
const Description = Type.String({ maxLength: 1_000, description: 'What the messages of this topic are about.' })

export const TopicBody = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  default: Type.Optional({ ...Default, default: 'subscribed' })
})
export const TopicAnswer = Type.Object({
  topic: Type.String({ description: 'The id: a to z, digits, _ and -.' }),
  name: Name,
  description: Description,
  default: Default,
  created_at: Type.String(),
  updated_at: Type.String()
})

export const PreferencesAnswer = Type.Object({
  opted_out: Type.Boolean({ description: 'true: the user gets transactional messages only.' }),
  topics: Type.Unsafe<Record<string, boolean>>({
    type: 'object',
    additionalProperties: { type: 'boolean' },
    description: 'Every topic of the project, and whether the user gets its messages.'
  })
})
export const PreferencesBody = Type.Object({
  opted_out: Type.Optional(
    Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'null is false, the default.' })
  ),
  topics: Type.Optional(
    Type.Unsafe<Record<string, boolean | null>>({
      type: 'object',
      additionalProperties: { type: ['boolean', 'null'] },
      [mostNames]: 200,
      description: 'Topics to change. null restores the default of the topic.'
    })
  )
})
