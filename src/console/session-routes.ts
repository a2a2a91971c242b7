import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import * as tenants from '../projects/projects.ts'

const SignIn = Type.Object({
  token: Type.Optional(Type.String({ maxLength: 512, description: 'A management token.' })),
  code: Type.Optional(Type.String({ maxLength: 512, description: 'The code of a sign-in link.' }))
})
const nullable = { type: ['string', 'null'] }
const Who = Type.Object({
  role: Type.Unsafe<string | null>({ ...nullable, description: 'admin, editor or viewer; null when not signed in.' }),
  name: Type.Unsafe<string | null>({ ...nullable, description: 'The name of the token.' }),
  project_id: Type.Unsafe<string | null>({
    ...nullable,
    description: 'The only project the token has access to; null: all projects.'
  })
})

/** The most failed sign-ins per address and minute. Further failures get 429; a valid sign-in always passes. */
const maxFailures = 10
const minuteMs = 60_000
const maxAddresses = 10_000

export interface SessionNeeds {
  pool: Pool
  credentials: Pick<tenants.Credentials, 'token' | 'session' | 'code' | 'forget'>
  /** Whether PUBLIC_URL is https. Browsers then send the cookie over https only, as after a sign-in over https. */
  secure: boolean
}

/** Exchanges a token or a sign-in code for a cookie that scripts cannot read; docs/guides/console.md. */
export function sessionRoutes(open: Routes<null, never>, { pool, credentials, secure }: SessionNeeds): void {
  const failures = new Map<string, { count: number; untilMs: number }>()

  /** Counts a failure. Only failures are limited: another person behind the same address may have a valid token. */
  function failed(request: FastifyRequest, reply: FastifyReply): Refusal {
    const [now, address] = [Date.now(), tenants.networkOf(request.ip)]
    const known = failures.get(address)
    const current = known && known.untilMs > now ? known : { count: 0, untilMs: now + minuteMs }
    current.count++
    failures.delete(address)
    if (failures.size >= maxAddresses) failures.delete(failures.keys().next().value!)
    failures.set(address, current)
    if (current.count > maxFailures) {
      reply.header('retry-after', Math.ceil((current.untilMs - now) / 1000))
      return new Refusal('rate_limited', 'Too Many Requests')
    }
    return new Refusal('invalid_token', 'This token or link is invalid or expired. A link works once, for 15 minutes.')
  }

  async function tokenIdOf({ token, code }: Static<typeof SignIn>, request: FastifyRequest) {
    if (token !== undefined) return (await credentials.token(token, request))?.id
    // The code is looked up before it is redeemed: a guessed code must not cause a write.
    const valid = code !== undefined && (await credentials.code(code, request))
    return valid ? tenants.redeemCode(pool, code) : undefined
  }

  open.post(
    '/console/session',
    {
      summary: 'Sign a browser in to the console',
      body: SignIn,
      maxBody: smallForm,
      answer: Who,
      refusals: ['invalid_token', 'rate_limited']
    },
    async ({ request, reply, body }) => {
      const tokenId = await tokenIdOf(body, request)
      if (!tokenId) throw failed(request, reply)
      const session = await tenants.openSession(pool, tokenId)
      const token = await credentials.session(session)
      if (!token) throw failed(request, reply)
      setCookie(reply, secure || request.protocol === 'https', session, tenants.sessionSeconds)
      return who(token)
    }
  )

  open.get(
    '/console/session',
    { summary: 'Who is signed in', answer: Who },
    // Not signed in is a valid response: the page asks before it knows.
    async ({ request, reply }) => {
      reply.header('cache-control', 'no-store')
      const session = tenants.sessionOf(request)
      const token = session && (await credentials.session(session, request))
      return token ? who(token) : { role: null, name: null, project_id: null }
    }
  )

  open.delete('/console/session', { summary: 'Sign out', answer: Type.Object({}) }, async ({ request, reply }) => {
    const session = tenants.sessionOf(request)
    // Deletes only a valid session: any client can send a cookie, and each deletion writes a row and empties a cache.
    const valid = session && (await credentials.session(session, request))
    if (valid && (await tenants.endSession(pool, session)) > 0) credentials.forget()
    setCookie(reply, secure || request.protocol === 'https', '', 0)
    return {}
  })
}

const who = ({ role, name, project_id }: tenants.TokenRow) => ({ role, name, project_id })

/** SameSite=Strict: a link on another site opens the console signed out, until the page is reloaded. */
function setCookie(reply: FastifyReply, secure: boolean, value: string, seconds: number): void {
  const cookie = `${tenants.sessionCookie}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`
  reply.header('set-cookie', secure ? `${cookie}; Secure` : cookie)
}
