import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import {
  type Credentials,
  cookieOf,
  endSession,
  type Holder,
  type How,
  openSession,
  sessionCookie,
  sessionOf,
  sessionSeconds
} from '../projects/projects.ts'
import { readEmail } from './email.ts'

/** Remembers which member signed in last with this browser; it opens nothing. */
const deviceCookie = 'tidings_device'
const deviceSeconds = 365 * 24 * 3_600

export type Browsers = ReturnType<typeof createBrowsers>

export interface BrowserNeeds {
  pool: Pool
  credentials: Pick<Credentials, 'session' | 'forget'>
  /** The master key, which all nodes share. */
  key: Buffer
  /** Whether PUBLIC_URL is https. Browsers then send cookies over https only, as after a sign-in over https. */
  secure: boolean
}

/** Signs browsers in and out, by cookies that scripts cannot read. */
export function createBrowsers({ pool, credentials, key, secure }: BrowserNeeds) {
  const deviceKey = createHmac('sha256', key).update('tidings device cookie').digest()
  const signature = (text: string) => createHmac('sha256', deviceKey).update(text).digest('base64url')

  function deviceFor(emailKey: string): string {
    const device = randomBytes(16).toString('base64url')
    return `${device}.${signature(`${device} ${emailKey}`)}`
  }

  const isSecure = (request: FastifyRequest) => secure || request.protocol === 'https'

  /** SameSite=Strict: a link on another site opens the console signed out, until the page is reloaded. */
  function setCookie(request: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number): void {
    const cookie = `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`
    // A second cookie is added to the first.
    reply.header('set-cookie', isSecure(request) ? `${cookie}; Secure` : cookie)
  }

  /** Over https the cookie has a prefix; one without it, from before or from http, is removed. */
  function setSession(request: FastifyRequest, reply: FastifyReply, text: string, seconds: number): void {
    const [own, plain] = [sessionCookie(isSecure(request)), sessionCookie(false)]
    setCookie(request, reply, own, text, seconds)
    if (own !== plain && cookieOf(request, plain) !== undefined) setCookie(request, reply, plain, '', 0)
  }

  /** Ends the session of the cookie. Any client can send a cookie, so only a valid session costs a write. */
  async function end(request: FastifyRequest): Promise<void> {
    const text = sessionOf(request)
    const valid = text && (await credentials.session(text, request))
    if (valid && (await endSession(pool, text)) > 0) credentials.forget()
  }

  return {
    /**
     * Opens a session with a new text, and ends the one that the browser had: a text that was planted before the sign-in
     * opens nothing after it.
     */
    async signIn(request: FastifyRequest, reply: FastifyReply, holder: Holder, how: How) {
      await end(request)
      const browser = { how, userAgent: String(request.headers['user-agent'] ?? ''), address: request.ip }
      const text = await openSession(pool, holder, browser)
      setSession(request, reply, text, sessionSeconds)
      const session = await credentials.session(text)
      const email = session?.principal.email
      if (email) setCookie(request, reply, deviceCookie, deviceFor(readEmail(email)!.key), deviceSeconds)
      return session
    },
    async signOut(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await end(request)
      setSession(request, reply, '', 0)
    },
    /** The name of this browser, if a member of this address has signed in with it; only this service can sign one. */
    deviceOf(request: FastifyRequest, emailKey: string): string | undefined {
      const [device, given = ''] = (cookieOf(request, deviceCookie) ?? '').split('.')
      if (!device) return undefined
      const [wanted, shown] = [Buffer.from(signature(`${device} ${emailKey}`)), Buffer.from(given)]
      return wanted.length === shown.length && timingSafeEqual(wanted, shown) ? device : undefined
    }
  }
}
