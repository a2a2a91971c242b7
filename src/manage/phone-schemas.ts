import { Type } from '@sinclair/typebox'
import { printable } from '../platform/http/schema.ts'

const Text = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })
const platforms = ['IOS', 'ANDROID', 'WEB'] as const
const states = ['reachable', 'offline', 'denied', 'uninstalled', 'unreachable'] as const

export const PhoneQuery = {
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      ...printable,
      description: 'A part of the id of the device or of its user, among the newest 10,000 devices.'
    })
  ),
  project_user_id: Type.Optional(
    Type.String({ maxLength: 512, ...printable, description: 'Only devices of this user.' })
  ),
  platform: Type.Optional(Type.Unsafe<(typeof platforms)[number]>({ type: 'string', enum: [...platforms] })),
  state: Type.Optional(
    Type.Unsafe<(typeof states)[number]>({
      type: 'string',
      enum: [...states],
      description:
        'reachable: a push would arrive now. denied: pushes are not allowed. unreachable: no token, or a dead one.'
    })
  ),
  recent: Type.Optional(
    Type.Boolean({ description: 'true: only devices that something was sent to, the latest first, on one page.' })
  )
}

export const PhoneChange = Type.Object(
  {
    online: Type.Optional(
      Type.Boolean({ description: 'false: gateways hold pushes for it, as the real ones do, until it is online.' })
    ),
    push_permission: Type.Optional(
      Type.Boolean({ description: 'Whether its app may show pushes. The device is registered again with it.' })
    ),
    installed: Type.Optional(
      Type.Boolean({
        description: 'false: gateways refuse its tokens from now on. true: the app registers with new tokens.'
      })
    )
  },
  { minProperties: 1, additionalProperties: false }
)

export const Tap = Type.Object(
  { action: Type.Optional(Type.String({ description: 'The id of the button that is pressed. Absent: the text.' })) },
  { additionalProperties: false }
)

export const OpenedAnswer = Type.Object({
  landing_url: Text('What the tap opens.'),
  message_id: Text('The message that the app reports as tapped.')
})

const Button = Type.Object({ id: Type.String(), title: Type.String(), landing_url: Text('What it opens.') })

const Notification = Type.Object({
  id: Type.String({ description: 'The id of the push in the inbox.' }),
  message_id: Text('The id of the message, if the payload has one.'),
  title: Text('The title.'),
  body: Text('The text.'),
  image_url: Text('The picture.'),
  landing_url: Text('What a tap opens.'),
  buttons: Type.Array(Button),
  received_at: Type.String({ description: 'When it arrived on the phone.' })
})

const Activity = Type.Object({
  activity_id: Type.String(),
  attributes_type: Type.String(),
  channel_id: Text("Apple's id of the channel that it listens to; null: it has a token of its own."),
  state: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: {} }),
  started_at: Type.String()
})

export const PhoneState = Type.Object({
  online: Type.Boolean(),
  offline_since: Text('null: it is online.'),
  installed: Type.Boolean({ description: 'Whether it has the app.' }),
  uninstalled_at: Text('null: it has the app.'),
  held: Type.Integer({ description: 'Pushes that gateways hold until it is online.' }),
  received_at: Text('When the newest push arrived.'),
  notifications: Type.Array(Notification, { description: 'On its screen, newest first, up to 20.' }),
  activities: Type.Array(Activity, { description: 'Live Activities on its screen.' })
})
