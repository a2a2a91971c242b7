import assert from 'node:assert/strict'
import { it } from 'node:test'
import { wilson } from './wilson.ts'

const rounded = (hits: number, cases: number) => wilson(hits, cases)?.map((rate) => Math.round(rate * 1000) / 1000)

it('the interval of a share is that of published tables, also for none, for all and for few', () => {
  assert.deepEqual(rounded(5, 50), [0.043, 0.214])
  assert.deepEqual(rounded(0, 10), [0, 0.278])
  assert.deepEqual(rounded(10, 10), [0.722, 1])
  assert.deepEqual(rounded(1, 2), [0.095, 0.905])
  assert.equal(wilson(0, 0), undefined)
})
