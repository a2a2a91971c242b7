import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { quietUntil, zoneFor } from '../../src/campaigns/audience/quiet-hours.ts'
import { parseDuration } from '../../src/platform/duration.ts'
import { isTimeZone } from '../../src/platform/time.ts'
import fc from '../support/fuzz.ts'

const minuteMs = 60_000
const hours = (from: string, to: string, timezone: string) => ({ from, to, timezone, action: 'hold' as const })
const until = (from: string, to: string, timezone: string, at: string) =>
  quietUntil(hours(from, to, timezone), {}, new Date(at))?.toISOString() ?? null

describe('quiet hours', () => {
  const cases: [name: string, from: string, to: string, zone: string, at: string, end: string | null][] = [
    ['over midnight, in the evening', '22:00', '08:00', 'UTC', '2026-11-15T23:30:10.5Z', '2026-11-16T08:00:00.000Z'],
    ['over midnight, in the morning', '22:00', '08:00', 'UTC', '2026-11-15T03:00:00Z', '2026-11-15T08:00:00.000Z'],
    ['within a day', '12:00', '13:30', 'UTC', '2026-11-15T12:00:00Z', '2026-11-15T13:30:00.000Z'],
    ['to is not in them', '12:00', '13:30', 'UTC', '2026-11-15T13:30:00Z', null],
    ['the last moment is', '12:00', '13:30', 'UTC', '2026-11-15T13:29:59.999Z', '2026-11-15T13:30:00.000Z'],
    ['not at noon', '22:00', '08:00', 'UTC', '2026-11-15T12:00:00Z', null],
    ['on the clock of Seoul', '22:00', '08:00', 'Asia/Seoul', '2026-11-15T13:00:00Z', '2026-11-15T23:00:00.000Z'],
    [
      'on the clock of Kathmandu',
      '22:00',
      '08:00',
      'Asia/Kathmandu',
      '2026-11-15T16:20:00Z',
      '2026-11-16T02:15:00.000Z'
    ],
    [
      'clocks go back: an hour longer',
      '22:00',
      '08:00',
      'Europe/Berlin',
      '2026-10-24T22:00:00Z',
      '2026-10-25T07:00:00.000Z'
    ],
    [
      'clocks go forward: an hour shorter',
      '22:00',
      '08:00',
      'Europe/Berlin',
      '2026-03-28T22:00:00Z',
      '2026-03-29T06:00:00.000Z'
    ],
    [
      'the end does not exist that night',
      '22:00',
      '02:30',
      'Europe/Berlin',
      '2026-03-28T22:00:00Z',
      '2026-03-29T01:00:00.000Z'
    ],
    [
      'the end comes twice: the first counts',
      '22:00',
      '02:30',
      'Europe/Berlin',
      '2026-10-24T22:00:00Z',
      '2026-10-25T00:30:00.000Z'
    ],
    [
      'in the hour that comes again',
      '22:00',
      '02:30',
      'Europe/Berlin',
      '2026-10-25T01:10:00Z',
      '2026-10-25T01:30:00.000Z'
    ]
  ]
  for (const [name, from, to, zone, at, end] of cases) it(name, () => assert.equal(until(from, to, zone, at), end))

  it('end at the first moment that is not in them, whatever the clocks do', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
      'Africa/Casablanca',
      'America/Sao_Paulo',
      'Pacific/Apia'
    ]
    const time = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
      .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`)
    // Around the nights when clocks are changed, and on any other day.
    const days = [
      '2026-03-08',
      '2026-03-29',
      '2026-04-05',
      '2026-10-04',
      '2026-10-25',
      '2026-11-01',
      '2026-02-15',
      '2026-07-01'
    ]
    const moment = fc
      .tuple(fc.constantFrom(...days), fc.integer({ min: -1_440, max: 1_440 }))
      .map(([day, minutes]) => new Date(Date.parse(day) + minutes * minuteMs))
    fc.assert(
      fc.property(time, time, fc.constantFrom(...zones), moment, (from, to, zone, at) => {
        fc.pre(from !== to)
        const answer = quietUntil(hours(from, to, zone), {}, at)
        if (answer === null) return
        let expected = at.getTime()
        while (quietUntil(hours(from, to, zone), {}, new Date(expected)) !== null) expected += minuteMs
        assert.equal(answer.toISOString(), new Date(expected).toISOString())
      }),
      { numRuns: 600 }
    )
  })
})

describe('whose clock counts', () => {
  const cases: [timezone: string, user: unknown, device: unknown, zone: string][] = [
    ['device', 'Asia/Seoul', 'Europe/Berlin', 'Europe/Berlin'],
    ['device', 'Asia/Seoul', undefined, 'UTC'],
    ['user', 'Asia/Seoul', 'Europe/Berlin', 'Asia/Seoul'],
    ['user', 'Nowhere', 'Europe/Berlin', 'Europe/Berlin'],
    ['user', 5, null, 'UTC'],
    ['user', '+09:00', 'x'.repeat(100_000), 'UTC'],
    ['America/New_York', 'Asia/Seoul', 'Europe/Berlin', 'America/New_York']
  ]
  for (const [timezone, user, device, zone] of cases)
    it(`${timezone}, user ${String(user)}, device ${String(device).slice(0, 20)}: ${zone}`, () =>
      assert.equal(zoneFor(timezone, { user, device }), zone))

  it('is that of a name in the IANA database', () => {
    for (const name of ['UTC', 'Asia/Seoul', 'asia/seoul', 'Etc/GMT+5']) assert.ok(isTimeZone(name), name)
    for (const name of ['', '+09:00', 'Nowhere/City', 'GMT+5', 'user', 5, null, undefined, {}, '__proto__'])
      assert.ok(!isTimeZone(name), String(name))
  })
})

describe('a duration', () => {
  it('is a number and one of s, m, h, d, w', () => {
    for (const [text, ms] of [
      ['1s', 1e3],
      ['15m', 9e5],
      ['24h', 864e5],
      ['30d', 2592e6],
      ['2w', 12096e5],
      ['3660d', 316224e6]
    ] as const)
      assert.equal(parseDuration(text), ms)
  })

  it('is nothing else', () => {
    for (const text of [
      '',
      '0d',
      '01d',
      '1',
      'd',
      '1.5h',
      '-1d',
      ' 1d',
      '1d ',
      '1D',
      '1y',
      '3661d',
      '999999999w',
      '1e3s',
      5,
      null,
      undefined,
      {}
    ])
      assert.equal(parseDuration(text), undefined, String(text))
  })
})
