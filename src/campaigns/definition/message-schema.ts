import { type Static, Type } from '@sinclair/typebox'
import { durationPattern, durationRule } from '../../platform/duration.ts'
import { saying } from '../../platform/http/schema.ts'

export const Template = (description: string) =>
  Type.String({ maxLength: 16_384, description: `${description} A Liquid template.` })

const texts = {
  title: Type.Optional(Template('At least one of title and body.')),
  body: Type.Optional(Template('At least one of title and body.')),
  image_url: Type.Optional(Template('http or https.')),
  landing_url: Type.Optional(Template('An absolute address of any scheme.'))
}
const tag = '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,7}$'
const tagRule = 'must be a language tag such as en, pt-BR or zh-Hant'

export const TranslationSchema = Type.Object(
  {
    ...texts,
    actions: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string', minLength: 1, maxLength: 16_384 },
        maxProperties: 4,
        description: 'The texts of buttons by their ids: {open: Öffnen}.'
      })
    )
  },
  { description: 'The texts of one language. A text that is absent or empty here is the one of the default language.' }
)
type Translation = Static<typeof TranslationSchema>

const Plain = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 255, description }))

/** Fields that not every gateway can show: docs/reference/payloads.md has a table. */
const rich = {
  sound: Plain('The name of a sound, or default.'),
  badge: Type.Optional(
    Type.Unsafe<number | string>({
      type: ['integer', 'string'],
      minimum: 0,
      maximum: 2_147_483_647,
      maxLength: 1_024,
      description: 'The number on the icon, 0 for none, or a template of one. No gateway can add to it.'
    })
  ),
  channel_id: Plain("Android's notification channel."),
  thread_id: Type.Optional(Template('Notifications of one thread are grouped.')),
  collapse_key: Type.Optional(Template('Notifications of one key replace each other on the phone.')),
  category: Plain('The category that the app has registered: iOS shows its buttons.'),
  actions: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ minLength: 1, maxLength: 64, description: 'The app is told which button was tapped.' }),
        title: Template('The text of the button.'),
        landing_url: Type.Optional(Template('What the button opens: an absolute address of any scheme.'))
      }),
      { minItems: 1, maxItems: 4, description: 'Buttons. Browsers show the first two; on iOS the category decides.' }
    )
  ),
  interruption_level: Type.Optional(
    Type.Unsafe<'passive' | 'active' | 'time-sensitive' | 'critical'>({
      type: 'string',
      enum: ['passive', 'active', 'time-sensitive', 'critical'],
      description: 'How much it may disturb. critical needs an entitlement of Apple.'
    })
  ),
  relevance_score: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Which of an app comes first in a summary of iOS.' })
  ),
  silent: Type.Optional(
    Type.Boolean({ description: 'true: nothing is shown; the app is woken with data. Browsers cannot.' })
  ),
  data: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 16_384 },
      maxProperties: 50,
      description: 'For the app, texts only. Each is a Liquid template.'
    })
  )
}

export const MessageSchema = Type.Object({
  ...texts,
  ...rich,
  language: Type.Optional(Type.String({ ...saying(tagRule, tag), description: 'Of the texts beside it: en, pt-BR.' })),
  translations: Type.Optional(
    Type.Unsafe<Record<string, Translation>>({
      type: 'object',
      additionalProperties: TranslationSchema,
      maxProperties: 100,
      description: 'By language tag: {de: {title: Hallo}, pt-BR: {title: Olá}}.'
    })
  )
})

const Id = (description: string) =>
  Type.String({ ...saying('must be a to z, digits, _ and -, at most 64', '^[a-z0-9_-]{1,64}$'), description })

export const VariantSchema = Type.Object({
  id: Id('Of your choice. Users keep their variant while ids and weights stay.'),
  weight: Type.Number({ minimum: 0, maximum: 1_000_000, description: 'The share of users, relative to the others.' }),
  message: MessageSchema
})

export const StepSchema = Type.Object({
  id: Id('Of your choice.'),
  wait: Type.Optional(
    Type.String({ ...saying(durationRule, durationPattern), description: 'After the step before it: 2d.' })
  ),
  message: Type.Optional(MessageSchema),
  variants: Type.Optional(Type.Array(VariantSchema, { minItems: 2, maxItems: 20, description: 'Instead of message.' }))
})
