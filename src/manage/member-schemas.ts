import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { printable, saying } from '../platform/http/schema.ts'
import { Role } from './schemas.ts'

// Schemas of the requests and responses for members and sessions.

const ProjectIdText = Type.String(saying('must be 1 to 64 letters, digits, _ and -', '^[A-Za-z0-9_-]{1,64}$'))
const nullable = { type: ['string', 'null'] }
const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'], description })

const scope = Type.Optional(
  Type.Unsafe<string | null>({
    ...ProjectIdText,
    ...nullable,
    description: 'The project; left out or null: the whole installation.'
  })
)
export const Invite = Type.Object({
  email: Type.String({ maxLength: 320, description: 'The address of the person. Nothing is sent to it.' }),
  role: Role,
  project_id: scope
})
export const ChangeMember = Type.Object({ role: Role, project_id: scope })

const Link = {
  link: Type.String({ description: 'The whole address. It works once; only this response contains it.' }),
  path: Type.String({ description: 'The same below the address of the service. The code follows the #.' }),
  expires_at: Type.String({ format: 'date-time' })
}
export const LinkAnswer = Type.Object(Link)
export const MemberAnswer = Type.Object({
  id: Type.String({ description: 'The person. A member of several projects has one id, and an item for each.' }),
  email: Type.String(),
  name: Type.Unsafe<string | null>({ ...nullable, description: 'null until the invitation is accepted.' }),
  role: Role,
  project_id: Type.Unsafe<string | null>({ ...nullable, description: 'null: the whole installation.' }),
  state: Type.Union([Type.Literal('invited'), Type.Literal('active')]),
  source: Type.Union([Type.Literal('invitation'), Type.Literal('oidc')], {
    description: 'oidc: the role is read from the identity provider at each sign-in.'
  }),
  created_at: Type.String({ format: 'date-time' }),
  last_seen_at: Type.Unsafe<string | null>({ ...nullable }),
  invitation_expires_at: Type.Unsafe<string | null>({
    ...nullable,
    description: 'Until when the invitation can be accepted; null: it was accepted, or it expired.'
  })
})
export const InvitedMember = Type.Composite([
  MemberAnswer,
  Type.Object({ invitation: Type.Object(Link, { description: 'For the person, by a way that you trust.' }) })
])
export const Name = Type.String({ minLength: 1, maxLength: 200, ...printable })
export const ChangeOwn = Type.Object({ name: Name })
export const ChangePassword = Type.Object({
  current: Type.Optional(Type.String({ maxLength: 512, description: 'Your password; left out if you have none yet.' })),
  password: Type.String({ maxLength: 512, description: 'The new one: at least 12 characters of any kind.' })
})

/** What an authenticator made may carry a certificate. */
export const passkeyBytes = 64 * 1024
export const NewPasskey = Type.Object({
  response: Type.Unsafe<object>({ type: 'object', description: 'RegistrationResponseJSON of WebAuthn.' }),
  name: Type.Optional(Name)
})
export const PasskeyAnswer = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'The device it was made on, unless you gave another name.' }),
  created_at: Type.String({ format: 'date-time' }),
  last_used_at: Type.Unsafe<string | null>({ ...nullable })
})
export const AccountAnswer = Type.Object({
  id: Type.String(),
  email: Type.String({ description: 'Empty for a member of a provider that has not verified the address.' }),
  name: Type.String(),
  has_password: Type.Boolean({ description: 'Whether you can sign in with a password.' }),
  provider: Type.Unsafe<string | null>({
    ...nullable,
    description: 'The identity provider with which you sign in, and with nothing else; null: none.'
  })
})

export const SessionAnswer = Type.Object({
  id: Type.String(),
  member: orNull(
    Type.Object({ id: Type.String(), email: Type.String(), name: Type.String() }),
    'The member that is signed in; null for a token.'
  ),
  token: orNull(
    Type.Object({ id: Type.String(), name: Type.String() }),
    'The management token that is signed in; null for a member.'
  ),
  how: Type.Union(
    ['password', 'passkey', 'oidc', 'link', 'token'].map((how) => Type.Literal(how)),
    { description: 'How the browser signed in.' }
  ),
  device: Type.String({ description: 'Browser and system in words: Firefox on Windows.' }),
  address: Type.Unsafe<string | null>({ ...nullable }),
  created_at: Type.Unsafe<string | null>({ ...nullable }),
  last_seen_at: Type.Unsafe<string | null>({ ...nullable }),
  expires_at: Type.String({ format: 'date-time', description: 'When it ends unless it is used.' }),
  current: Type.Boolean({ description: 'Whether this call came with it.' })
})
