import { Type } from '@sinclair/typebox'

const Gateway = Type.Union([Type.Literal('apns'), Type.Literal('fcm'), Type.Literal('webpush')], {
  description: 'apns: Apple. fcm: Firebase, for Android. webpush: browsers.'
})
const Environment = Type.Union([Type.Literal('production'), Type.Literal('sandbox')])
const text = (description: string, example?: string) =>
  Type.String({ description, ...(example !== undefined && { examples: [example] }) })
const optional = (description: string) => Type.Optional(text(description))

/** Every field of every gateway; the parsers name their faults. */
export const SaveGateway = Type.Object({
  key: optional('APNs: the text of AuthKey_….p8.'),
  key_id: optional('APNs: the 10 characters in the name of that file.'),
  team_id: optional('APNs: the 10 characters of the team.'),
  topic: optional('APNs: the bundle id of the app.'),
  environment: optional('APNs: what the key is for: production, sandbox or both. Both, unless given.'),
  service_account: Type.Optional(
    Type.Unknown({ description: 'FCM: the file of the service account, as an object or as its text.' })
  ),
  subject: optional('Web Push: mailto: or https:, where push services can reach you.'),
  public_key: optional('Web Push: of a pair you have already. Without one, the pair in use stays or one is made.'),
  private_key: optional('Web Push: of the same pair.')
})

const facts = {
  id: Type.String(),
  gateway: Gateway,
  environment: Type.Optional(Environment),
  topic: optional('The bundle id it is for.'),
  key_id: optional('The id of the key at Apple.'),
  team_id: optional('The team at Apple.'),
  firebase_project: optional('The id of the Firebase project.'),
  client_email: optional('The name of the service account.'),
  private_key_id: optional('The id of its key at Google.'),
  subject: optional('Where push services can reach you.'),
  public_key: optional('The key that browsers subscribe with (applicationServerKey).'),
  fingerprint: text('SHA-256 of the public half of the key, to tell keys apart.', 'sha256:0f1e2d…'),
  version: Type.Integer({ description: 'Grows with every save.', examples: [1] }),
  created_at: Type.String(),
  updated_at: Type.String(),
  updated_by: text('The token or person that saved it last.'),
  updated_by_name: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: 'Its name; null if it is not known any more.' })
  )
}

export const CredentialAnswer = Type.Object(facts)
const credentials = 'Entries, without anything secret.'
export const GatewayAnswer = Type.Object({
  gateway: Gateway,
  credentials: Type.Array(CredentialAnswer, { description: credentials })
})
export const CheckAnswer = Type.Object({
  gateway: Gateway,
  ok: Type.Boolean({ description: 'Whether the gateway accepts every one of them.' }),
  credentials: Type.Array(
    Type.Object({
      ...facts,
      ok: Type.Boolean({ description: 'Whether the gateway accepts it.' }),
      message: text('The response of the gateway, in a sentence.')
    }),
    { description: credentials }
  )
})
