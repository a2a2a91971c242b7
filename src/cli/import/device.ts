import { createHash } from 'node:crypto'
import type { Device } from './records.ts'

const platforms = new Map([
  ...['ios', 'ipados', 'iphone', 'ipad', 'apns', 'apple', 'tvos', 'macos'].map((name) => [name, 'IOS'] as const),
  ...['android', 'fcm', 'gcm', 'google'].map((name) => [name, 'ANDROID'] as const),
  ...['web', 'webpush', 'web_push', 'browser', 'chrome', 'firefox', 'safari', 'edge'].map(
    (name) => [name, 'WEB'] as const
  )
])

export const platformOf = (name: unknown): string | undefined =>
  typeof name === 'string' ? platforms.get(name.trim().toLowerCase()) : undefined

/** The platform of a token that came without one: Apple's are 64 or more hexadecimal digits, Google's have a colon. */
export function platformOfToken(token: string): string | undefined {
  if (/^[0-9a-f]{64,200}$/i.test(token)) return 'IOS'
  if (/^\s*\{/.test(token)) return 'WEB'
  return /^[\w-]{8,}:[\w-]{80,}$/.test(token) ? 'ANDROID' : undefined
}

/**
 * The id of a device that came without one. It follows from the token, so that a repeated import finds the device again.
 * When the app registers the token under its own id, the token moves there.
 */
export const idOfToken = (token: string): string =>
  `imported-${createHash('sha256').update(token).digest('hex').slice(0, 32)}`

/** `pt-BR` and `pt_BR` are a language and a region. */
export function localeFacts(locale: unknown): { locale_language?: string; locale_region?: string } {
  const [language = '', ...rest] = typeof locale === 'string' ? locale.split(/[-_]/) : []
  if (!/^[a-z]{2,3}$/i.test(language)) return {}
  const region = rest.find((part) => /^(?:[a-z]{2}|\d{3})$/i.test(part))
  return { locale_language: language.toLowerCase(), ...(region && { locale_region: region.toUpperCase() }) }
}

/** A device without the fields that are absent or empty. */
export const deviceOf = (fields: Record<string, unknown> & { id: string }): Device =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== '' && value !== null)
  ) as Device
