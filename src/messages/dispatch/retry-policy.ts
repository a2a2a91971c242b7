import type { FailureCode, Outcome } from '../../gateways/gateways.ts'

/** The number of repeats, by cause. */
export type Retries = Partial<Record<'gateway' | 'device' | 'lost' | 'crashed', number>>

/** The step after an attempt. */
export type Next =
  | { kind: 'accepted'; gatewayMessageId: string }
  | { kind: 'failed'; reason: FailureCode; message: string | undefined; gatewayCode: string }
  | {
      kind: 'again'
      /** Whether the message may have arrived. */
      lost: boolean
      at: number
      retries: Retries
      reason: FailureCode
      message: string
      gatewayCode: string
    }

/** The most attempts at a gateway that is unavailable. */
const gatewayAttempts = 5
const longestMs = 60_000
/** The waits for a device that got too many messages. */
const deviceWaitsMs = [2_000, 10_000, 60_000]
const projectWaitMs = 60_000
/** Repeats after a lost response, under the same collapse id, so that a phone shows the message once. */
const lostRepeats = 2
const lostWaitMs = 1_000
/** The most attempts of a message whose process died each time: the message may be the cause. */
export const crashesForgiven = 5
/** The minimal wait, because repeats that count as no attempt must not become a busy loop. */
const leastWaitMs = 200

/** Decides by the table of docs/guides/sending.md; a pure function. The time to live always wins. */
export function nextStep(
  outcome: Outcome,
  { retries, notAfter }: { retries: Retries; notAfter: number },
  now: number,
  random: () => number = Math.random
): Next {
  if (outcome.kind === 'accepted') return outcome
  if (outcome.kind === 'rejected') {
    const { reason, message, gatewayCode } = outcome
    return { kind: 'failed', reason, message, gatewayCode }
  }
  const gatewayCode = outcome.kind === 'retry' ? outcome.gatewayCode : ''
  const { reason, message } = outcome
  const lost = outcome.kind === 'unknown'
  const wait = lost ? lostWait(retries) : retryWait(outcome, retries, now, random)
  if (!wait) return { kind: 'failed', reason, message, gatewayCode }
  if (wait.at > notAfter) {
    // A message that may have arrived is not reported as expired.
    if (lost) return { kind: 'failed', reason, message, gatewayCode }
    return { kind: 'failed', reason: 'EXPIRED', message: undefined, gatewayCode }
  }
  return { kind: 'again', lost, at: wait.at, retries: wait.retries, reason, message, gatewayCode }

  function lostWait({ lost = 0 }: Retries) {
    return lost >= lostRepeats ? undefined : { at: now + lostWaitMs, retries: { ...retries, lost: lost + 1 } }
  }
}

function retryWait(
  { free, reason, notBefore }: Outcome & { kind: 'retry' },
  retries: Retries,
  now: number,
  random: () => number
): { at: number; retries: Retries } | undefined {
  const least = Math.max(notBefore, now + leastWaitMs)
  if (free) return { at: least, retries }
  if (reason === 'PROJECT_RATE_LIMITED') return { at: notBefore > now ? least : now + projectWaitMs, retries }
  if (reason === 'DEVICE_RATE_LIMITED') {
    const waitMs = deviceWaitsMs[retries.device ?? 0]
    if (waitMs === undefined) return undefined
    return { at: Math.max(least, now + waitMs), retries: { ...retries, device: (retries.device ?? 0) + 1 } }
  }
  const done = retries.gateway ?? 0
  if (done + 1 >= gatewayAttempts) return undefined
  // Full jitter: messages that failed together are not repeated together.
  const waitMs = Math.min(1_000 * 2 ** done, longestMs) * random()
  return { at: Math.max(least, now + waitMs), retries: { ...retries, gateway: done + 1 } }
}
