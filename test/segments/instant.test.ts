import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { instantText } from '../../src/platform/time.ts'
import { instantSql, textBounds } from '../../src/segments/instant.ts'
import { testPool } from '../support/database.ts'
import fc from '../support/fuzz.ts'
import { dates, odd } from './world.ts'

const forms = [...dates, ...odd, '2026-11-15T12:00:00.123Z', '2024-02-29T23:59:59Z', '1999-12-31T00:00:00.000Z']
const sign = fc.constantFrom(...'0123456789-:.TZ+ \nx漢')
/** Times, and texts that differ from one in a character or two: most of them are almost times. */
const nearly = fc
  .tuple(fc.constantFrom(...forms), fc.array(fc.tuple(fc.nat(25), fc.option(sign)), { maxLength: 2 }))
  .map(([form, changes]) => {
    const signs = [...form]
    for (const [place, changed] of changes) signs.splice(place, 1, ...(changed ? [changed] : []))
    return signs.join('')
  })
const texts = fc.sample(nearly, { numRuns: 5_000, seed: 7 })

describe('a time written as text', () => {
  it('is the same to PostgreSQL and to JavaScript, and nothing that looks like one fails a query', async (t) => {
    const pool = await testPool(t)
    const rows = await pool.adhoc<{ text: string }>(
      `select text from (select text collate "C" as text, expected from unnest($1::text[], $2::timestamptz[]) t(text, expected)) t
        where ${instantSql('t.text')} is distinct from expected`,
      [texts, texts.map((text) => instantText(text) ?? null)]
    )
    assert.deepEqual(rows, [])
    const times = texts.filter(instantText).length
    assert.ok(times > 500 && times < 4_500, `${times} are times`)
  })

  it('stands between the texts around a span when it is in that span', () => {
    const known = texts.flatMap((text) => {
      const at = Date.parse(instantText(text) ?? '')
      return Number.isNaN(at) ? [] : [{ text, at }]
    })
    assert.ok(known.length > 500)
    for (const { text, at } of known)
      for (const days of [-1, 0, 1, 400]) {
        const other = new Date(at + days * 86_400_000)
        if (other.getUTCFullYear() > 9_998 || other.getUTCFullYear() < 2) continue
        const { from, to } = textBounds(other.toISOString(), other.toISOString())
        if (days <= 0) assert.ok(text >= from!, `${text} is not before ${from}`)
        if (days >= 0) assert.ok(text < to!, `${text} is not after ${to}`)
        if (days === 400) assert.ok(text < from!, `${text} is far from ${from}`)
      }
  })
})
