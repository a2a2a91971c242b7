/** The number of pushes that may leave in a second. */
export interface Rate {
  /** Reserves a place; false if none is free now. */
  takes(now: number): boolean
  /** The gateway reports that it gets too many pushes. */
  pushback(now: number): void
  /** The pushes a second that are allowed now. */
  limit(now: number): number
}

/** Firebase demands that traffic grows slowly. A tenth may leave at once, so that small senders do not wait. */
const atOnce = 0.1
/** After this long without a push the growth starts again. */
const idleMs = 60_000
/** The pushes that the limit allows in this time may leave at once. */
const burstMs = 250
/** After a pushback: this share of the former rate, growing by this factor each second, and at least this many. */
const kept = 0.8
const growth = 1.05
const least = 100
/** After this time the ceiling has grown eighteenfold and no longer limits anything. */
const forgottenMs = 60_000

/**
 * A quota (`perSecond`; 0 means none) that is approached over `rampMs`, and a ceiling after the gateway has pushed
 * back.
 */
export function createRate(perSecond: () => number, rampMs: number): Rate {
  let places = Number.POSITIVE_INFINITY
  let at = 0
  let rampAt = 0
  let ceiling = Number.POSITIVE_INFINITY
  let ceilingAt = 0
  let pushedAt = 0
  /** The pushes that left in the second that began at `secondAt`, and in the second before. */
  let secondAt = 0
  let leaving = 0
  let left = 0

  function limit(now: number): number {
    const quota = perSecond() || Number.POSITIVE_INFINITY
    const grown = Math.min(1, atOnce + ((1 - atOnce) * Math.max(0, now - rampAt)) / rampMs)
    if (now - ceilingAt > forgottenMs) ceiling = Number.POSITIVE_INFINITY
    return Math.min(quota * grown, ceiling * growth ** ((now - ceilingAt) / 1000))
  }

  function count(now: number) {
    if (now - secondAt >= 1000) {
      left = now - secondAt < 2000 ? leaving : 0
      leaving = 0
      secondAt = now
    }
    leaving += 1
  }

  return {
    limit,
    takes(now) {
      if (now - at > idleMs) rampAt = now
      const allowed = limit(now)
      if (allowed === Number.POSITIVE_INFINITY) places = allowed
      else {
        const most = Math.max(1, (allowed * burstMs) / 1000)
        places = Math.min(most, places + (allowed * Math.max(0, now - at)) / 1000)
      }
      at = now
      if (places < 1) return false
      places -= 1
      count(now)
      return true
    },
    pushback(now) {
      // Responses to all pushes in flight report the same overload, so one a second counts.
      if (now - pushedAt < 1000) return
      pushedAt = now
      ceiling = Math.max(least, kept * Math.min(limit(now), Math.max(left, leaving)))
      ceilingAt = now
    }
  }
}
