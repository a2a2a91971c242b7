import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../platform/errors.ts'
import { networkOf } from '../projects/projects.ts'

/** The most failed sign-ins per address and minute. Further failures get 429; a valid sign-in always passes. */
const maxFailures = 10
const minuteMs = 60_000
const maxAddresses = 10_000

/**
 * Counts failed proofs of each address. Only failures are limited: another person behind the same address may have a valid
 * token.
 */
export function createFailures() {
  const failures = new Map<string, { count: number; untilMs: number }>()
  return {
    /** Counts a failure, and returns its refusal, or that there were too many. */
    count(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): Refusal {
      const [now, address] = [Date.now(), networkOf(request.ip)]
      const known = failures.get(address)
      const current = known && known.untilMs > now ? known : { count: 0, untilMs: now + minuteMs }
      current.count++
      failures.delete(address)
      if (failures.size >= maxAddresses) failures.delete(failures.keys().next().value!)
      failures.set(address, current)
      if (current.count <= maxFailures) return refusal
      reply.header('retry-after', Math.ceil((current.untilMs - now) / 1000))
      return new Refusal('rate_limited', 'Too Many Requests')
    }
  }
}
