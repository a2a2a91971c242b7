import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createCircuits, type Turn } from '../../src/webhooks/circuit.ts'

const shop = 'shop' as ProjectId
const other = 'other' as ProjectId

function circuitsAt(start = 1_000_000) {
  const clock = { now: start }
  return { clock, circuits: createCircuits(() => clock.now) }
}

const going = (turn: Turn) => {
  assert.ok(turn.go)
  return turn
}
const waiting = (turn: Turn) => {
  assert.ok(!turn.go)
  return turn
}

test('a destination that fails five times in a row rests, longer each time, and one success ends it', () => {
  const { clock, circuits } = circuitsAt()
  const fail = () => going(circuits.enter(shop, 'https://a')).end(false)
  for (let index = 0; index < 4; index += 1) fail()
  assert.ok(circuits.enter(shop, 'https://a').go, 'four are not enough')
  const fresh = circuitsAt()
  const failing = () => going(fresh.circuits.enter(shop, 'https://a')).end(false)
  for (let index = 0; index < 5; index += 1) failing()
  for (const rest of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    const turn = waiting(fresh.circuits.enter(shop, 'https://a'))
    assert.ok(turn.resting && turn.waitMs >= rest && turn.waitMs <= rest * 1.25, `${turn.waitMs} for ${rest}`)
    fresh.clock.now += rest
    failing()
  }
  fresh.clock.now += 300_000
  const probe = going(fresh.circuits.enter(shop, 'https://a'))
  assert.equal(waiting(fresh.circuits.enter(shop, 'https://a')).resting, false, 'one finds out, the others wait')
  probe.end(true)
  assert.ok(fresh.circuits.enter(shop, 'https://a').go)
  assert.ok(clock.now > 0)
})

test("failures of one project's destination do not affect another project or another host", () => {
  const { circuits } = circuitsAt()
  for (let index = 0; index < 5; index += 1) going(circuits.enter(shop, 'https://a')).end(false)
  waiting(circuits.enter(shop, 'https://a'))
  going(circuits.enter(shop, 'https://b'))
  going(circuits.enter(other, 'https://a'))
})

test('a destination has 8 calls at a time and a project 24; those that wait are spread out', () => {
  const { circuits } = circuitsAt()
  const turns = Array.from({ length: 8 }, () => going(circuits.enter(shop, 'https://a')))
  const waits = Array.from({ length: 100 }, () => waiting(circuits.enter(shop, 'https://a')).waitMs)
  assert.ok(waits.every((wait, index) => index === 0 || wait > waits[index - 1]!))
  for (const host of ['b', 'c'])
    for (let index = 0; index < 8; index += 1) going(circuits.enter(shop, `https://${host}`))
  waiting(circuits.enter(shop, 'https://d'))
  going(circuits.enter(other, 'https://d'))
  turns[0]!.end(true)
  going(circuits.enter(shop, 'https://d'))
})

test('a call that was cut short by a stop says nothing about its destination', () => {
  const { circuits } = circuitsAt()
  for (let index = 0; index < 20; index += 1) going(circuits.enter(shop, 'https://a')).end(undefined)
  assert.deepEqual(circuits.stats(), { in_flight: 0, resting: 0 })
})

test('a million destinations are not remembered', () => {
  const { circuits } = circuitsAt()
  for (let index = 0; index < 20_000; index += 1) {
    const turn = going(circuits.enter(shop, `https://${index}`))
    for (let times = 0; times < 1; times += 1) turn.end(false)
  }
  assert.equal(circuits.stats().in_flight, 0)
})
