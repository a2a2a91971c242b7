import { Type } from '@sinclair/typebox'
import { mostNames } from '../platform/http/schema.ts'

export const maxProperties = 1_000

export const PropertiesSchema = Type.Unsafe<Record<string, string | number | boolean | null>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  [mostNames]: maxProperties,
  description: 'Names of 1 to 256 characters; at most 1,000 properties and 64 KiB a user. null is a value.'
})
export const IdSchema = Type.String({
  description: '1 to 512 characters, no control characters.',
  minLength: 1,
  maxLength: 512
})
export const UserProperties = Type.Object({ properties: PropertiesSchema })

export const User = Type.Object({
  id: Type.String({ description: "The service's own id." }),
  project_user_id: Type.String(),
  properties: PropertiesSchema,
  created_at: Type.String(),
  updated_at: Type.String()
})

export const ImportResult = Type.Object({
  imported: Type.Integer(),
  failed: Type.Integer(),
  errors: Type.Array(Type.Object({ line: Type.Integer(), error: Type.String(), code: Type.String() }), {
    description: 'The first 100.'
  })
})
