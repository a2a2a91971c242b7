import type { FastifyInstance } from 'fastify'
import type { Http } from './server.ts'

/** Headers that let a page of another site read a response. */
export const readable = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-ID, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ' +
    'X-Service-Error-Code, X-Service-Error-Detail, X-Service-Warning'
}

const sendable = 'Content-Type, X-Service-Project-ID, X-Service-API-Key, X-Service-App-Identifier, X-Request-ID'
/** Two hours, which is as long as browsers believe it. */
const believedSeconds = '7200'

/** Responds to the preflight request of a browser, which carries no key. */
export function crossOrigin(app: FastifyInstance, answered: Http['answered']): (method: string, url: string) => void {
  const known = new Map<string, string[]>()
  return (method, url) => {
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
      handler: (_, reply) =>
        reply
          .code(204)
          .headers({
            ...readable,
            'access-control-allow-methods': allowed.join(', '),
            'access-control-allow-headers': sendable,
            'access-control-max-age': believedSeconds
          })
          .send()
    })
  }
}
