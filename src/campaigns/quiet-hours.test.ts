import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { quietUntil, timezoneFor } from './quiet-hours.ts'

const night = { from: '22:00', to: '08:00' }
const until = (hours: { from: string; to: string }, zone: string, now: string) =>
  quietUntil(hours, zone, new Date(now))?.toISOString() ?? null

describe('quiet hours', () => {
  it('rule from their beginning to just before their end', () => {
    const noon = { from: '12:00', to: '13:00' }
    assert.equal(until(noon, 'UTC', '2026-03-01T11:59:59Z'), null)
    assert.equal(until(noon, 'UTC', '2026-03-01T12:00:00Z'), '2026-03-01T13:00:00.000Z')
    assert.equal(until(noon, 'UTC', '2026-03-01T12:59:59Z'), '2026-03-01T13:00:00.000Z')
    assert.equal(until(noon, 'UTC', '2026-03-01T13:00:00Z'), null)
  })

  it('may go over midnight, and then end the next day', () => {
    assert.equal(until(night, 'UTC', '2026-03-01T23:10:00Z'), '2026-03-02T08:00:00.000Z')
    assert.equal(until(night, 'UTC', '2026-03-01T03:10:00Z'), '2026-03-01T08:00:00.000Z')
    assert.equal(until(night, 'UTC', '2026-12-31T22:00:00Z'), '2027-01-01T08:00:00.000Z')
  })

  it('are those of the zone, also where that has another date', () => {
    assert.equal(until(night, 'Asia/Seoul', '2026-03-01T14:00:00Z'), '2026-03-01T23:00:00.000Z')
    assert.equal(until(night, 'America/New_York', '2026-03-02T04:00:00Z'), '2026-03-02T13:00:00.000Z')
    assert.equal(until(night, 'Asia/Kathmandu', '2026-03-01T17:00:00Z'), '2026-03-02T02:15:00.000Z')
    assert.equal(until(night, 'America/New_York', '2026-03-01T15:00:00Z'), null)
  })

  it('end by the clock on the wall in the night it is changed', () => {
    assert.equal(until(night, 'Europe/Berlin', '2026-03-28T22:00:00Z'), '2026-03-29T06:00:00.000Z')
    assert.equal(until(night, 'Europe/Berlin', '2026-10-24T21:00:00Z'), '2026-10-25T07:00:00.000Z')
    const gap = quietUntil({ from: '01:00', to: '02:30' }, 'Europe/Berlin', new Date('2026-03-29T00:30:00Z'))
    assert.ok(gap && gap > new Date('2026-03-29T00:30:00Z') && gap <= new Date('2026-03-29T01:30:00Z'))
  })

  it('of no length never rule', () => {
    assert.equal(until({ from: '22:00', to: '22:00' }, 'UTC', '2026-03-01T22:00:00Z'), null)
  })

  it('take the zone of the user, else of the device, else UTC', () => {
    assert.equal(timezoneFor('user', 'Asia/Seoul', 'Europe/Berlin'), 'Asia/Seoul')
    assert.equal(timezoneFor('user', 7, 'Europe/Berlin'), 'Europe/Berlin')
    assert.equal(timezoneFor('user', 'Nowhere/Land', null), 'UTC')
    assert.equal(timezoneFor('device', 'Asia/Seoul', 'Europe/Berlin'), 'Europe/Berlin')
    assert.equal(timezoneFor('device', 'Asia/Seoul', 'not a zone'), 'UTC')
    assert.equal(timezoneFor('America/New_York', 'Asia/Seoul', 'Europe/Berlin'), 'America/New_York')
  })
})
