import { Type } from '@sinclair/typebox'

const MaybeText = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

export const CreateBody = Type.Object({
  attributes_type: Type.String({ description: 'The Swift type of the attributes of its activities.' }),
  app: Type.Optional(MaybeText('The bundle id. Default: that of the only APNs credential of the environment.')),
  push_environment: Type.Optional(MaybeText('production (the default) or sandbox.')),
  storage: Type.String({
    enum: ['none', 'most_recent'],
    description: 'Whether Apple keeps the newest change for phones that are offline or come later.'
  })
})

const channel = {
  channel_id: Type.String({ description: 'The id in this service.' }),
  apns_channel_id: MaybeText("Apple's id, for apps that subscribe by themselves; null until Apple has created it."),
  attributes_type: Type.String(),
  app: Type.String({ description: 'The bundle id.' }),
  push_environment: Type.String({ description: 'production or sandbox.' }),
  storage: Type.String({ description: 'none or most_recent.' }),
  status: Type.String({ description: 'creating, active, deleting or failed.' }),
  failure_reason: Type.String({ description: 'Why Apple did not do it yet, as [CODE] and a sentence; else empty.' }),
  content_state: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    additionalProperties: {},
    description: 'The newest state, with which later activities start.'
  }),
  created_at: Type.String(),
  updated_at: Type.String()
}

export const ChannelAnswer = Type.Object(channel)

export const ChannelWithChange = Type.Object({
  ...channel,
  last_change: Type.Union(
    [
      Type.Null(),
      Type.Object({
        message_id: Type.String({ description: 'As in the result of the change.' }),
        event: Type.String({ description: 'update or end.' }),
        timestamp: Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          description: 'The time by which phones order changes; null until it was handed over.'
        }),
        status: Type.String({ description: 'As in delivery results.' }),
        failure_reason: Type.String(),
        created_at: Type.String()
      })
    ],
    { description: 'The newest change; null if there was none.' }
  )
})
