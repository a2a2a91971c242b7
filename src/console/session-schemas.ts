import { Type } from '@sinclair/typebox'

const nullable = { type: ['string', 'null'] }
const Role = Type.Union([Type.Literal('admin'), Type.Literal('editor'), Type.Literal('viewer')])
type RoleName = 'admin' | 'editor' | 'viewer'

export const SignIn = Type.Object({
  token: Type.Optional(Type.String({ maxLength: 512, description: 'A management token.' })),
  code: Type.Optional(Type.String({ maxLength: 512, description: 'The code of a sign-in link.' }))
})

const Ways = Type.Object(
  { password: Type.Boolean({ description: 'Whether members may sign in with a password.' }) },
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
