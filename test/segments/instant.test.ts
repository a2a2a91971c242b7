import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { instantText } from '../../src/platform/time.ts'
import { allUsual, instantSql, surelyBetween, textBounds, usualShape } from '../../src/segments/instant.ts'
import { compileSegment, parseSegment } from '../../src/segments/segments.ts'
import { firstUser, type Match, matchBatch, type Place, type SegmentAt } from '../../src/segments/store.ts'
import { testPool } from '../support/database.ts'
import fc from '../support/fuzz.ts'
import { matching, type World } from './model.ts'
import { dates, now, odd, projectId, storeWorld } from './world.ts'

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
/** Holds for some of them. */
const later = { attribute: 'user.since', operator: 'after', value: '2010-01-01' }
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

  const usual = texts.filter((text) => new RegExp(`^${usualShape}$`).test(text) && text > '0001')

  it('of a usual form is an instant, and its order among texts is its order in time', () => {
    assert.ok(usual.length > 300)
    const at = (text: string) => Date.parse(instantText(text)!)
    for (const text of usual) {
      assert.ok(instantText(text), text)
      for (const bound of [...usual.slice(0, 60), '2026-11-15T00:00:00Z', '2026-11-15T00:00:00.5Z', text]) {
        const instant = new Date(at(bound)).toISOString()
        const [after, before] = [surelyBetween(instant, undefined), surelyBetween(undefined, instant)]
        if (after && text > after.above && text < after.below) assert.ok(at(text) > at(bound), `${text} after ${bound}`)
        if (before && text > before.above && text < before.below)
          assert.ok(at(text) < at(bound), `${text} before ${bound}`)
      }
    }
  })

  it('is checked together with those of others, and none that is unusual is missed', async (t) => {
    const pool = await testPool(t)
    const all = async (some: string[]) => {
      const [row] = await pool.adhoc<{ all: boolean }>(
        `select ${allUsual('t.text')} as all from (select text collate "C" as text from unnest($1::text[]) t(text)) t`,
        [some]
      )
      return row!.all
    }
    assert.equal(await all(usual), true)
    const others = [...new Set(texts.filter((text) => text > '0001' && !usual.includes(text)))].slice(0, 300)
    others.push('2026-11-15 2026-11-16', '2026-11-15T12:00:00.1234567890Z', `2026-11-15${' '.repeat(40)}`, '', ' ')
    for (const other of others) assert.equal(await all(['2026-11-15', other, '2026-11-15T12:00:00Z']), false, other)
  })

  it('selects the same people, whether all of a batch have a usual form or one has not', async (t) => {
    for (const sinces of [
      usual.slice(0, 200),
      [...usual.slice(0, 200), '2026-05-05T99:00:00Z', '2026-11-15T12:00+02'],
      [
        ...texts.filter((text) => !text.includes('\n')).slice(0, 160),
        ...dates.map((date) => `${date}${' '.repeat(30)}`)
      ],
      [...texts.slice(0, 160), '2026-11-15\n2026-11-16']
    ]) {
      const pool = await testPool(t)
      const world: World = { users: [], devices: [], events: [] }
      for (const since of sinces) {
        const id = newId()
        world.users.push({ id, projectUserId: id, properties: { since }, createdAt: now, lastSeenAt: null })
        world.devices.push({ id: newId(), userId: id, platform: 'IOS', facts: {} })
      }
      await storeWorld(pool, world)
      const times = [
        ...[...dates, ...usual.slice(0, 4)].flatMap((date) => [['before', date] as const, ['after', date] as const]),
        ...['1s', '1d', '30d', '520w'].map((lasting) => ['within_last', lasting] as const)
      ].map(([operator, value]) => ({ attribute: 'user.since', operator, value }))
      const groups = [
        { all: [...times.slice(-1), later] },
        { all: [later, { not: { any: times.slice(0, 2) } }] },
        { any: times.slice(0, 1) }
      ]
      for (const written of [...times, ...groups]) {
        const segment: SegmentAt = (first, scope) => compileSegment(parseSegment(written), {}, now, first, scope)
        const deviceIds: string[] = []
        for (let place: Place | null = { user: firstUser, device: null }; place; ) {
          const match: Match = await matchBatch(pool, projectId as ProjectId, segment, place, 150, 100)
          deviceIds.push(...match.deviceIds)
          place = match.next
        }
        const people = new Set(matching(written, {}, now, world))
        const found = new Set(deviceIds)
        const wrong = world.devices.flatMap(({ id, userId }, index) =>
          people.has(userId) === found.has(id) ? [] : [sinces[index]]
        )
        assert.deepEqual(wrong, [], JSON.stringify(written))
        assert.equal(deviceIds.length, people.size)
      }
    }
  })
})
