import { type Static, Type } from '@sinclair/typebox'
import { printable } from '../platform/http/schema.ts'

const nullable = { type: ['string', 'null'] }
const Role = Type.Union([Type.Literal('admin'), Type.Literal('editor'), Type.Literal('viewer')])
type RoleName = 'admin' | 'editor' | 'viewer'

export const SignIn = Type.Object({
  token: Type.Optional(Type.String({ maxLength: 512, description: 'A management token.' })),
  code: Type.Optional(Type.String({ maxLength: 512, description: 'The code of a sign-in link.' })),
  email: Type.Optional(Type.String({ maxLength: 320, description: 'The address of a member, with its password.' })),
  password: Type.Optional(Type.String({ maxLength: 512, description: 'The password of that member.' }))
})

const Code = Type.String({ maxLength: 512, description: 'The text behind the # of the link.' })
const Name = Type.String({ minLength: 1, maxLength: 200, ...printable })
const NewPassword = Type.Optional(Type.String({ maxLength: 512, description: 'At least 12 characters of any kind.' }))
/** What an authenticator made may carry a certificate. */
export const passkeyBytes = 64 * 1024
const ofWebAuthn = (description: string) =>
  Type.Unsafe<object>({ type: 'object', description: `${description} of WebAuthn.` })
export const RequestOptions = ofWebAuthn('PublicKeyCredentialRequestOptionsJSON')
export const AssertedPasskey = Type.Object({ response: ofWebAuthn('AuthenticationResponseJSON') })
const NewPasskey = Type.Object(
  { response: ofWebAuthn('RegistrationResponseJSON') },
  { description: 'A passkey instead of a password.' }
)
export type MadePasskey = Static<typeof NewPasskey>
export const CreationOptions = {
  answer: ofWebAuthn('PublicKeyCredentialCreationOptionsJSON'),
  ofLink: Type.Object({ code: Code, name: Type.Optional(Name) }),
  ofFirst: Type.Object({ email: Type.String({ maxLength: 320 }), name: Name })
}
export const ReadLink = Type.Object({ code: Code })
export const LinkRead = Type.Object({
  kind: Type.Union([Type.Literal('invitation'), Type.Literal('reset')]),
  email: Type.String(),
  joined: Type.Boolean({
    description: 'Whether the person has an account. An invitation is then accepted with its password or its session.'
  }),
  role: Type.Unsafe<RoleName | null>({ ...nullable, description: 'The role of an invitation.' }),
  project: Type.Unsafe<{ id: string; name: string } | null>({
    type: ['object', 'null'],
    properties: { id: { type: 'string' }, name: { type: 'string' } },
    description: 'The project of an invitation; null: the whole installation.'
  }),
  expires_at: Type.String({ format: 'date-time' })
})
export const AcceptLink = Type.Object({
  code: Code,
  name: Type.Optional(Name),
  password: Type.Optional(
    Type.String({
      maxLength: 512,
      description:
        'A new one of at least 12 characters; for an invitation of someone who has an account, the one it has.'
    })
  ),
  passkey: Type.Optional(NewPasskey)
})
export const FirstMember = Type.Object({
  email: Type.String({ maxLength: 320 }),
  name: Name,
  password: NewPassword,
  passkey: Type.Optional(NewPasskey)
})

const Ways = Type.Object(
  {
    password: Type.Boolean({ description: 'Whether members may sign in with a password.' }),
    passkey: Type.Unsafe<string | null>({
      ...nullable,
      description: 'The origin at which passkeys work; null: none, because the host is an IP address.'
    }),
    oidc: Type.Unsafe<string | null>({
      ...nullable,
      description: 'The name of the OpenID Connect provider; null: none is configured.'
    })
  },
  { description: 'How people can sign in here.' }
)

export const SignedIn = Type.Object({
  role: Type.Unsafe<RoleName | null>({
    ...nullable,
    description: 'The role in the whole installation, else the highest in a project; null when not signed in.'
  }),
  name: Type.Unsafe<string | null>({ ...nullable, description: 'The name of the member or of the token.' }),
  project_id: Type.Unsafe<string | null>({
    ...nullable,
    description: 'The only project that can be reached; null: several or all of them.'
  }),
  member: Type.Unsafe<{ id: string; email: string; name: string } | null>({
    type: ['object', 'null'],
    properties: { id: { type: 'string' }, email: { type: 'string' }, name: { type: 'string' } },
    description: 'The member that is signed in; null for a token.'
  }),
  installation_role: Type.Unsafe<RoleName | null>({
    ...nullable,
    description: 'The role in the whole installation, which counts in every project; null: none.'
  }),
  roles: Type.Record(Type.String(), Role, {
    description: 'Roles in single projects, by id of the project. The higher of both roles counts.'
  }),
  how: Type.Unsafe<string | null>({
    ...nullable,
    description: 'How the browser signed in: password, passkey, oidc, link or token.'
  }),
  session_id: Type.Unsafe<string | null>({
    ...nullable,
    description: 'The session, as the list of sessions names it.'
  }),
  first_member: Type.Boolean({
    description: 'Whether the installation has no member yet, and this session may make the first one.'
  }),
  ways: Ways
})
