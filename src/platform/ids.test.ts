import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { firstIdAt, isUuid, newId } from './ids.ts'

describe('ids', () => {
  it('are UUIDv7 that never go backwards, also within a millisecond and when the clock does', () => {
    const ids = Array.from({ length: 20_000 }, (_, index) =>
      newId(index < 10_000 ? 1_800_000_000_000 : 1_799_999_999_000)
    )
    for (const id of ids) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual(ids, ids.toSorted())
    assert.equal(new Set(ids).size, ids.length)
  })

  it('carry their time', () => {
    const at = 4_000_000_000_000
    assert.ok(newId(at) >= firstIdAt(at))
    assert.ok(newId(at) < firstIdAt(at + 1_000))
  })

  it('begin at no time that is not a number', () => {
    for (const at of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      assert.throws(() => firstIdAt(at), RangeError)
    assert.ok(isUuid(firstIdAt(-1)))
  })

  it('are distinguished from other texts', () => {
    assert.ok(isUuid(newId()))
    for (const text of ['', 'x', `${newId()}0`, newId().replaceAll('-', '')]) assert.ok(!isUuid(text))
  })
})
