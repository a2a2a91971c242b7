import { Type } from '@sinclair/typebox'
import { mostNames, unknownNames } from '../platform/http/schema.ts'
import { mostUnknown } from '../platform/unknown-names.ts'

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

export const UserList = Type.Object({
  items: Type.Array(User),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
  searched: Type.Optional(
    Type.Integer({ description: 'How many users this page was searched in, if no index named them.' })
  ),
  about: Type.Optional(
    Type.Integer({ description: 'About how many users the project has, while a search is not complete.' })
  )
})

export const NewUserBody = Type.Object(
  { project_user_id: IdSchema, properties: Type.Optional(PropertiesSchema) },
  // Also where the body is read in slices, so that the warning does not depend on how its names are written.
  { [unknownNames]: mostUnknown }
)

export const PropertyChangeBody = Type.Object({
  set: Type.Optional(PropertiesSchema),
  remove: Type.Optional(
    Type.Array(Type.String(), { maxItems: maxProperties, description: 'Names. Absent ones are ignored.' })
  ),
  before: Type.Optional(
    Type.Unsafe<Record<string, string | number | boolean | null>>({
      ...PropertiesSchema,
      description:
        'The values from which the change starts. If a property of `set` or `remove` has another value now, or one that is not here exists, the response is 409 and nothing changes.'
    })
  )
})

export const IndexedProperty = Type.Object({
  name: Type.String(),
  state: Type.Union([Type.Literal('building'), Type.Literal('ready')]),
  visited: Type.Optional(Type.Integer({ description: 'While it is built: the users visited so far.' })),
  about: Type.Optional(
    Type.Integer({ description: 'About how many users there are; absent while that is not known.' })
  ),
  created_at: Type.String()
})

export const ImportResult = Type.Object({
  imported: Type.Integer(),
  failed: Type.Integer(),
  errors: Type.Array(Type.Object({ line: Type.Integer(), error: Type.String(), code: Type.String() }), {
    description: 'The first 100.'
  })
})
