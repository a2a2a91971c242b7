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
  device_id: Text('The device whose token it was for; null where nobody has it.'),
  message_id: Text('The id of the message, if the payload tells it.'),
  title: Text('The title a person would see.'),
  body: Text('The text a person would see.'),
  image_url: Text('The picture.'),
  landing_url: Text('What a tap opens.'),
  request: Type.Object(
    {
      method: Type.String({ description: 'The method.' }),
      path: Type.String({ description: 'The path.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Without credentials.' }),
      payload: Type.Unknown({ description: 'As it came; decrypted where it was encrypted.' })
    },
    { description: 'The request as it came over the wire.' }
  ),
  answer: Type.Object(
    {
      status: Type.Integer({ description: 'The status of HTTP; 0 where none was given.' }),
      reason: Text('In the words of the gateway.'),
      detail: Text('Why, for you; a real gateway does not say it.'),
      gateway_message_id: Text('What the gateway calls it.')
    },
    { description: 'What the gateway answered.' }
  )
})

const faults = {
  down: Type.Boolean({ description: 'Connections are cut, old and new.' }),
  hang: Type.Boolean({ description: 'Requests are read and never answered.' }),
  latency_ms: Type.Integer({ description: 'Every answer comes this much later.' }),
  jitter_ms: Type.Integer({ description: 'Up to so much later again, at random.' }),
  error_rate: Type.Number({ description: 'The share of pushes, 0 to 1, that is refused.' }),
  error_status: Type.Integer({ description: 'With which status.' }),
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
  max_streams: Type.Integer({ description: 'Streams that a connection may have open; 0: as the gateway does.' }),
  tls_expired: Type.Boolean({ description: 'New connections see a certificate that has ended.' }),
  requests_per_second: Type.Integer({ description: 'The quota: what is more is refused with 429; 0: none.' })
}
const ofGateways = <Each extends TSchema>(make: (description: string) => Each) => ({
  apns: make('Faults of APNs.'),
  fcm: make('Faults of FCM.'),
  webpush: make('Faults of Web Push.')
})

export const FaultsAnswer = Type.Object(ofGateways((description) => Type.Object(faults, { description })))

// No types: the simulator checks them all, and names every fault it does not know.
const described = Object.fromEntries(Object.entries(faults).map(([name, { description }]) => [name, { description }]))
const Change = (description: string) => Type.Unsafe<unknown>({ properties: described, description })
export const FaultsBody = Type.Unsafe<unknown>({
  type: 'object',
  properties: { ...ofGateways(Change), all: Change('Of all gateways.') }
})
