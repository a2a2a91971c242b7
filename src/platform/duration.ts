const units = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000]
])

/** Ten years: longer than any data is kept, and within the range of dates. */
const maxMs = 3_660 * 86_400_000

export const durationPattern = '^[1-9][0-9]{0,8}[smhdw]$'
const shape = new RegExp(durationPattern)

/** The rule in words, for a refusal. */
export const durationRule = 'must be a duration such as 15m, 24h or 30d (s, m, h, d, w), ten years at most'

/** `30d`, `24h`, `15m` in milliseconds; undefined for any other text. No other code reads durations. */
export function parseDuration(text: unknown): number | undefined {
  if (typeof text !== 'string' || !shape.test(text)) return undefined
  const ms = Number(text.slice(0, -1)) * units.get(text.slice(-1))!
  return ms <= maxMs ? ms : undefined
}
