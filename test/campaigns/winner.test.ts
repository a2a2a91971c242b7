import assert from 'node:assert/strict'
import { it } from 'node:test'
import { bestOf } from '../../src/stats/winners.ts'

const results = (figures: Record<string, [sent: number, tapped: number]>) =>
  new Map(
    Object.entries(figures).map(([variant, [sent, tapped]]) => [
      variant,
      { sent, tapped, delivered: sent, users: sent, converted: tapped }
    ])
  )
const rule = { after: 1_000, by: 'tapped' as const }

it('the best rate wins after enough messages', () => {
  assert.equal(bestOf(rule, results({ a: [500, 40], b: [500, 90] })), 'b')
  assert.equal(bestOf(rule, results({ a: [499, 40], b: [500, 90] })), undefined)
})

it('no variant wins while the difference may be chance, or one has no results', () => {
  assert.equal(bestOf(rule, results({ a: [500, 50], b: [500, 60] })), undefined)
  assert.equal(bestOf(rule, results({ a: [500, 0], b: [500, 0] })), undefined)
  assert.equal(bestOf(rule, results({ a: [0, 0], b: [5_000, 900] })), undefined)
})

it('a winner of three beats both others', () => {
  assert.equal(bestOf(rule, results({ a: [500, 90], b: [500, 20], c: [500, 30] })), 'a')
  assert.equal(bestOf(rule, results({ a: [500, 90], b: [500, 20], c: [500, 88] })), undefined)
})

it('the rate is the one that the campaign names', () => {
  assert.equal(bestOf({ ...rule, by: 'conversion' }, results({ a: [600, 90], b: [600, 20] })), 'a')
  assert.equal(bestOf({ ...rule, by: 'delivered' }, results({ a: [600, 90], b: [600, 20] })), undefined)
})
