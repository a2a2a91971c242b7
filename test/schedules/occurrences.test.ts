import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { instantsOf, nextAfter, occurrencesIn, upcoming, zonesOf } from '../../src/campaigns/schedule/occurrences.ts'
import { wallText } from '../../src/campaigns/schedule/wall-time.ts'
import { zoneNames } from '../../src/campaigns/schedule/zone-names.ts'
import { nextRound } from '../../src/schedules/occur.ts'

const ms = (text: string) => Date.parse(text)
const texts = (schedule: object, from: string, to: string) =>
  occurrencesIn(schedule, ms(from), ms(to), 1_000).map(({ at }) => new Date(at).toISOString().replace(':00.000Z', 'Z'))

/**
 * Ten zones on the days on which their clocks change, with the rules of the IANA database: a schedule at a time that does
 * not exist, and one at a time that exists twice.
 */
const changes: [zone: string, forward: [cron: string, day: string, at: string], back: [string, string, string]][] = [
  [
    'Europe/Berlin',
    ['30 2 * * *', '2026-03-29', '2026-03-29T01:00Z'],
    ['30 2 * * *', '2026-10-25', '2026-10-25T00:30Z']
  ],
  [
    'Europe/London',
    ['30 1 * * *', '2026-03-29', '2026-03-29T01:00Z'],
    ['30 1 * * *', '2026-10-25', '2026-10-25T00:30Z']
  ],
  [
    'America/New_York',
    ['30 2 * * *', '2026-03-08', '2026-03-08T07:00Z'],
    ['30 1 * * *', '2026-11-01', '2026-11-01T05:30Z']
  ],
  [
    'America/Los_Angeles',
    ['15 2 * * *', '2026-03-08', '2026-03-08T10:00Z'],
    ['15 1 * * *', '2026-11-01', '2026-11-01T08:15Z']
  ],
  [
    'America/St_Johns',
    ['30 2 * * *', '2026-03-08', '2026-03-08T05:30Z'],
    ['30 1 * * *', '2026-11-01', '2026-11-01T04:00Z']
  ],
  [
    'America/Santiago',
    ['30 0 * * *', '2026-09-06', '2026-09-06T04:00Z'],
    ['30 23 * * *', '2026-04-04', '2026-04-05T02:30Z']
  ],
  [
    'Australia/Sydney',
    ['30 2 * * *', '2026-10-04', '2026-10-03T16:00Z'],
    ['30 2 * * *', '2026-04-05', '2026-04-04T15:30Z']
  ],
  [
    'Australia/Lord_Howe',
    ['15 2 * * *', '2026-10-04', '2026-10-03T15:30Z'],
    ['45 1 * * *', '2026-04-05', '2026-04-04T14:45Z']
  ],
  [
    'Pacific/Auckland',
    ['30 2 * * *', '2026-09-27', '2026-09-26T14:00Z'],
    ['30 2 * * *', '2026-04-05', '2026-04-04T13:30Z']
  ],
  ['Asia/Beirut', ['30 0 * * *', '2026-03-29', '2026-03-28T22:00Z'], ['30 23 * * *', '2026-10-24', '2026-10-24T20:30Z']]
]

const around = (day: string): [string, string] => [
  new Date(ms(`${day}T00:00Z`) - 12 * 3_600_000).toISOString(),
  new Date(ms(`${day}T00:00Z`) + 30 * 3_600_000).toISOString()
]

describe('days on which clocks change', () => {
  for (const [timezone, [cron, day, at], [twice, other, first]] of changes) {
    it(`${timezone}: a time that does not exist runs right after the gap, one that exists twice at its first`, () => {
      const onDay = (found: string[], expected: string) =>
        found.filter((one) => Math.abs(ms(one) - ms(expected)) < 12 * 3_600_000)
      assert.deepEqual(onDay(texts({ cron, timezone }, ...around(day)), at), [at])
      assert.deepEqual(onDay(texts({ cron: twice, timezone }, ...around(other)), first), [first])
      // At the local time of the users it is the same.
      for (const [pattern, date, instant] of [
        [cron, day, at],
        [twice, other, first]
      ] as const) {
        const schedule = { cron: pattern, timezone: 'user' }
        const found = occurrencesIn(schedule, ms(instant) - 1, ms(instant), 100).filter(
          ({ local }) => wallText(local).slice(0, 10) === date
        )
        assert.ok(found.length >= 1, 'there is an occurrence at that instant')
        assert.equal(found.filter((one) => zonesOf(schedule, one).includes(timezone)).length, 1)
      }
    })

    it(`${timezone}: a time of day is one occurrence on each day of the year, in order`, () => {
      for (const pattern of [cron, twice]) {
        const found = texts({ cron: pattern, timezone }, '2025-12-31T12:00Z', '2027-01-01T12:00Z')
        assert.ok(found.length === 366 || found.length === 365 || found.length === 367, String(found.length))
        assert.deepEqual(found, [...new Set(found)].sort())
        const steps = found.slice(1).map((one, index) => (ms(one) - ms(found[index]!)) / 3_600_000)
        assert.ok(steps.every((hours) => hours >= 22 && hours <= 26))
      }
    })
  }

  it('several times in one gap are one occurrence', () => {
    const schedule = { cron: '*/15 2 * * *', timezone: 'Europe/Berlin' }
    assert.deepEqual(texts(schedule, '2026-03-28T22:00Z', '2026-03-29T22:00Z'), ['2026-03-29T01:00Z'])
    const hourly = { cron: '0 * * * *', timezone: 'user' }
    const found = occurrencesIn(hourly, ms('2026-03-29T00:59Z'), ms('2026-03-29T01:00Z'), 100)
    assert.equal(found.filter((one) => zonesOf(hourly, one).includes('Europe/Berlin')).length, 1)
  })
})

