import { steadyMs } from '../../platform/time.ts'
import type { Outcome } from '../push.ts'
import { type FailureCode, failureReasons } from '../reasons.ts'

const longestSpreadMs = 5_000

export interface RetryWords {
  message?: string
  gatewayCode?: string
  /** The push was not sent, so the attempt does not count. */
  free?: boolean
}

/**
 * A push to repeat, not before `at`, a time of the steady clock. The outcome gives that time by the wall clock, because
 * it may be stored. A random delay keeps pushes with the same time from coming all at once.
 */
export function retry(reason: FailureCode, at: number, words: RetryWords = {}): Outcome {
  const { message = failureReasons[reason], gatewayCode = '', free = true } = words
  const waitMs = at - steadyMs()
  const spreadMs = Math.min(0.2 * Math.max(0, waitMs), longestSpreadMs)
  // The wall clock counts whole milliseconds: a time that is rounded down would bring the push back too early.
  const notBefore = Math.ceil(Date.now() + 1 + waitMs + Math.random() * spreadMs)
  return { kind: 'retry', reason, message, gatewayCode, notBefore, free }
}

export const rejected = (reason: FailureCode, message: string = failureReasons[reason], gatewayCode = '') =>
  ({ kind: 'rejected', reason, message, gatewayCode }) as const

export const unknown = (reason: 'CONNECTION_LOST' | 'GATEWAY_TIMEOUT'): Outcome => ({
  kind: 'unknown',
  reason,
  message: failureReasons[reason]
})

export const closed = (): Outcome =>
  retry('GATEWAY_UNAVAILABLE', steadyMs(), { message: 'The sender is being closed.' })
