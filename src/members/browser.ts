import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from '../platform/db/db.ts'
import {
  type Cookies,
  type Credentials,
  endSession,
  type Holder,
  type How,
  longestSessionSeconds,
  openSession
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
  cookies: Cookies
}

/** Signs browsers in and out, by cookies that scripts cannot read. */
export function createBrowsers({ pool, credentials, key, cookies }: BrowserNeeds) {
  const deviceKey = createHmac('sha256', key).update('tidings device cookie').digest()
  const signature = (text: string) => createHmac('sha256', deviceKey).update(text).digest('base64url')

  function deviceFor(emailKey: string): string {
    const device = randomBytes(16).toString('base64url')
    return `${device}.${signature(`${device} ${emailKey}`)}`
  }

  /** Ends the session of the cookie. Any client can send a cookie, so only a valid session costs a write. */
  async function end(request: FastifyRequest): Promise<void> {
    const text = cookies.sessionOf(request)
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
      // The service prolongs the session and decides when it ends; no response sets the cookie again meanwhile.
      cookies.setSession(request, reply, text, longestSessionSeconds)
      const session = await credentials.session(text)
      const email = session?.principal.email
      if (email) cookies.set(request, reply, deviceCookie, deviceFor(readEmail(email)!.key), deviceSeconds)
      return session
    },
    async signOut(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await end(request)
      cookies.setSession(request, reply, '', 0)
    },
    /** The name of this browser, if a member of this address has signed in with it; only this service can sign one. */
    deviceOf(request: FastifyRequest, emailKey: string): string | undefined {
      const [device, given = ''] = (cookies.read(request, deviceCookie) ?? '').split('.')
      if (!device) return undefined
      const [wanted, shown] = [Buffer.from(signature(`${device} ${emailKey}`)), Buffer.from(given)]
      return wanted.length === shown.length && timingSafeEqual(wanted, shown) ? device : undefined
    }
  }
}
