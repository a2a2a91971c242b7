import { Type } from '@sinclair/typebox'
import { mostNames, printable } from '../platform/http/schema.ts'

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
export const ConsentBody = Type.Object({
  source: Type.String({
    ...printable,
    minLength: 1,
    maxLength: 200,
    description: 'Where the person chose: `checkout`, `app settings`.'
  }),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_000,
      description: 'What the person agreed to: the version of a text, or the text.'
    })
  ),
  at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the person chose, RFC 3339, not in the future. Default: now.'
    })
  )
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
  ),
  consent: Type.Optional({ ...ConsentBody, description: 'Evidence of the choices in this request.' })
})

const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

export const ConsentAnswer = Type.Object({
  topic: Nullable('null: messages at all, as `opted_out` says.'),
  granted: Type.Boolean({ description: 'true: the person wants them.' }),
  at: Type.String({ format: 'date-time', description: 'When the person chose.' }),
  recorded_at: Type.String({ format: 'date-time', description: 'When that was stored.' }),
  source: Nullable('Where the person chose; null: the caller did not say.'),
  text: Nullable('What the person agreed to; null: the caller did not say.'),
  via: Type.Union(
    (['public_key', 'secret_key', 'agent', 'token', 'member'] as const).map((kind) => Type.Literal(kind)),
    { description: 'Who sent it. An agent is a secret key with a policy.' }
  ),
  actor: Type.String({ description: 'That caller, as the audit log names it: `key …`, `token …` or `member …`.' })
})

export const ConsentsAnswer = Type.Object({
  consents: Type.Array(ConsentAnswer, {
    description: 'The latest yes and the latest no to each topic, and to messages at all.'
  })
})
