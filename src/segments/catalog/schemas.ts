import { type Static, Type } from '@sinclair/typebox'

const sampled = Type.Integer({ description: 'How many were looked at.' })
const complete = Type.Boolean({ description: 'Whether these are all there are. Otherwise rare names may be missing.' })
const share = (of: string) => Type.Number({ description: `The share of ${of}, from 0 to 1.` })

export const PropertiesAnswer = Type.Object({
  items: Type.Array(
    Type.Object({
      name: Type.String(),
      types: Type.Array(
        Type.Unsafe<'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'>({
          type: 'string',
          enum: ['string', 'number', 'boolean', 'null', 'object', 'array']
        }),
        { description: 'The types of its values. Only events have objects and arrays.' }
      ),
      share: share('the sample that has it'),
      examples: Type.Array(Type.Unknown(), { description: 'Up to ten values, the most frequent first.' })
    }),
    { description: 'The most frequent first; at most 500.' }
  ),
  sampled,
  complete
})

export const EventNamesAnswer = Type.Object({
  items: Type.Array(Type.Object({ name: Type.String(), share: share('the sample with this name') }), {
    description: 'The most frequent first; at most 500.'
  }),
  sampled,
  complete
})

export type Properties = Static<typeof PropertiesAnswer>
export type EventNames = Static<typeof EventNamesAnswer>
