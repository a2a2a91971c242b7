import { Type } from '@sinclair/typebox'
import type { Explanation, Preview } from './responses.ts'
import { State } from './wire.ts'

const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

const Gates = Type.Array(
  Type.Object({
    gate: Type.Unsafe<Explanation['gates'][0]['gate']>({
      type: 'string',
      enum: ['project', 'audience', 'user', 'segment', 'device', 'rules', 'delivery'],
      description: 'What was asked.'
    }),
    passed: Type.Boolean({ description: 'Whether it was no obstacle.' }),
    reason: Nullable('Why not, as a word; null where it was passed.'),
    message: Type.String({ description: 'The same for people.' })
  }),
  { description: 'In the order in which they are asked. What can change is asked as of now.' }
)

export const ExplainAnswer = Type.Object({
  trigger_id: Type.String(),
  project_user_id: Type.String(),
  state: State,
  gates: Gates,
  devices: Type.Array(
    Type.Object({
      device_id: Type.String(),
      message_id: Nullable('The message to it, if one was made.'),
      state: Type.String({ description: 'Of the message; pending: it is not made yet; none: there is none.' }),
      gates: Gates
    }),
    { description: 'The devices of the user, last seen first; at most 100.' }
  )
})

export const PreviewAnswer = Type.Object({
  audience: Type.Object(
    {
      users: Type.Integer({ description: 'Users with a device that would get it.' }),
      devices: Type.Integer({ description: 'Devices that would get it.' }),
      complete: Type.Boolean({ description: 'false: there are at least so many; there was no time to look at all.' }),
      reason: Nullable('Why nobody was found, or not everyone was looked at.'),
      skipped: Type.Unsafe<Record<string, number>>({
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'How many targets and devices would be skipped for which reason.'
      })
    },
    { description: 'Who would get it.' }
  ),
  sample: Type.Array(
    Type.Object({
      project_user_id: Nullable('null: nobody has logged in on the device.'),
      device_id: Type.String(),
      platform: Type.String(),
      reason: Nullable('Why it would not arrive; null where nothing speaks against it.'),
      content: Type.Unsafe<Preview['sample'][0]['content']>({
        type: ['object', 'null'],
        description: 'What would be sent.'
      }),
      payload_bytes: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description:
          'The size of the payload that the gateway of this device would get: APNs and FCM take 4,096, Web Push 3,993.'
      })
    }),
    { description: 'The first few.' }
  ),
  warnings: Type.Array(Type.String(), {
    description: 'Fields of the request that a trigger ignores, as unknown field "recipients"; at most five.'
  })
})
