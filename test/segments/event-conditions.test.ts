import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { compare } from '../../src/segments/compare.ts'
import { createPatternMatcher, eventMatches, operators, patternPairs } from '../../src/segments/segments.ts'
import { silentLog } from '../support/log.ts'
import { startService } from '../support/service.ts'
import { dates, now, odd } from './world.ts'

const service = await startService()
const pool = openPool({ connectionString: service.databaseUrl }, silentLog)
after(() => pool.close())

const values = [
  null,
  true,
  false,
  0,
  -1,
  5,
  5.5,
  1e21,
  '',
  '5',
  'a',
  'B',
  'ab',
  'é',
  '😀',
  '\uffff',
  [],
  [5],
  {},
  ...dates,
  ...odd
]
const wanted = [null, true, 0, 5, 5.5, '', '5', 'a', 'ab', 'é', '😀', '1d', dates[2]!, dates[4]!, odd[0]!]
const lists = [[], [null], [5, 'a'], ['a', null], [true]]

it('conditions on an event mean the same in this process as in PostgreSQL', async () => {
  const events = [{}, ...values.map((x) => ({ x }))]
  for (const operator of operators.filter((one) => one !== 'matches'))
    for (const value of operator === 'in' || operator === 'not_in' ? lists : wanted) {
      const placed: unknown[] = [JSON.stringify(events)]
      // A condition that is always false mentions none of its values, and PostgreSQL accepts no value without a place.
      const given: unknown[] = []
      const place = (one: unknown, type: string) => `<${given.push(one) - 1}>::${type}`
      const attribute = { kind: 'json', of: 'event', name: 'x' } as const
      const condition = compare(attribute, { operator, wanted: value, now, place }).replace(
        /<([0-9]+)>/g,
        (_, index) => `$${placed.push(given[Number(index)])}`
      )
      const text = `select n::int from jsonb_array_elements($1::jsonb) with ordinality as e(properties, n) where ${condition}`
      const hits = new Set((await pool.adhoc<{ n: number }>(text, placed)).map(({ n }) => n - 1))
      for (const [index, properties] of events.entries()) {
        const facts = { properties, now, trigger: {}, patterns: () => false }
        const where = [{ attribute: 'event.x', operator, value }]
        assert.equal(
          eventMatches(where, facts),
          hits.has(index),
          `${JSON.stringify(properties)} ${operator} ${JSON.stringify(value)}`
        )
      }
    }
})

it('patterns are those of PostgreSQL, and one that takes too long matches nothing, beside others that do', async () => {
  const patterns = createPatternMatcher(pool)
  const matches = async (text: string, pattern: string) => {
    const where = [{ attribute: 'event.x', operator: 'matches' as const, value: pattern }]
    await patterns.learn(patterns.unknown(patternPairs(where, { x: text })))
    return eventMatches(where, { properties: { x: text }, now, trigger: {}, patterns: patterns.matches })
  }
  assert.deepEqual(
    [await matches('order-17', '^order-[[:digit:]]+$'), await matches('order-x', '^order-\\d')],
    [true, false]
  )
  const slow = { text: `${'a'.repeat(3_000)}x${'a'.repeat(2_999)}`, pattern: '^(a+)(a+)(a+)x\\1\\2\\3$' }
  const quick = { text: 'order-18', pattern: '^order-\\d' }
  await patterns.learn([slow, quick])
  assert.deepEqual(
    [slow, quick].map(({ text, pattern }) => patterns.matches(text, pattern)),
    [false, true]
  )
})

it('all pairs of a batch are known after they were learned, whatever had to make room for them', async () => {
  const patterns = createPatternMatcher(pool)
  const pairs = Array.from({ length: 20_002 }, (_, n) => ({ text: `${n}`, pattern: '^1' }))
  await patterns.learn(pairs.slice(1))
  await patterns.learn(pairs)
  assert.equal(patterns.unknown(pairs).length, 0)
})
