import type { Scalar } from '../properties.ts'

export const valueTypes = ['text', 'number', 'boolean', 'time', 'auto'] as const
export type ValueType = (typeof valueTypes)[number]

const booleans = new Map([
  ...['true', 't', 'yes', 'y', '1'].map((word) => [word, true] as const),
  ...['false', 'f', 'no', 'n', '0'].map((word) => [word, false] as const)
])

export const booleanIn = (text: string): boolean | undefined => booleans.get(text.trim().toLowerCase())

/** A number that JavaScript would round is none: an account number with a wrong last digit is worse than a text. */
export function numberIn(text: string): number | undefined {
  if (!/^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number)) ? number : undefined
}

/** ISO 8601, `2026-11-15 09:30:00 UTC`, or seconds or milliseconds since 1970, as RFC 3339. */
export function timeIn(value: unknown): string | undefined {
  const text = String(value ?? '').trim()
  if (/^\d{9,11}(?:\.\d+)?$/.test(text)) return at(Number(text) * 1000)
  if (/^\d{12,14}$/.test(text)) return at(Number(text))
  const found = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/i.exec(text)
  if (!found) return undefined
  const [, day, time = '00:00', zone = 'Z'] = found
  return at(Date.parse(`${day}T${time}${/^utc$/i.test(zone) ? 'Z' : zone.replace(/^([+-]\d\d):?(\d\d)$/, '$1:$2')}`))
}

const at = (ms: number) => (ms >= 0 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : undefined)

/** A cell as a value of a type; undefined if it is none. */
export function valueIn(text: string, type: ValueType): Scalar | undefined {
  if (type === 'text') return text
  if (type === 'number') return numberIn(text)
  if (type === 'boolean') return booleanIn(text)
  if (type === 'time') return timeIn(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return numberIn(text) ?? text
}
