import { type Static, Type } from '@sinclair/typebox'

/** The content of a message after its templates were rendered. */
type Content = {
  notification?: { title?: string; body?: string; imageUrl?: string; landingUrl?: string }
  activity?: { attributesType: string; contentState: object }
}

const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

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
      platform: Type.Unsafe<'IOS' | 'ANDROID' | 'WEB'>({ type: 'string' }),
      reason: Nullable('Why it would not arrive; null where nothing speaks against it.'),
      content: Type.Unsafe<Content | null>({
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

/** What a trigger would do, without doing it. */
export type Preview = Static<typeof PreviewAnswer>
