import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import type { Routes } from '../platform/http/routes.ts'
import * as tenants from '../projects/projects.ts'

const SignIn = Type.Object({
  token: Type.Optional(Type.String({ maxLength: 512, description: 'A management token.' })),
  code: Type.Optional(Type.String({ maxLength: 512, description: 'The code of the link that a start printed.' }))
})
const nullable = { type: ['string', 'null'] }
const Who = Type.Object({
  role: Type.Unsafe<string | null>({ ...nullable, description: 'admin, editor or viewer; null: nobody is signed in.' }),
  name: Type.Unsafe<string | null>({ ...nullable, description: 'Of the token.' }),
  project_id: Type.Unsafe<string | null>({ ...nullable, description: 'The only project it reaches; null: all.' })
})

/** Sign-ins that may fail from one address in a minute. Tokens cannot be guessed; this keeps the tries out of the database. */
const maxFailures = 10
const minuteMs = 60_000

export interface SessionNeeds {
  pool: Pool
  credentials: Pick<tenants.Credentials, 'token' | 'session' | 'forget'>
}

/** A token or a printed code is exchanged for a cookie that scripts cannot read; docs/console.md. */
export function sessionRoutes(open: Routes<null, never>, { pool, credentials }: SessionNeeds): void {
  const failures = new Map<string, { count: number; untilMs: number }>()

  function refuseGuessing(address: string, reply: FastifyReply): void {
    const failed = failures.get(address)
    const leftMs = (failed?.untilMs ?? 0) - Date.now()
    if (failed && leftMs > 0 && failed.count >= maxFailures) {
      reply.header('retry-after', Math.ceil(leftMs / 1000))
      throw new Refusal('rate_limited', 'Too Many Requests')
    }
  }

  function failed(address: string): Refusal {
    const now = Date.now()
    if (failures.size > 10_000) failures.clear()
    const known = failures.get(address)
    if (known && known.untilMs > now) known.count++
    else failures.set(address, { count: 1, untilMs: now + minuteMs })
    return new Refusal(
      'invalid_token',
      'This token or link is not valid (any more). A link works once, for 15 minutes.'
    )
  }

  open.post(
    '/console/session',
    {
      summary: 'Sign a browser in to the console',
      body: SignIn,
      answer: Who,
      refusals: ['invalid_token', 'rate_limited']
    },
    async ({ request, reply, body }) => {
      refuseGuessing(request.ip, reply)
      const tokenId =
        body.token !== undefined
          ? (await credentials.token(body.token))?.id
          : body.code !== undefined
            ? await tenants.redeemCode(pool, body.code)
            : undefined
      if (!tokenId) throw failed(request.ip)
      const session = await tenants.openSession(pool, tokenId)
      const token = await credentials.session(session)
      if (!token) throw failed(request.ip)
      setCookie(request, reply, session, tenants.sessionSeconds)
      return who(token)
    }
  )

  open.get(
    '/console/session',
    { summary: 'Who is signed in', answer: Who },
    // Nobody is an answer and no error: the page asks before it knows.
    async ({ request, reply }) => {
      reply.header('cache-control', 'no-store')
      const session = tenants.sessionOf(request)
      const token = session && (await credentials.session(session))
      return token ? who(token) : { role: null, name: null, project_id: null }
    }
  )

  open.delete('/console/session', { summary: 'Sign out', answer: Type.Object({}) }, async ({ request, reply }) => {
    const session = tenants.sessionOf(request)
    // Only who had one: forgetting costs a look-up for every key, and anybody can send a cookie.
    if (session && (await tenants.endSession(pool, session)) > 0) credentials.forget()
    setCookie(request, reply, '', 0)
    return {}
  })
}

const who = ({ role, name, project_id }: tenants.TokenRow) => ({ role, name, project_id })

/** Strict: a link on another site opens the console signed out, and a reload later it is signed in again. */
function setCookie(request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void {
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header(
    'set-cookie',
    `${tenants.sessionCookie}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`
  )
}
