/** How many pushes may be tried again, measured by how many are tried for the first time. */
export interface Budget {
  /** One that was not tried before goes out. */
  fresh(now: number): void
  /** Takes a place for one that is tried again; false where there is none. */
  takes(now: number): boolean
  /** One that was tried again was accepted. */
  worked(now: number): void
}

/** The share of what was sent in the last minute or so. */
const share = 0.2
const memoryMs = 60_000
/** Those who send little may repeat too. */
const leastPerSecond = 1
/** The place it took, and one more: when a gateway is well again, what waits is let go soon. */
const forWorking = 2

/**
 * A gateway that fails does not get everything five times over. Places are earned by fresh pushes and forgotten within a
 * minute. Only repeats that come to nothing use them up: the others show that the gateway works.
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
