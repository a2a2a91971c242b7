/** How many pushes may leave in a second. */
export interface Rate {
  /** Takes a place; false where there is none now. */
  takes(now: number): boolean
  /** The gateway has too much. */
  pushback(now: number): void
  /** Pushes a second, as allowed now. */
  limit(now: number): number
}

/** Firebase demands that traffic grows slowly. A tenth may leave at once, so that small senders do not wait. */
const atOnce = 0.1
/** Without a push for this long the growth begins anew. */
const idleMs = 60_000
/** The part of the limit that may leave in one go. */
const burstMs = 250
/** After a pushback: this share of the former rate, growing by this factor each second, and at least this many. */
const kept = 0.8
const growth = 1.05
const least = 100
/** By then the ceiling is eighteen times what it was, and no ceiling any more. */
const forgottenMs = 60_000

/**
 * A quota (`perSecond`; none where it returns 0) that is approached in `rampMs`, and a ceiling after the gateway has pushed
 * back.
 */
export function createRate(perSecond: () => number, rampMs: number): Rate {
  let places = Number.POSITIVE_INFINITY
  let at = 0
  let rampAt = 0
  let ceiling = Number.POSITIVE_INFINITY
  let ceilingAt = 0
  let pushedAt = 0
  /** Pushes that left in the second that began at `secondAt`, and in the one before. */
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
      // Responses to all pushes in flight say the same: once in a second is enough.
      if (now - pushedAt < 1000) return
      pushedAt = now
      ceiling = Math.max(least, kept * Math.min(limit(now), Math.max(left, leaving)))
      ceilingAt = now
    }
  }
}
