import { type TSchema, Type } from '@sinclair/typebox'

const Text = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

export const InboxAnswer = Type.Object({
  id: Type.String(),
  received_at: Type.String(),
  gateway: Type.Unsafe<'apns' | 'fcm' | 'webpush'>({
    type: 'string',
    enum: ['apns', 'fcm', 'webpush'],
    description: 'Where it arrived.'
  }),
  device_id: Text('The device with the token; null if no device has it.'),
  channel_id: Type.Optional(
    Type.String({ description: "Apple's id of the channel that it went to, or that the started activity listens to." })
  ),
  activities: Type.Optional(
    Type.Integer({ description: 'How many simulated activities a broadcast to a channel reached.' })
  ),
  message_id: Text('The id of the message, if the payload has one.'),
  title: Text('The title a person would see.'),
  body: Text('The text a person would see.'),
  image_url: Text('The picture.'),
  landing_url: Text('What a tap opens.'),
  actions: Type.Optional(Type.Array(Type.String(), { description: 'The titles of its buttons; absent: none.' })),
  buttons: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.String({ description: 'What the app reports when it is pressed.' }),
        title: Type.String(),
        landing_url: Text('What it opens.')
      }),
      { description: 'Its buttons; absent: none.' }
    )
  ),
  silent: Type.Optional(Type.Boolean({ description: 'true: nothing is shown, the app is woken.' })),
  request: Type.Object(
    {
      method: Type.String({ description: 'The method.' }),
      path: Type.String({ description: 'The path.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Without credentials.' }),
      payload: Type.Unknown({ description: 'Decrypted if it was encrypted.' })
    },
    { description: 'The request that arrived.' }
  ),
  answer: Type.Object(
    {
      status: Type.Integer({ description: 'The HTTP status; 0 if there was no response.' }),
      reason: Text('The reason that the gateway names.'),
      detail: Text('An explanation for developers, which real gateways do not send.'),
      gateway_message_id: Text('The id that the gateway gave it.'),
      took_ms: Type.Optional(
        Type.Unsafe<number | null>({
          type: ['number', 'null'],
          description: 'Milliseconds from the request to the response; null: there was none.'
        })
      ),
      body: Type.Optional(Type.String({ description: 'The first 1,000 characters of its body.' }))
    },
    { description: 'The response of the gateway.' }
  )
})

const faults = {
  down: Type.Boolean({ description: 'Connections are cut, old and new.' }),
  hang: Type.Boolean({ description: 'Requests are read and get no response.' }),
  latency_ms: Type.Integer({ description: 'Delays every response by this time.' }),
  jitter_ms: Type.Integer({ description: 'Adds a random delay up to this time.' }),
  error_rate: Type.Number({ description: 'The share of pushes, 0 to 1, that is refused.' }),
  error_status: Type.Integer({ description: 'The status of those refusals.' }),
  goaway_after: Type.Integer({ description: 'A connection gets GOAWAY with its nth request; 0: never.' }),
  goaway_last_stream: Type.Integer({
    description: 'That GOAWAY names this stream as its last; those above are not processed. 0: all that arrived are.'
  }),
  goaway_above_streams: Type.Integer({
    description: 'A connection with more open requests gets GOAWAY, as from Firebase; 0: never.'
  }),
  drop_after: Type.Integer({ description: 'A connection is cut at its nth request; 0: never.' }),
  half_open_after: Type.Integer({
    description: 'A connection is silent from its nth request on, to PING too, and stays open; 0: never.'
  }),
  bad_hpack_after: Type.Integer({
    description: 'A connection is broken at its nth request by headers that cannot be decoded; 0: never.'
  }),
  max_streams: Type.Integer({ description: 'Streams that a connection may have open; 0: the limit of the gateway.' }),
  tls_expired: Type.Boolean({ description: 'New connections get an expired certificate.' }),
  requests_per_second: Type.Integer({ description: 'The quota: further requests get 429; 0: none.' })
}
const ofGateways = <Each extends TSchema>(make: (description: string) => Each) => ({
  apns: make('Faults of APNs.'),
  fcm: make('Faults of FCM.'),
  webpush: make('Faults of Web Push.')
})

export const FaultsAnswer = Type.Object(ofGateways((description) => Type.Object(faults, { description })))

// The schema has no types, because the simulator checks all fields and reports every unknown one.
const described = Object.fromEntries(Object.entries(faults).map(([name, { description }]) => [name, { description }]))
const Change = (description: string) => Type.Unsafe<unknown>({ properties: described, description })
export const FaultsBody = Type.Unsafe<unknown>({
  type: 'object',
  properties: { ...ofGateways(Change), all: Change('Of all gateways.') }
})
