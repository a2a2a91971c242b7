import type { FastifyReply } from 'fastify'
import { Unavailable } from '../errors.ts'

/** How long a request may take before it gets 503 (decision 0008); streams are exempt. */
const requestLimitMs = 100_000
const lookEveryMs = 1_000

export interface TimeLimit {
  watch(reply: FastifyReply): void
  /** The response was sent, or the client disconnected. */
  over(reply: FastifyReply): void
  /** The number of watched requests. */
  seated(): number
  close(): void
}

/** The position of a reply among those in flight. */
const seat = Symbol('seat')
type Seated = FastifyReply & { [seat]?: number | undefined }

/**
 * Ends requests that take too long. One timer checks all of them: Fastify's own limit arms a timer and aborts a signal
 * for every request, which took 8 % of the time of a user write. Requests are kept in an array and not in a Map,
 * because the tables that a Map leaves behind as it grows and shrinks keep finished requests alive until the next full
 * collection: scavenges took 18 ms instead of 1.
 */
export function createTimeLimit(limitMs: number = requestLimitMs): TimeLimit {
  const inFlight: ({ reply: FastifyReply; beganMs: number } | undefined)[] = []
  const free: number[] = []
  const timer = setInterval(look, Math.min(lookEveryMs, limitMs))
  timer.unref()

  function look(): void {
    const overdue = performance.now() - limitMs
    for (const seated of inFlight) {
      if (!seated) continue
      const { reply, beganMs } = seated
      // A reply whose client disconnected is never reported as finished, because no response to it finishes.
      if (reply.raw.destroyed) over(reply)
      else if (beganMs <= overdue && !reply.sent) {
        reply.header('connection', 'close').send(new Unavailable('The request took too long.'))
      }
    }
  }

  function over(reply: Seated): void {
    const index = reply[seat]
    if (index === undefined) return
    reply[seat] = undefined
    inFlight[index] = undefined
    free.push(index)
  }

  return {
    watch(reply) {
      const index = free.pop() ?? inFlight.length
      inFlight[index] = { reply, beganMs: performance.now() }
      ;(reply as Seated)[seat] = index
    },
    over,
    seated: () => inFlight.length - free.length,
    close: () => clearInterval(timer)
  }
}
