/** Limits repeats by the number of pushes that are sent for the first time. */
export interface Budget {
  /** A push is sent for the first time. */
  fresh(now: number): void
  /** Takes a place for a repeat; false where there is none. */
  takes(now: number): boolean
  /** A repeat was accepted. */
  worked(now: number): void
}

/** The share of pushes of the last minute or so. */
const share = 0.2
const memoryMs = 60_000
/** Projects that send little may repeat too. */
const leastPerSecond = 1
/** The place it took, and one more: once a gateway has recovered, waiting repeats leave soon. */
const forWorking = 2

/**
 * A failing gateway does not get every push five times. Fresh pushes earn places, which are forgotten within a minute. Only
 * repeats that fail again use them up: accepted ones show that the gateway works.
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
