import { type Static, Type } from '@sinclair/typebox'
import { takesMore } from '../platform/http/schema.ts'

const Text = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255 })
const Custom = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: {} })

/** The fields beside the name. Some SDKs call them event_property, others properties. */
export const EventProperty = Type.Object(
  {
    message_id: Type.Optional({ ...Text, description: 'The message this is about.' }),
    user_journey_id: Type.Optional({ ...Text, description: 'The journey this is about.' }),
    user_journey_node_id: Type.Optional({ ...Text, description: 'The step of the journey.' }),
    custom_properties: Type.Optional(
      Type.Unsafe<Record<string, unknown> | null>({
        type: ['object', 'null'],
        additionalProperties: {},
        description: 'Any JSON, at most 64 KiB and 16 levels.'
      })
    )
  },
  { [takesMore]: true }
)

export const SentEvent = Type.Object({
  id: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 128,
      description: 'Chosen by the caller. An event of the same id is stored once within 7 days, so a retry is safe.'
    })
  ),
  device_id: Type.String({ description: 'A registered device.' }),
  name: Type.String({ description: '1 to 256 characters.', minLength: 1 }),
  event_property: Type.Optional(
    Type.Unsafe<Static<typeof EventProperty> | null>({ ...EventProperty, type: ['object', 'null'] })
  ),
  properties: Type.Optional(
    Type.Unsafe<Static<typeof EventProperty> | null>({
      ...EventProperty,
      type: ['object', 'null'],
      description: 'Another name for event_property. In both, names that are not listed here are custom properties too.'
    })
  ),
  source_type: Type.Optional({ ...Text, description: 'SERVICE for what an SDK records by itself.' }),
  at: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'When it happened, RFC 3339. Used if it lies in the last 7 days; else, and if absent, the time of arrival counts.'
    })
  )
})

const Answered = Type.Object({
  message_id: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
  user_journey_id: Type.Optional(Type.String({ description: 'The journey this is about.' })),
  user_journey_node_id: Type.Optional(Type.String({ description: 'The step of the journey.' })),
  custom_properties: Custom
})

export const EventAnswer = Type.Object({
  id: Type.Optional(Type.String({ description: 'The id that was sent.' })),
  user_id: Type.String({ description: "The service's own id of the user." }),
  device_id: Type.String(),
  name: Type.String({ description: 'What happened.' }),
  event_property: Answered,
  properties: { ...Answered, description: 'The same once more, for SDKs that read it here.' },
  at: Type.String()
})

const NullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] })
export const ManagedEvent = Type.Object({
  id: Type.String(),
  at: Type.String(),
  name: Type.String({ description: 'What happened.' }),
  user_id: Type.String({ description: "The service's own id of the user." }),
  project_user_id: { ...NullableText, description: 'null: the user is anonymous.' },
  device_id: NullableText,
  message_id: NullableText,
  details: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
  properties: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: {},
    description: 'The custom properties, any JSON.'
  })
})
