import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Doors, type Members, passkeyOrigin } from '../members/members.ts'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import * as tenants from '../projects/projects.ts'
import type { createFailures } from './failures.ts'
import { SignedIn, SignIn } from './session-schemas.ts'

export interface SessionNeeds {
  pool: Pool
  credentials: Pick<tenants.Credentials, 'token' | 'session' | 'code'>
  cookies: Pick<tenants.Cookies, 'sessionOf'>
  members: Members
  /** Whether members may sign in with a password. */
  passwords: boolean
  doors: Doors
  /** The address of the service as the browser of a request sees it. */
  baseUrlOf: (request: FastifyRequest) => string
}

/** Exchanges a token, a sign-in code or a password for a cookie that scripts cannot read; docs/guides/people.md. */
export function sessionRoutes(
  open: Routes<null, never>,
  needs: SessionNeeds,
  failures: ReturnType<typeof createFailures>
): void {
  const { pool, credentials, cookies, members, passwords } = needs

  async function tokenIdOf({ token, code }: Static<typeof SignIn>, request: FastifyRequest) {
    if (token !== undefined) return (await credentials.token(token, request))?.id
    // The code is looked up before it is redeemed: a guessed code must not cause a write.
    const valid = code !== undefined && (await credentials.code(code, request))
    return valid ? tenants.redeemCode(pool, code) : undefined
  }

  async function signedIn(body: Static<typeof SignIn>, request: FastifyRequest, reply: FastifyReply) {
    if (body.email !== undefined) {
      if (!passwords) throw new Refusal('forbidden', 'Sign-in by password is switched off here.')
      const member = await members.checkPassword(request, reply, body.email, body.password ?? '')
      return members.signIn(member.id, 'password', request, reply)
    }
    const tokenId = await tokenIdOf(body, request)
    const how = body.token === undefined ? 'link' : 'token'
    return tokenId && members.signInWithToken(tokenId, how, request, reply)
  }

  open.post(
    '/console/session',
    {
      summary: 'Sign a browser in to the console',
      body: SignIn,
      maxBody: smallForm,
      answer: SignedIn,
      refusals: ['invalid_token', 'invalid_sign_in', 'forbidden', 'rate_limited']
    },
    async ({ request, reply, body }) => {
      const session = await signedIn(body, request, reply)
      if (!session)
        throw failures.count(
          request,
          reply,
          new Refusal('invalid_token', 'This token or link is invalid or expired. A link works once, for 15 minutes.')
        )
      return identityOf(session, needs, request)
    }
  )

  open.get(
    '/console/session',
    { summary: 'Who is signed in', answer: SignedIn },
    // Not signed in is a valid response: the page asks before it knows.
    async ({ request, reply }) => {
      reply.header('cache-control', 'no-store')
      const text = cookies.sessionOf(request)
      return identityOf(text ? await credentials.session(text, request) : undefined, needs, request)
    }
  )

  open.delete('/console/session', { summary: 'Sign out', answer: Type.Object({}) }, async ({ request, reply }) => {
    await members.browsers.signOut(request, reply)
    return {}
  })
}

/** What the page must know of a session, or of a browser without one. */
export async function identityOf(
  session: tenants.KnownSession | undefined,
  { members, passwords, doors, baseUrlOf }: SessionNeeds,
  request: FastifyRequest
): Promise<Static<typeof SignedIn>> {
  const ways = { password: passwords, passkey: passkeyOrigin(baseUrlOf(request)), oidc: doors.oidc?.name ?? null }
  if (!session)
    return {
      role: null,
      name: null,
      project_id: null,
      member: null,
      installation_role: null,
      roles: {},
      how: null,
      session_id: null,
      first_member: false,
      ways
    }
  const { principal, how, id } = session
  const { kind, name, role, roles } = principal
  const single = role === null && roles.size === 1
  return {
    role: role ?? tenants.highestRole(principal) ?? null,
    name,
    project_id: single ? [...roles.keys()][0]! : null,
    member: kind === 'member' ? { id: principal.id, email: principal.email!, name } : null,
    installation_role: role,
    roles: Object.fromEntries(roles),
    how,
    session_id: id,
    first_member: kind === 'token' && role === 'admin' && (await members.none()),
    ways
  }
}
