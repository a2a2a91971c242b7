import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { deviceOf } from '../members/members.ts'
import { Refusal } from '../platform/errors.ts'
import type { Routes } from '../platform/http/routes.ts'
import { checkConsoleHeader, type KnownSession } from '../projects/projects.ts'
import type { createFailures } from './failures.ts'
import { identityOf, type SessionNeeds } from './session-routes.ts'
import {
  AssertedPasskey,
  CreationOptions,
  type MadePasskey,
  passkeyBytes,
  RequestOptions,
  SignedIn
} from './session-schemas.ts'

/** Sign-in with a passkey. No email is asked for: the passkey names its member. */
export function passkeyRoutes(
  open: Routes<null, never>,
  needs: SessionNeeds,
  failures: ReturnType<typeof createFailures>
): void {
  const { members, doors, baseUrlOf } = needs

  open.post(
    '/console/passkeys::options',
    { summary: 'Begin a sign-in with a passkey', answer: RequestOptions, refusals: ['invalid_parameter'] },
    async ({ request, reply }) => {
      reply.header('cache-control', 'no-store')
      return doors.passkeys.signInOptions(baseUrlOf(request))
    }
  )

  open.post(
    '/console/passkeys::sign-in',
    {
      summary: 'Sign a browser in with a passkey',
      body: AssertedPasskey,
      maxBody: passkeyBytes,
      answer: SignedIn,
      refusals: ['invalid_sign_in', 'invalid_parameter', 'forbidden', 'rate_limited']
    },
    async ({ request, reply, body }) => {
      // A page of another site must not sign a browser in as another person.
      checkConsoleHeader(request)
      const memberId = await doors.passkeys.signIn(baseUrlOf(request), body.response).catch((error) => {
        throw error instanceof Refusal && error.code === 'invalid_sign_in'
          ? failures.count(request, reply, error)
          : error
      })
      return identityOf(await members.signIn(memberId, 'passkey', request, reply), needs, request)
    }
  )

  open.post(
    '/console/link::passkey-options',
    {
      summary: 'Begin to accept an invitation or a reset link with a passkey',
      body: CreationOptions.ofLink,
      answer: CreationOptions.answer,
      refusals: ['invalid_token', 'invalid_parameter', 'rate_limited']
    },
    async ({ request, reply, body: { code, name } }) => {
      reply.header('cache-control', 'no-store')
      const link = await members.links.read(code, request)
      if (!link) throw failures.count(request, reply, new Refusal('invalid_token', 'This link is invalid or expired.'))
      const account = { handle: handleOf({ code }), name: name ?? '', email: link.email }
      return doors.passkeys.registrationOptions(baseUrlOf(request), account)
    }
  )
}

/** What an authenticator calls an account that does not exist yet: derived from what will make it. */
export const handleOf = (maker: { code: string } | { session: KnownSession }): string =>
  'code' in maker ? hash('sha256', `passkey of ${maker.code}`, 'base64url') : maker.session.principal.id

/** Checks a passkey that takes the place of a password, and returns what stores it with the account. */
export async function proofOf(
  { doors, baseUrlOf }: SessionNeeds,
  request: FastifyRequest,
  handle: string,
  passkey: MadePasskey | undefined
) {
  if (passkey === undefined) return {}
  const name = deviceOf(request.headers['user-agent'] ?? null)
  const store = await doors.passkeys.check(baseUrlOf(request), handle, { response: passkey.response, name })
  return {
    keep: async (...where: Parameters<typeof store>) => {
      await store(...where)
    }
  }
}
