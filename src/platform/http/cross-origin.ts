import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The pages of other sites that may call a route, and the headers they may send and read. */
export interface CrossOrigin {
  origins: '*' | ReadonlySet<string>
  sendable: string
  readable: string
}

const always =
  'X-Request-ID, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
  'X-Service-Error-Code, X-Service-Error-Detail'

/** Any page may be an app: it sends its own public key, and no cookie identifies a caller. */
export const pagesOfApps: CrossOrigin = {
  origins: '*',
  sendable:
    'Content-Type, X-Service-Project-ID, X-Service-API-Key, X-Service-App-Identifier, X-Service-User-Token, ' +
    'X-Request-ID',
  readable: `${always}, X-Service-Warning`
}

/** Only the operator's own pages hold a secret key: the listed origins, none by default. */
export const pagesOfAgents = (origins: readonly string[]): CrossOrigin | undefined =>
  origins.length === 0
    ? undefined
    : {
        origins: new Set(origins),
        sendable:
          'Content-Type, X-API-Key, Authorization, A2A-Version, A2A-Extensions, X-A2A-Extensions, ' +
          'X-Service-Idempotency-Key, X-Request-ID, ' +
          'Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID',
        readable: `${always}, ETag, Mcp-Session-Id`
      }

/**
 * Lets the calling page read the response, if it may. Caches must store responses for listed and other origins
 * separately.
 */
export function letPageRead({ origins, readable }: CrossOrigin, request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin } = request.headers
  if (origins !== '*') reply.header('vary', 'Origin')
  if (origins !== '*' && !origins.has(origin ?? '')) return false
  reply.headers({
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': readable
  })
  return true
}

/** How long browsers cache a preflight response: two hours is the longest that they accept. */
const believedSeconds = '7200'

type Answered = (method: string, route: string) => (request: FastifyRequest, reply: FastifyReply) => void
export type AllowPages = (method: string, url: string, pages: CrossOrigin) => void

/** Responds to the preflight request of a browser, which carries no key. */
export function crossOrigin(app: FastifyInstance, answered: Answered): AllowPages {
  const known = new Map<string, string[]>()
  return (method, url, pages) => {
    const methods = known.get(url)
    if (methods) return void methods.push(method)
    const allowed = [method]
    known.set(url, allowed)
    const ended = answered('OPTIONS', url)
    app.route({
      method: 'OPTIONS',
      url,
      onResponse: (request, reply, done) => {
        ended(request, reply)
        done()
      },
      handler: (request, reply) => {
        if (letPageRead(pages, request, reply))
          reply.headers({
            'access-control-allow-methods': allowed.join(', '),
            'access-control-allow-headers': pages.sendable,
            'access-control-max-age': believedSeconds
          })
        return reply.code(204).send()
      }
    })
  }
}