describe('a schedule', () => {
  const now = ms('2026-11-16T12:00Z')

  it('at a time runs once, in its zone, in UTC by default', () => {
    const at = '2026-12-24T18:00'
    assert.deepEqual(upcoming({ at, timezone: 'Asia/Kolkata' }, now, 3), ['2026-12-24T12:30:00.000Z'])
    assert.deepEqual(upcoming({ at }, now, 3), ['2026-12-24T18:00:00.000Z'])
    assert.deepEqual(upcoming({ at: '2026-11-16T11:59' }, now, 3), [])
  })

  it('by cron runs between its start and its end, both included', () => {
    const schedule = { cron: '0 9 * * *', starts_at: '2027-03-01T09:00Z', ends_at: '2027-03-03T09:00' }
    assert.deepEqual(
      upcoming(schedule, now, 9).map((one) => one.slice(0, 10)),
      ['2027-03-01', '2027-03-02', '2027-03-03']
    )
  })

  it('of every minute finds its local start in each zone, and ends at once after its local end', () => {
    const cron = '* * * * *'
    const next = (schedule: object) => nextAfter({ cron, ...schedule }, now)
    const starts_at = '2026-12-24T18:00'
    assert.equal(next({ timezone: 'America/Los_Angeles', starts_at }), ms('2026-12-25T02:00Z'))
    assert.equal(next({ timezone: 'user', starts_at }), ms('2026-12-24T04:00Z'))
    assert.equal(next({ timezone: 'Pacific/Kiritimati', ends_at: '2026-11-17T02:01' }), ms('2026-11-16T12:01Z'))
    assert.equal(next({ timezone: 'Pacific/Kiritimati', ends_at: '2026-11-17T02:00' }), undefined)
  })

  it('that starts when clocks go forward runs then for a time that does not exist', () => {
    const schedule = { cron: '30 2 * * *', timezone: 'Europe/Berlin', starts_at: '2026-03-29T01:00Z' }
    assert.equal(nextAfter(schedule, ms('2026-03-01T00:00Z')), ms('2026-03-29T01:00Z'))
  })

  it('that never occurs has no next time', () => {
    assert.deepEqual(upcoming({ cron: '0 0 31 2 *' }, now, 1), [])
    assert.equal(nextAfter({ cron: '0 0 31 2 *', timezone: 'user' }, now), undefined)
  })

  it('at the local time of users is one occurrence for each instant, and each zone is in exactly one of them', () => {
    const schedule = { cron: '0 9 * * 1', timezone: 'user' }
    const found = occurrencesIn(schedule, ms('2026-11-15T12:00Z'), ms('2026-11-17T12:00Z'), 1_000)
    assert.deepEqual([...new Set(found.map(({ local }) => wallText(local)))], ['2026-11-16T09:00'])
    const zones = found.flatMap((one) => zonesOf(schedule, one))
    assert.equal(new Set(zones).size, zones.length)
    assert.ok(zones.length > 500)
    assert.deepEqual(
      found.map(({ at }) => at),
      instantsOf(found[0]!.local).toSorted((one, other) => one - other)
    )
  })

  it('at the local time of users that were missed for hours are made in rounds, none of them lost', () => {
    const now = ms('2026-11-16T00:00:30Z')
    const named = ({ at, local }: { at: number; local: number }) => `${at} ${local}`
    for (const [cron, hours] of [
      ['0 * * * *', 24],
      ['*/15 * * * *', 12],
      ['* * * * *', 2]
    ] as const) {
      const schedule = { cron, timezone: 'user' }
      const from = now - hours * 3_600_000
      const made: string[] = []
      for (let done = from; done < now; ) {
        const { found, until } = nextRound(schedule, done, now)
        assert.ok(until > done && found.length <= 200)
        made.push(...found.map(named))
        done = until
      }
      assert.deepEqual(made, occurrencesIn(schedule, from, now, 1e6).map(named), cron)
    }
  })

  it('at the local time of users finds every instant one after another', () => {
    const schedule = { cron: '30 2 * * *', timezone: 'user' }
    const [from, to] = [ms('2026-03-28T12:00Z'), ms('2026-03-29T18:00Z')]
    const steps: number[] = []
    for (let at = nextAfter(schedule, from); at !== undefined && at <= to; at = nextAfter(schedule, at)) steps.push(at)
    const all = occurrencesIn(schedule, from, to, 1_000).map(({ at }) => at)
    assert.deepEqual(steps, [...new Set(all)])
  })
})

it('zones are known by all names that devices report, links included', () => {
  const names = new Set(zoneNames())
  for (const name of ['Europe/Berlin', 'US/Indiana-Starke', 'US/Pacific', 'Asia/Kolkata', 'Europe/Kyiv', 'Etc/GMT+12'])
    assert.ok(names.has(name), name)
})
