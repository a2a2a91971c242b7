import { open, seal } from '../../platform/secrets/secrets.ts'
import type { Attempt } from './provider.ts'

/** How long a person may take at the provider. */
export const attemptSeconds = 10 * 60

/** A sign-in that a browser has begun. Its cookie is sealed, so the service stores nothing for callers it does not know. */
export interface Begun extends Attempt {
  /** The page of the console that the person wanted to see. */
  returnTo: string
}

const context = 'oidc attempt'

export const sealAttempt = (key: Buffer, begun: Begun): string =>
  Buffer.from(seal(key, context, JSON.stringify({ ...begun, untilMs: Date.now() + attemptSeconds * 1_000 }))).toString(
    'base64url'
  )

/** Undefined for a cookie that this installation did not make, or that is too old. */
export function openAttempt(key: Buffer, cookie: string): Begun | undefined {
  try {
    const text = open(key, context, Buffer.from(cookie, 'base64url').toString())
    const { untilMs, ...begun } = JSON.parse(text) as Begun & { untilMs: number }
    return untilMs > Date.now() ? begun : undefined
  } catch {
    return undefined
  }
}

const anyOrigin = 'http://console.invalid'

/** A page of the console as it was asked for, or its first page. An address elsewhere must never be followed. */
export function consolePageOf(asked: string | undefined): string {
  if (!asked || asked.length > 1_024 || !URL.canParse(asked, anyOrigin)) return '/console/'
  const { origin, pathname, search } = new URL(asked, anyOrigin)
  return origin === anyOrigin && pathname.startsWith('/console/') ? pathname + search : '/console/'
}
