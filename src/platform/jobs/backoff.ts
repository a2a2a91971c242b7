const firstMs = 1_000
const longestMs = 15 * 60_000

/**
 * The wait after a failed attempt: 1 s, 2 s, 4 s … 15 min, of which the upper half is random. Jobs that failed together
 * do not come back together, and no wait is shorter than the one before it.
 */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const whole = Math.min(firstMs * 2 ** (attempt - 1), longestMs)
  return Math.round(whole / 2 + (whole / 2) * random())
}
