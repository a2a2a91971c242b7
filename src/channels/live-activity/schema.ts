import { Type } from '@sinclair/typebox'
import { AnyObject, OrNull, Priority, TargetSchema, Text, Ttl } from '../schema.ts'

export const Alert = OrNull<object>('object', {
  properties: { title: Type.String({ description: 'The title.' }), body: Type.String({ description: 'The text.' }) },
  required: ['title', 'body'],
  description: 'What the phone shows with it. A start without one says Live Activity / Started.'
})
const content_state = AnyObject('What changes while it runs.')
const attributes_type = { description: 'The Swift type of the attributes.' }

const alert = Alert

export const StartBody = Type.Object({
  live_activities: Type.Array(
    Type.Object({
      target: TargetSchema,
      attributes_type: Type.String(attributes_type),
      attributes: AnyObject('What stays the same.'),
      content_state: Type.Optional(content_state),
      channel_id: Text(
        'The broadcast channel that the activity listens to (iOS 18). Without content_state it starts with the newest state of the channel.'
      ),
      alert,
      ttl_seconds: Ttl,
      priority: Priority
    }),
    { minItems: 1, maxItems: 1_000, description: 'One bad item, and none is started.' }
  )
})

const Moment = (description: string) =>
  Type.Optional(
    Type.Unsafe<number | string | null>({
      type: ['integer', 'string', 'null'],
      description: `${description} Unix seconds or RFC 3339, with Z or an offset.`
    })
  )

const change = {
  content_state,
  stale_date: Moment('From when on it counts as out of date.'),
  dismissal_date: Moment('When an ended one leaves the screen.'),
  alert,
  ttl_seconds: Ttl,
  priority: Priority
}

/** A change of all activities that listen to a broadcast channel. */
export const ChannelChangeBody = Type.Object(change)

export const ChangeBody = Type.Object({
  live_activities: Type.Array(
    Type.Object({
      activity_id: Text('One running activity; or else target and attributes_type.'),
      target: Type.Optional(TargetSchema),
      attributes_type: Type.Optional(Type.String(attributes_type)),
      ...change
    }),
    { minItems: 1, maxItems: 1_000, description: 'One bad item, and none is changed.' }
  )
})
