import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { instantText, readTime } from './time.ts'

describe('a time of a caller', () => {
  it('is read with Z or any offset, wherever this process runs', () => {
    for (const [text, read] of [
      ['2026-11-15T09:30:00Z', '2026-11-15T09:30:00.000Z'],
      ['2026-11-15t09:30:00.25z', '2026-11-15T09:30:00.250Z'],
      ['2026-11-15T09:30Z', '2026-11-15T09:30:00.000Z'],
      ['2026-11-15T09:30:00+09:00', '2026-11-15T00:30:00.000Z'],
      ['2026-11-15T09:30:00+0900', '2026-11-15T00:30:00.000Z'],
      ['2026-11-15T09:30:00+09', '2026-11-15T00:30:00.000Z'],
      ['2026-11-15T09:30:00.123456789-03:30', '2026-11-15T13:00:00.123Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z']
    ] as const)
      assert.equal(readTime(text)?.toISOString(), read, text)
  })

  it('is none without an offset, on a day that does not exist, or if its year in UTC is not 1 to 9999', () => {
    for (const text of [
      '2026-11-15T09:30:00',
      '2026-11-15T09:30',
      '2026-11-15',
      '2026-02-30T00:00:00Z',
      '2026-11-15T24:00:00Z',
      '2026-11-15T09:30:00+9',
      '2026-11-15 09:30:00Z',
      '2026-11-15T09:30:00Z ',
      '20261115T093000Z',
      '0000-01-01T00:00:00Z',
      '0001-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59-14:00',
      'now',
      'T'.repeat(1_000_000),
      ''
    ])
      assert.equal(readTime(text), undefined, text)
  })

  it('is in UTC where a date or a time without an offset is allowed', () => {
    assert.equal(instantText('2026-11-15'), '2026-11-15T00:00Z')
    assert.equal(instantText('2026-11-15T09:30'), '2026-11-15T09:30Z')
    assert.equal(instantText('2026-11-15T09:30+09'), '2026-11-15T09:30+09:00')
  })
})
