/** Limits repeats by the number of pushes that are sent for the first time. */
export interface Budget {
  /** Counts a push that is sent for the first time. */
  fresh(now: number): void
  /** Reserves a place for a repeat; false if none is free. */
  takes(now: number): boolean
  /** Counts a repeat that a gateway accepted. */
  worked(now: number): void
}

/** Repeats as a share of the pushes of about the last minute. */
const share = 0.2
const memoryMs = 60_000
/** A minimum, so that projects that send little may repeat too. */
const leastPerSecond = 1
/**
 * Places returned by an accepted repeat: the one it took, and one more, so that waiting repeats leave soon after a
 * gateway recovers.
 */
const forWorking = 2

/**
 * Keeps a failing gateway from getting every push five times. Fresh pushes earn places, which expire within a minute.
 * Only repeats that fail again use up places: accepted repeats show that the gateway works.
 */
export function createBudget(): Budget {
  let places = (leastPerSecond * memoryMs) / 1000
  let at = 0

  function earn(count: number, now: number) {
    const passedMs = Math.max(0, at === 0 ? 0 : now - at)
    at = now
    places = places * Math.exp(-passedMs / memoryMs) + (leastPerSecond * passedMs) / 1000 + count
  }

  return {
    fresh: (now) => earn(share, now),
    takes(now) {
      earn(0, now)
      if (places < 1) return false
      places -= 1
      return true
    },
    worked: (now) => earn(forWorking, now)
  }
}
