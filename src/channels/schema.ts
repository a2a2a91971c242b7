import { Type } from '@sinclair/typebox'

// Schemas document the bodies; fields.ts reads them, so that each fault names its place.

/** Null counts as absent (contract B.9). */
export const OrNull = <Value>(type: string, more: object) =>
  Type.Optional(Type.Unsafe<Value | null>({ ...more, type: [type, 'null'] }))
export const Text = (description: string) => OrNull<string>('string', { description })
export const TargetSchema = Type.Object(
  {
    project_user_id: Text("All devices of a user, by the project's own id."),
    device_id: Text('One device.'),
    user_id: Text("All devices of a user, by the service's own id.")
  },
  { description: 'Exactly one of the three.' }
)
export const Ttl = OrNull<number>('integer', {
  minimum: 0,
  maximum: 2_419_200,
  description: 'How long it is worth delivering; less than 10 counts as 10.'
})
export const Priority = OrNull<string>('string', {
  enum: ['high', 'normal', null],
  description: 'high, unless said otherwise.'
})
export const AnyObject = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: {}, description: `${description} At most 16 KiB.` })
