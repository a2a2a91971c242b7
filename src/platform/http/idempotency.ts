import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'
import type { IdempotencyKey } from '../idempotency/idempotency.ts'
import { fingerprintOf } from './body.ts'

const names = ['idempotency-key', 'x-service-idempotency-key'] as const
const maxLength = 255

/** The key that a caller sent, if any. `scope` is the path that it counts for, the same under every prefix. */
export function idempotencyKeyOf(request: FastifyRequest, scope: string): IdempotencyKey | undefined {
  const [name = names[0]] = names.filter((one) => request.headers[one] !== undefined)
  const key = request.headers[name]
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key === '' || key.length > maxLength)
    throw new Refusal('invalid_idempotency_key', `${name}: must be 1 to ${maxLength} characters`)
  return { scope, key, fingerprint: fingerprintOf(request) }
}

/** Runs the work of a keyed call. A repeat during the first call gets Retry-After: 1. */
export async function answerOnce<Result extends { replayed: boolean }>(
  reply: FastifyReply,
  work: () => Promise<Result>
): Promise<Result> {
  try {
    const result = await work()
    if (result.replayed) reply.header('idempotent-replay', 'true')
    return result
  } catch (error) {
    if (error instanceof Refusal && error.code === 'idempotency_key_in_use') reply.header('retry-after', 1)
    throw error
  }
}
