import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRate } from './rate.ts'

/** Counts the pushes that leave in a second if the queue is never empty. */
function sentIn(rate: ReturnType<typeof createRate>, fromMs: number, forMs = 1_000): number {
  let sent = 0
  for (let now = fromMs; now < fromMs + forMs; now += 10) while (sent < 1e6 && rate.takes(now)) sent += 1
  return sent
}

const at = 1_000_000

test('without a quota no push is held back', () => {
  const rate = createRate(() => 0, 60_000)
  for (let turn = 0; turn < 100_000; turn += 1) assert.ok(rate.takes(at))
})

test('a quota is approached within a minute and then kept', () => {
  const rate = createRate(() => 9_500, 60_000)
  const first = sentIn(rate, at)
  assert.ok(first > 900 && first < 1_500, `${first} in the first second`)
  sentIn(rate, at + 1_000, 29_000)
  const half = sentIn(rate, at + 30_000)
  assert.ok(half > 5_000 && half < 5_600, `${half} after half a minute`)
  sentIn(rate, at + 31_000, 30_000)
  const full = sentIn(rate, at + 61_000, 10_000)
  assert.ok(full > 94_000 && full <= 97_500, `${full} in ten seconds`)
})

test('the growth begins anew after a minute of rest, and not after less', () => {
  const rate = createRate(() => 1_000, 60_000)
  sentIn(rate, at, 61_000)
  assert.ok(sentIn(rate, at + 100_000) > 900)
  const again = sentIn(rate, at + 200_000)
  assert.ok(again < 150, `${again} after a rest`)
})

test('a pushback lowers the rate by a fifth, which grows back within seconds', () => {
  const rate = createRate(() => 1_000, 1)
  sentIn(rate, at, 3_000)
  rate.pushback(at + 3_000)
  rate.pushback(at + 3_001)
  const less = sentIn(rate, at + 3_000)
  assert.ok(less > 750 && less < 880, `${less}`)
  sentIn(rate, at + 4_000, 3_000)
  const more = sentIn(rate, at + 7_000)
  assert.ok(more >= 900, `${more} four seconds later`)
})

test('a pushback also lowers a rate without a quota, down to a hundred a second', () => {
  const rate = createRate(() => 0, 60_000)
  for (let now = at; now < at + 2_000; now += 1) for (let turn = 0; turn < 2; turn += 1) rate.takes(now)
  rate.pushback(at + 2_000)
  const less = sentIn(rate, at + 2_000)
  assert.ok(less > 1_300 && less < 2_100, `${less}`)
  for (let turn = 0; turn < 100; turn += 1) rate.pushback(at + 3_000 + turn * 1_000)
  assert.ok(rate.limit(at + 103_000) >= 100)
  assert.equal(rate.limit(at + 200_000), Number.POSITIVE_INFINITY, 'and is forgotten')
})
