const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long a call is retried, from its creation or its replay. */
export const givenUpAfterMs = 24 * hour

const waits = [second, 5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 3 * hour]

/** The wait after the given number of failed attempts: about 1 s, 5 s, 30 s, then growing to 3 h. */
export function waitAfter(attempts: number, random: () => number = Math.random): number {
  const wait = waits[Math.min(attempts, waits.length) - 1]!
  return Math.round(wait * (0.9 + 0.2 * random()))
}
