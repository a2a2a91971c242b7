import { Type } from '@sinclair/typebox'
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

export const TranslationSchema = Type.Object(texts, {
  description: 'The texts of one language. A text that is absent here is the one of the default language.'
})

export const MessageSchema = Type.Object({
  ...texts,
  language: Type.Optional(Type.String({ ...saying(tagRule, tag), description: 'Of the texts beside it: en, pt-BR.' })),
  translations: Type.Optional(
    Type.Unsafe<Record<string, { title?: string; body?: string; image_url?: string; landing_url?: string }>>({
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
