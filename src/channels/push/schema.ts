import { Type } from '@sinclair/typebox'
import { OrNull, Priority, TargetSchema, Text, Ttl } from '../schema.ts'

export const SendBody = Type.Object({
  push_notifications: Type.Array(
    Type.Object({
      target: TargetSchema,
      title: Text('A title or a body must be given.'),
      body: Text('The text below the title.'),
      image_url: Text('A picture, by http or https.'),
      landing_url: Text('What a tap opens: an absolute address of any scheme.'),
      collapse_key: Text('Notifications of one key replace each other on the phone.'),
      ttl_seconds: Ttl,
      priority: Priority,
      data: OrNull<Record<string, string>>('object', {
        additionalProperties: { type: 'string' },
        description: 'For the app, texts only.'
      }),
      sound: Text('The name of a sound, or default.'),
      badge: OrNull<number>('integer', { minimum: 0, description: 'The number on the icon.' }),
      channel_id: Text("Android's notification channel."),
      thread_id: Text('Notifications of one thread are grouped.')
    }),
    { minItems: 1, maxItems: 1_000, description: 'Up to 500 are recommended. One bad item, and none is sent.' }
  )
})
