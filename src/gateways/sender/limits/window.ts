export interface Window {
  readonly size: number
  /** Counts a response that took `tookMs`, while `inFlight` other pushes were in flight. */
  answered(tookMs: number, inFlight: number, now: number): void
  /** The gateway reports that it gets too many pushes. */
  pushback(now: number): void
}

/** The fastest round is forgotten after this: the network path may have become longer. */
const memoryMs = 300_000
/** Rounds slower than the fastest by less than this show a busy machine, not a queue at the gateway. */
const slackMs = 100

/**
 * The number of pushes that may be in flight. By Little's law it is rate times round trip, and both are unknown. So the
 * window grows by a sixteenth for every round that was full and not slower, and halves when the gateway pushes back.
 */
export function createWindow(first: number, most: number): Window {
  let size = Math.min(first, most)
  let answers = 0
  let sumMs = 0
  let full = false
  let fastestMs = Number.POSITIVE_INFINITY
  let fastestAt = 0
  let roundMs = 0
  let halvedAt = 0

  function endRound(now: number) {
    roundMs = sumMs / answers
    if (roundMs < fastestMs || now - fastestAt > memoryMs) {
      fastestMs = roundMs
      fastestAt = now
    }
    if (full && roundMs <= 2 * fastestMs + slackMs) size = Math.min(most, size + Math.max(1, size / 16))
    answers = 0
    sumMs = 0
    full = false
  }

  return {
    get size() {
      return Math.floor(size)
    },
    answered(tookMs, inFlight, now) {
      answers += 1
      sumMs += tookMs
      full ||= inFlight + 1 >= Math.floor(size)
      if (answers >= size) endRound(now)
    },
    pushback(now) {
      // Responses to all pushes in flight report the same overload, so one for each round trip counts.
      if (now - halvedAt < Math.max(roundMs, 100)) return
      halvedAt = now
      size = Math.max(1, size / 2)
      answers = 0
      sumMs = 0
      full = false
    }
  }
}
