import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRateLimits } from '../../src/projects/rate-limits/rate-limit.ts'

function limits(nodes = 1) {
  const clock = { now: 1_800_000_000_000 }
  const rates = createRateLimits(
    () => nodes,
    () => clock.now
  )
  const allowed = (limit: number, times: number) =>
    Array.from({ length: times }, () => rates.take('p', limit)).filter((each) => each.allowed).length
  return { clock, rates, allowed }
}

describe('a token bucket', () => {
  it('grants the budget of a second at once, then refills with time', () => {
    const { clock, allowed } = limits()
    assert.equal(allowed(10, 20), 10)
    clock.now += 300
    assert.equal(allowed(10, 20), 3)
    clock.now += 60_000
    assert.equal(allowed(10, 20), 10, 'it never holds more than a second')
  })

  it('returns the time to retry and the time when it is full again', () => {
    const { clock, rates } = limits()
    for (let index = 0; index < 2; index += 1) rates.take('p', 2)
    const refused = rates.take('p', 2)
    assert.deepEqual([refused.allowed, refused.limit, refused.remaining, refused.retryAfterSeconds], [false, 2, 0, 1])
    assert.equal(refused.resetAt, clock.now / 1000 + 1)
  })

  it('is shared by the nodes alive, and a node grants at least one request', () => {
    assert.equal(limits(4).allowed(40, 100), 10)
    assert.equal(limits(5).allowed(1, 100), 1)
  })

  it('does not move when the clock goes back', () => {
    const { clock, allowed } = limits()
    assert.equal(allowed(5, 10), 5)
    clock.now -= 10_000
    assert.equal(allowed(5, 10), 0)
  })

  it('that is empty stays so, however many others are filled', () => {
    const { clock, rates, allowed } = limits()
    assert.equal(allowed(10, 20), 10)
    for (let index = 0; index < 60_000; index += 1) {
      if (index % 1_000 === 0) clock.now += 1
      rates.take(`other ${index}`, 1_000)
    }
    assert.equal(allowed(10, 20), 0)
  })

  it('is not kept at any cost where none is full: the oldest go', () => {
    const { rates, allowed } = limits()
    const others = (name: string, many: number) => {
      for (let index = 0; index < many; index += 1) rates.take(`${name} ${index}`, 1)
    }
    others('older', 15_000)
    assert.equal(allowed(10, 20), 10)
    others('younger', 15_000)
    assert.equal(allowed(10, 20), 0)
    assert.ok(rates.take('older 0', 1).allowed)
    others('youngest', 30_000)
    assert.equal(allowed(10, 20), 10)
  })

  it('of 0 is no limit', () => assert.equal(limits().allowed(0, 1000), 1000))
})
