import type { FastifyReply, FastifyRequest } from 'fastify'

export type Cookies = ReturnType<typeof createCookies>

const session = 'tidings_session'

/**
 * The cookies of the console. Over https their names have the prefix `__Host-`, which browsers take from this host alone,
 * and a cookie without it is not read: any host of the same domain can plant one. `secure`: whether PUBLIC_URL is https.
 */
export function createCookies(secure: boolean) {
  const isSecure = (request: FastifyRequest) => secure || request.protocol === 'https'
  const nameOf = (request: FastifyRequest, name: string) => (isSecure(request) ? `__Host-${name}` : name)
  const read = (request: FastifyRequest, name: string) => cookieOf(request, nameOf(request, name))

  /** SameSite=Strict: a link on another site opens the console signed out, until the page is reloaded. */
  function set(request: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number): void {
    const cookie = `${nameOf(request, name)}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`
    // A second cookie is added to the first.
    reply.header('set-cookie', isSecure(request) ? `${cookie}; Secure` : cookie)
  }

  return {
    read,
    set,
    /** The text of the session of the browser, if it has one. */
    sessionOf: (request: FastifyRequest) => read(request, session),
    setSession: (request: FastifyRequest, reply: FastifyReply, text: string, seconds: number) =>
      set(request, reply, session, text, seconds)
  }
}

/** The value of the cookie of exactly this name. */
export function cookieOf(request: FastifyRequest, wanted: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = pair.split('=', 2)
    // Not trim(): it removes a no-break space too, so that a planted cookie would pass for one with the prefix.
    if (name?.replace(/^[ \t]+|[ \t]+$/g, '') === wanted && value) return value.trim()
  }
  return undefined
}
