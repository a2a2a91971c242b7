import { Type } from '@sinclair/typebox'
import { OrNull, Priority, TargetSchema, Text, Ttl } from '../schema.ts'
import { interruptionLevels } from './rich.ts'

export const SendBody = Type.Object({
  push_notifications: Type.Array(
    Type.Object({
      target: TargetSchema,
      title: Text('A title or a body must be given.'),
      body: Text('The text below the title.'),
      image_url: Text('A picture, by http or https.'),
      landing_url: Text('What a tap opens: an absolute address of any scheme.'),
      collapse_key: Text('Notifications of one key replace each other on the phone.'),
      send_at: Text(
        'When it is sent: RFC 3339, at most 90 days ahead. The result is pending until then. Past: at once.'
      ),
      ttl_seconds: Ttl,
      priority: Priority,
      data: OrNull<Record<string, string>>('object', {
        additionalProperties: { type: 'string' },
        description: 'For the app, texts only.'
      }),
      sound: Text('The name of a sound, or default.'),
      badge: OrNull<number>('integer', {
        minimum: 0,
        description: 'The number on the icon, 0 for none. No gateway can add to it.'
      }),
      channel_id: Text("Android's notification channel."),
      thread_id: Text('Notifications of one thread are grouped.'),
      category: Text('The category that the app has registered: iOS shows its buttons.'),
      actions: OrNull<{ id: string; title: string; landing_url?: string | null }[]>('array', {
        items: Type.Object({
          id: Type.String({ minLength: 1, maxLength: 64, description: 'The app is told which button was tapped.' }),
          title: Type.String({ minLength: 1, maxLength: 255 }),
          landing_url: Text('What the button opens.')
        }),
        minItems: 1,
        maxItems: 4,
        description: 'Buttons. Browsers show the first two; on iOS the category decides.'
      }),
      interruption_level: OrNull<string>('string', {
        enum: [...interruptionLevels, null],
        description: 'How much it may disturb. critical needs an entitlement of Apple.'
      }),
      relevance_score: OrNull<number>('number', {
        minimum: 0,
        maximum: 1,
        description: 'Which of an app comes first in a summary of iOS.'
      }),
      silent: OrNull<boolean>('boolean', {
        description: 'true: nothing is shown; the app is woken with data. Browsers cannot.'
      })
    }),
    { minItems: 1, maxItems: 1_000, description: 'Up to 500 are recommended. One bad item, and none is sent.' }
  )
})
