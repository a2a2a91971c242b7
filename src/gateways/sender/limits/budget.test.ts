import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudget } from './budget.ts'

const at = 1_000_000

/** Counts the repeats that get a place at that time. */
const taken = (budget: ReturnType<typeof createBudget>, now: number, wanted: number) => {
  let taken = 0
  for (let turn = 0; turn < wanted; turn += 1) if (budget.takes(now)) taken += 1
  return taken
}

test('while the gateway fails, repeats are a fifth of fresh pushes, and one a second besides', () => {
  const budget = createBudget()
  let sent = 0
  let again = 0
  for (let second = 0; second < 120; second += 1) {
    for (let turn = 0; turn < 100; turn += 1) budget.fresh(at + second * 1_000)
    sent += 100
    again += taken(budget, at + second * 1_000, 1_000)
  }
  assert.ok(again > 0.19 * sent && again <= 0.2 * sent + 180, `${again} of ${sent}`)
})

test('earned places are forgotten after a few minutes', () => {
  const budget = createBudget()
  for (let turn = 0; turn < 10_000; turn += 1) budget.fresh(at)
  const later = taken(budget, at + 600_000, 10_000)
  assert.ok(later < 700, `${later}`)
})

test('when the gateway works again, all waiting repeats leave soon', () => {
  const budget = createBudget()
  assert.ok(taken(budget, at, 1_000) <= 60)
  let waiting = 10_000
  let seconds = 0
  for (; waiting > 0 && seconds < 60; seconds += 1)
    for (let round = 0; round < 10; round += 1) {
      const now = at + 1_000 + seconds * 1_000 + round * 100
      const sent = taken(budget, now, waiting)
      waiting -= sent
      for (let turn = 0; turn < sent; turn += 1) budget.worked(now)
    }
  assert.ok(seconds < 10, `${seconds} s`)
})
