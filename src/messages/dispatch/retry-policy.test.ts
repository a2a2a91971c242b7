import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FailureCode, Outcome } from '../../gateways/gateways.ts'
import { nextStep, type Retries } from './retry-policy.ts'

const now = 1_000_000
const never = Number.MAX_SAFE_INTEGER
const retry = (reason: FailureCode, more: Partial<Extract<Outcome, { kind: 'retry' }>> = {}): Outcome => ({
  kind: 'retry',
  reason,
  message: 'm',
  gatewayCode: 'g',
  notBefore: 0,
  free: false,
  ...more
})
const lost: Outcome = { kind: 'unknown', reason: 'CONNECTION_LOST', message: 'm' }

/** The waits until the message ends, with the largest random number, and its end. */
function course(outcome: Outcome, notAfter = never, most = 20): [waitsMs: number[], end: string] {
  const waits: number[] = []
  let retries: Retries = {}
  while (waits.length < most) {
    const next = nextStep(outcome, { retries, notAfter }, now, () => 1)
    if (next.kind !== 'again') return [waits, next.kind === 'failed' ? next.reason : next.kind]
    waits.push(next.at - now)
    retries = next.retries
  }
  return [waits, 'goes on']
}

describe('the retry policy', () => {
  it('tries an unavailable gateway five times, with growing, jittered waits', () => {
    assert.deepEqual(course(retry('GATEWAY_UNAVAILABLE')), [[1_000, 2_000, 4_000, 8_000], 'GATEWAY_UNAVAILABLE'])
    const soonest = nextStep(retry('GATEWAY_UNAVAILABLE'), { retries: {}, notAfter: never }, now, () => 0)
    assert.ok(soonest.kind === 'again' && soonest.at === now + 200)
  })

  it('never repeats before the time that the gateway named', () => {
    const [waits] = course(retry('GATEWAY_UNAVAILABLE', { notBefore: now + 5_000 }))
    assert.deepEqual(waits, [5_000, 5_000, 5_000, 8_000])
  })

  it('repeats to a device that got too many messages after 2, 10 and 60 s', () => {
    assert.deepEqual(course(retry('DEVICE_RATE_LIMITED')), [[2_000, 10_000, 60_000], 'DEVICE_RATE_LIMITED'])
  })

  it('repeats for a project over its quota until the time to live ends, every 60 s or when the gateway says', () => {
    assert.deepEqual(course(retry('PROJECT_RATE_LIMITED'), never, 9), [Array(9).fill(60_000), 'goes on'])
    const [waits] = course(retry('PROJECT_RATE_LIMITED', { notBefore: now + 3_000 }), never, 2)
    assert.deepEqual(waits, [3_000, 3_000])
  })

  it('repeats at no cost as often as needed, but not in a busy loop', () => {
    assert.deepEqual(course(retry('GATEWAY_UNAVAILABLE', { free: true }), never, 9), [Array(9).fill(200), 'goes on'])
  })

  it('repeats a message whose response was lost twice after 1 s, and then fails it as lost', () => {
    assert.deepEqual(course(lost), [[1_000, 1_000], 'CONNECTION_LOST'])
  })

  it('counts each cause apart', () => {
    const { retries } = nextStep(lost, { retries: { gateway: 3 }, notAfter: never }, now) as { retries: Retries }
    assert.deepEqual(retries, { gateway: 3, lost: 1 })
  })

  it('ends with the time to live as expired, unless the message may have arrived', () => {
    assert.deepEqual(course(retry('GATEWAY_UNAVAILABLE'), now + 3_000), [[1_000, 2_000], 'EXPIRED'])
    assert.deepEqual(course(retry('PROJECT_RATE_LIMITED'), now + 3_000), [[], 'EXPIRED'])
    assert.deepEqual(course(lost, now + 10), [[], 'CONNECTION_LOST'])
  })

  it('ends with a refusal or a success', () => {
    const refused: Outcome = { kind: 'rejected', reason: 'TOKEN_INVALID', message: 'm', gatewayCode: 'g' }
    assert.deepEqual(course(refused), [[], 'TOKEN_INVALID'])
    assert.deepEqual(course({ kind: 'accepted', gatewayMessageId: 'x' }), [[], 'accepted'])
  })
})
