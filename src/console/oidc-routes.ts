import type { FastifyReply, FastifyRequest } from 'fastify'
import { attemptSeconds, type Members, type Oidc, OidcRefused } from '../members/members.ts'
import type { Routes } from '../platform/http/routes.ts'
import { cookieOf } from '../projects/projects.ts'

export interface OidcRouteNeeds {
  members: Pick<Members, 'signIn'>
  oidc: Oidc
  /** The address of the service as the browser of a request sees it. */
  baseUrlOf: (request: FastifyRequest) => string
}

const attemptPath = '/console/oidc'

/** Sign-in by OpenID Connect: the way to the provider, and the way back (docs/guides/people.md). */
export function oidcRoutes(open: Routes<null, never>, { members, oidc, baseUrlOf }: OidcRouteNeeds): void {
  const isSecure = (request: FastifyRequest) => baseUrlOf(request).startsWith('https:')
  const nameOf = (request: FastifyRequest) => (isSecure(request) ? '__Host-tidings_oidc' : 'tidings_oidc')

  /** SameSite=Lax: the browser sends it when the provider leads it back. `__Host-`: no other host can plant one. */
  function keep(request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void {
    const secure = isSecure(request) ? '; Path=/; Secure' : `; Path=${attemptPath}`
    reply.header('set-cookie', `${nameOf(request)}=${value}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`)
  }

  open.get(attemptPath, { summary: 'To the OpenID Connect provider', hidden: true }, async ({ request, reply }) => {
    const { page } = request.query as { page?: unknown }
    try {
      const back = `${baseUrlOf(request)}${attemptPath}/callback`
      const { url, cookie } = await oidc.begin(back, typeof page === 'string' ? page : undefined)
      keep(request, reply, cookie, attemptSeconds)
      return reply.header('cache-control', 'no-store').redirect(url, 302)
    } catch (error) {
      return openPage(reply, problemPage(error))
    }
  })

  open.get(
    `${attemptPath}/callback`,
    { summary: 'Back from the OpenID Connect provider', hidden: true },
    async ({ request, reply }) => {
      const cookie = cookieOf(request, nameOf(request))
      keep(request, reply, '', 0)
      try {
        const query = new URL(request.url, 'http://console.invalid').search
        const { memberId, returnTo } = await oidc.finish(query, cookie)
        await members.signIn(memberId, 'oidc', request, reply)
        return openPage(reply, returnTo)
      } catch (error) {
        return openPage(reply, problemPage(error))
      }
    }
  )
}

/** The sign-in page, with a sentence about the failure. Behind the #, so that no log has it. */
function problemPage(error: unknown): string {
  if (error instanceof OidcRefused) return `/console/#problem=${error.why}`
  throw error
}

/**
 * A page that opens another one. A redirect would belong to the navigation that the provider began, on which browsers
 * leave out the cookie of the session; a page of our own begins a new one.
 */
const openPage = (reply: FastifyReply, path: string) =>
  reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff'
    })
    .send(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tidings</title>` +
        `<meta http-equiv="refresh" content="0; url=${path.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)}"></html>`
    )
