import { type Static, Type } from '@sinclair/typebox'

const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

const Missing = Type.Array(Type.String(), {
  description: 'Values in the text that are missing and have no default: trigger.code, user.name.'
})

/** The message of a sample, as far as people see it. */
interface PreviewContent {
  notification?: { title?: string; body?: string; imageUrl?: string; landingUrl?: string }
  activity?: { attributesType: string; contentState: object; alert?: { title?: string; body?: string } }
}

export const PreviewAnswer = Type.Object({
  campaign_version: Type.Optional(Type.Integer({ description: 'The version that was previewed; absent for a draft.' })),
  confirmation_id: Type.Optional(
    Type.String({
      description:
        'Only for keys whose policy wants broadcasts to be confirmed: a trigger with this id sends what is shown here, within 15 minutes.'
    })
  ),
  audience: Type.Object(
    {
      users: Type.Integer({ description: 'Users with a device that would receive the message.' }),
      devices: Type.Integer({ description: 'Devices that would receive the message.' }),
      deferred: Type.Integer({ description: 'Of these devices, those that get it later, when quiet hours are over.' }),
      complete: Type.Boolean({
        description: 'false: the time was too short for the whole audience, and the numbers are lower bounds.'
      }),
      reason: Nullable('Why the audience is empty, or why it was not counted completely.'),
      skipped: Type.Unsafe<Record<string, number>>({
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'Number of targets and devices that would be skipped, by reason.'
      }),
      visited: Type.Optional(
        Type.Integer({
          description: 'If the time was too short for everyone: how many users were compared until then.'
        })
      ),
      about: Type.Optional(
        Type.Integer({ description: 'With `visited`: about how many users the project has, if that is known.' })
      )
    },
    { description: 'The users and devices that would receive the message.' }
  ),
  sample: Type.Array(
    Type.Object({
      project_user_id: Nullable('null: the user of the device is anonymous.'),
      device_id: Type.String(),
      platform: Type.Unsafe<'IOS' | 'ANDROID' | 'WEB'>({ type: 'string' }),
      reason: Nullable('Why the message would not be sent; null: it would be.'),
      content: Type.Unsafe<PreviewContent | null>({ type: ['object', 'null'], description: 'The rendered message.' }),
      variant: Nullable('The variant of this user; null: the campaign has none.'),
      language: Nullable('The language of the text; null: the campaign names none.'),
      missing: Missing,
      payload_bytes: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'The size of the payload for the gateway of this device: APNs and FCM take 4,096, Web Push 3,993.'
      })
    }),
    { description: 'Up to five devices.' }
  ),
  texts: Type.Array(
    Type.Object({
      step: Nullable('The step; null: the campaign has none.'),
      variant: Nullable('The variant; null: the campaign has none.'),
      language: Nullable('The language; null: the campaign names none.'),
      content: Type.Unsafe<PreviewContent | null>({ type: ['object', 'null'], description: 'The rendered message.' }),
      reason: Nullable('Why it cannot be rendered; null: it can.'),
      missing: Missing
    }),
    {
      description:
        'Every step, variant and language, as the first device of the sample would see it: up to 50. Empty if the campaign has a single text.'
    }
  ),
  missing_values: Type.Object(
    {
      sampled: Type.Integer({ description: 'Devices whose message was rendered: up to 50.' }),
      names: Type.Unsafe<Record<string, number>>({
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'For how many of them a value was missing, by its name.'
      })
    },
    {
      description:
        'Values that templates use without a default, and that are missing. on_missing: skip leaves these devices out.'
    }
  ),
  trigger_properties: Type.Array(
    Type.Object({
      name: Type.String({ description: 'The name after trigger, such as code or order.total.' }),
      path: Type.Array(Type.String(), { description: 'The same as a list: names may hold dots.' }),
      type: Type.Unsafe<'text' | 'number' | 'boolean' | 'json'>({
        type: 'string',
        enum: ['text', 'number', 'boolean', 'json'],
        description: 'What the campaign does with the value suggests this type; json: a list or an object.'
      }),
      required: Type.Boolean({
        description: 'A text has neither a default nor a condition for it, or the segment needs it.'
      }),
      paths: Type.Array(Type.String(), { description: 'Where the campaign uses it: message.title, segment.' })
    }),
    { description: 'The values of the trigger, or of the event, that the campaign refers to; at most 100.' }
  ),
  next_at: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'For a draft with a schedule: its next five times in UTC; with timezone user, as local times. Empty: none lies ahead.'
    })
  ),
  cannot_run: Type.Optional(
    Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
      description: 'For a draft: what it lacks before it can be active, by field. Empty: nothing.'
    })
  ),
  warnings: Type.Array(Type.String(), {
    description:
      'Fields of the request that a trigger ignores, as unknown field "recipients"; at most five. For a draft also what saving it warns of.'
  })
})
export type Preview = Static<typeof PreviewAnswer>
