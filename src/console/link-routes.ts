import type { FastifyRequest } from 'fastify'
import { Refusal } from '../platform/errors.ts'
import type { Routes } from '../platform/http/routes.ts'
import { checkConsoleHeader } from '../projects/projects.ts'
import type { createFailures } from './failures.ts'
import { handleOf, proofOf } from './passkey-routes.ts'
import { identityOf, type SessionNeeds } from './session-routes.ts'
import {
  AcceptLink,
  CreationOptions,
  FirstMember,
  LinkRead,
  passkeyBytes,
  ReadLink,
  SignedIn
} from './session-schemas.ts'

/** Invitations and reset links. Codes travel in bodies: a path would be in the logs of proxies. */
export function linkRoutes(
  open: Routes<null, never>,
  needs: SessionNeeds,
  failures: ReturnType<typeof createFailures>
): void {
  const { members, credentials, cookies, doors, baseUrlOf } = needs

  open.post(
    '/console/link',
    {
      summary: 'Read what an invitation or a reset link is for',
      body: ReadLink,
      answer: LinkRead,
      refusals: ['invalid_token', 'rate_limited']
    },
    async ({ request, reply, body: { code } }) => {
      reply.header('cache-control', 'no-store')
      const link = await members.links.read(code, request)
      if (!link) throw failures.count(request, reply, gone())
      return link
    }
  )

  open.post(
    '/console/link::accept',
    {
      summary: 'Accept an invitation or set a new password, and sign in',
      body: AcceptLink,
      maxBody: passkeyBytes,
      answer: SignedIn,
      refusals: ['invalid_token', 'invalid_sign_in', 'invalid_parameter', 'forbidden', 'rate_limited']
    },
    async ({ request, reply, body: { code, passkey, ...given } }) => {
      const proof = await proofOf(needs, request, handleOf({ code }), passkey)
      const session = await members.links.accept(code, { ...given, ...proof }, request, reply)
      if (!session) throw failures.count(request, reply, gone())
      return identityOf(session, needs, request)
    }
  )

  open.post(
    '/console/member',
    {
      summary: 'Make the first member, as a browser that is signed in with an admin token, and sign in as that member',
      body: FirstMember,
      maxBody: passkeyBytes,
      answer: SignedIn,
      refusals: ['invalid_token', 'invalid_parameter', 'forbidden', 'conflict']
    },
    async ({ request, reply, body: { passkey, ...given } }) => {
      const session = await signedIn(request)
      const proof = await proofOf(needs, request, handleOf({ session }), passkey)
      const made = await members.links.makeFirst(session, { ...given, ...proof }, request, reply)
      return identityOf(made, needs, request)
    }
  )

  open.post(
    '/console/member::passkey-options',
    {
      summary: 'Begin to make the first member with a passkey',
      body: CreationOptions.ofFirst,
      answer: CreationOptions.answer,
      refusals: ['invalid_token', 'invalid_parameter', 'forbidden']
    },
    async ({ request, reply, body }) => {
      reply.header('cache-control', 'no-store')
      const handle = handleOf({ session: await signedIn(request) })
      return doors.passkeys.registrationOptions(baseUrlOf(request), { handle, ...body })
    }
  )

  /** The session of a browser that writes. */
  async function signedIn(request: FastifyRequest) {
    checkConsoleHeader(request)
    const text = cookies.sessionOf(request)
    const session = text && (await credentials.session(text, request))
    if (!session) throw new Refusal('invalid_token', 'The session is over. Sign in again.')
    return session
  }
}

const gone = () =>
  new Refusal('invalid_token', 'This link is invalid, expired or was used already. Ask an admin for a new one.')
