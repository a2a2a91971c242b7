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

/** Remembers which members have signed in with this browser; it opens nothing. */
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

  /** SameSite=Strict: a link on another site opens the console signed out, until the page is reloaded. */
  function setCookie(request: FastifyRequest, reply: FastifyReply, name: string, value: string, seconds: number): void {
    const cookie = `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`
    // A second cookie is added to the first.
    reply.header('set-cookie', secure || request.protocol === 'https' ? `${cookie}; Secure` : cookie)
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
      setCookie(request, reply, sessionCookie, text, sessionSeconds)
      if ('memberId' in holder) {
        const device = `${holder.memberId}.${randomBytes(16).toString('base64url')}`
        setCookie(request, reply, deviceCookie, `${device}.${signature(device)}`, deviceSeconds)
      }
      return credentials.session(text)
    },
    async signOut(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await end(request)
      setCookie(request, reply, sessionCookie, '', 0)
    },
    /** The name of this browser, if this member has signed in with it. Nobody else can make such a cookie. */
    deviceOf(request: FastifyRequest, memberId: string): string | undefined {
      const [member, device, given = ''] = (cookieOf(request, deviceCookie) ?? '').split('.')
      if (member !== memberId || !device) return undefined
      const [wanted, shown] = [Buffer.from(signature(`${member}.${device}`)), Buffer.from(given)]
      return wanted.length === shown.length && timingSafeEqual(wanted, shown) ? device : undefined
    }
  }
}
