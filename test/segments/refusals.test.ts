import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refusal } from '../../src/platform/errors.ts'
import { operators } from '../../src/segments/language.ts'
import { parseSegment } from '../../src/segments/segments.ts'

function refusal(value: unknown, path?: string): Refusal {
  try {
    parseSegment(value, path)
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.equal(error.code, 'invalid_segment')
    return error
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(value)?.slice(0, 100)} was taken` })
}

const on = (attribute: unknown, operator: unknown, value?: unknown) =>
  value === undefined ? { attribute, operator } : { attribute, operator, value }
const good = on('user.a', 'equals', 1)
const event = { event: 'buy', operator: 'at_least', count: 1 }
const nested = (depth: number) => {
  let segment: unknown = good
  for (let level = 1; level < depth; level++) segment = { not: segment }
  return segment
}

describe('a segment that is not valid', () => {
  const cases: [segment: unknown, path: string, words: RegExp][] = [
    [null, 'segment', /must be an object/],
    [[], 'segment', /must be an object/],
    ['all', 'segment', /must be an object/],
    [{ every: [] }, 'segment', /exactly one of all, any, not, ref, attribute, event/],
    [{ all: [], any: [] }, 'segment', /exactly one of/],
    [{ all: [{}] }, 'segment.all[0]', /exactly one of/],
    [{ all: {} }, 'segment.all', /must be a list/],
    [{ all: [good, { any: [good, { not: [] }] }] }, 'segment.all[1].any[1].not', /must be an object/],
    [{ all: [good, on('user.a', 'is', 1)] }, 'segment.all[1].operator', /unknown; known are equals, .*within_last/],
    [on('user.a', 'constructor', 1), 'segment.operator', /unknown/],
    [on('user.a', undefined, 1), 'segment.operator', /must be given/],
    [
      on('account.a', 'equals', 1),
      'segment.attribute',
      /unknown; known are user\.<property>, user\.id.*device\.timezone/
    ],
    [on('device.model', 'equals', 'x'), 'segment.attribute', /unknown/],
    [on('user.', 'equals', 1), 'segment.attribute', /unknown/],
    [on('event.a', 'equals', 1), 'segment.attribute', /unknown/],
    [on(5, 'equals', 1), 'segment.attribute', /must be one of/],
    [on(`user.${'x'.repeat(257)}`, 'equals', 1), 'segment.attribute', /256/],
    [on('user.\0', 'equals', 1), 'segment.attribute', /property/],
    [on('user.{{ trigger.a }}', 'equals', 1), 'segment.attribute', /only a value can refer/],
    [{ ...good, vaule: 1 }, 'segment', /unknown field "vaule"; known are attribute, operator, value/],
    [JSON.parse('{"all":[],"__proto__":1}'), 'segment', /unknown field "__proto__"/],
    [on('user.a', 'equals'), 'segment.value', /must be given/],
    [on('user.a', 'equals', {}), 'segment.value', /string, a number, a boolean or null/],
    [on('user.a', 'equals', Number.POSITIVE_INFINITY), 'segment.value', /finite/],
    [on('user.a', 'equals', '\ud800'), 'segment.value', /surrogate/],
    [on('user.a', 'equals', 'x'.repeat(4_097)), 'segment.value', /4096/],
    [on('user.a', 'greater_than', true), 'segment.value', /number or a string/],
    [on('user.a', 'contains', 5), 'segment.value', /must be a string/],
    [on('user.a', 'exists', true), 'segment.value', /must not be given/],
    [on('user.a', 'in', 'x'), 'segment.value', /must be a list/],
    [on('user.a', 'in', 'x{{ trigger.a }}'), 'segment.value', /must be a list/],
    [on('user.a', 'in', [1, [2]]), 'segment.value[1]', /string, a number/],
    [on('user.a', 'in', Array(1_001).fill(1)), 'segment.value', /1000/],
    [on('user.a', 'before', '2026-02-30'), 'segment.value', /ISO 8601/],
    [on('user.a', 'within_last', '1 day'), 'segment.value', /duration such as 15m/],
    [on('user.a', 'matches', 'x'.repeat(513)), 'segment.value', /512/],
    [on('user.a', 'equals', '{{ user.b }}'), 'segment.value', /must be a reference such as/],
    [on('user.a', 'equals', '{{ trigger.b | upcase }}'), 'segment.value', /without filters/],
    [on('user.a', 'equals', '{{ trigger }}'), 'segment.value', /reference/],
    [on('user.a', 'equals', '{{ trigger.a'), 'segment.value', /reference/],
    [on('user.id', 'equals', 5), 'segment.value', /must be a string/],
    [on('user.id', 'before', '2026-01-01'), 'segment.operator', /compares times/],
    [on('user.created_at', 'contains', '2026'), 'segment.operator', /is a time/],
    [on('user.created_at', 'equals', 'yesterday'), 'segment.value', /ISO 8601/],
    [on('device.platform', 'equals', 'ios'), 'segment.value', /IOS, ANDROID or WEB/],
    [on('device.platform', 'in', ['IOS', 'x']), 'segment.value[1]', /IOS, ANDROID or WEB/],
    [on('device.app_version', 'less_than', 'two'), 'segment.value', /version such as/],
    [{ ...event, event: '' }, 'segment.event', /1 to 256/],
    [{ ...event, event: '{{ trigger.a }}' }, 'segment.event', /only a value/],
    [{ ...event, operator: 'equals' }, 'segment.operator', /known are at_least, at_most, exactly/],
    [{ ...event, count: -1 }, 'segment.count', /whole number/],
    [{ ...event, count: '1' }, 'segment.count', /whole number/],
    [{ ...event, within: '1y' }, 'segment.within', /duration/],
    [{ ...event, withn: '1d' }, 'segment', /unknown field "withn"/],
    [{ ...event, where: {} }, 'segment.where', /must be a list/],
    [{ ...event, where: [on('user.a', 'equals', 1)] }, 'segment.where[0].attribute', /event\.<property>/],
    [{ ...event, where: [{ all: [] }] }, 'segment.where[0].attribute', /must be given/],
    [nested(21), `segment${'.not'.repeat(20)}`, /20 levels/],
    [nested(100_000), `segment${'.not'.repeat(20)}`, /20 levels/],
    [{ all: Array(201).fill(good) }, 'segment.all', /200/],
    [{ all: Array(3).fill({ any: Array(67).fill(good) }) }, 'segment', /200 conditions/],
    [{ all: Array(21).fill(on('user.a', 'matches', 'x')) }, 'segment', /20 conditions with matches/],
    [{ all: Array(21).fill(event) }, 'segment', /20 conditions on events/]
  ]
  for (const [segment, path, words] of cases)
    it(`is refused at ${path.slice(0, 60)}: ${words}`, () => {
      const { details } = refusal(segment)
      assert.equal(details[0]!.path, path)
      assert.match(details[0]!.message, words)
    })

  it('is refused with all that is wrong, under the path it was given', () => {
    const { details, message } = refusal(
      { all: [on('a', 'b'), { event: 'x', operator: 'y', count: 1 }] },
      'body.segment'
    )
    assert.deepEqual(
      details.map(({ path }) => path),
      ['body.segment.all[0].operator', 'body.segment.all[0].attribute', 'body.segment.all[1].operator']
    )
    assert.equal(message, `${details[0]!.path}: ${details[0]!.message}`)
  })
})

describe('a segment of many faults', () => {
  it('is refused with the first of them', () => {
    const many = { all: Array(200).fill({ any: Array(200).fill({ any: Array(50).fill(5) }) }) }
    assert.equal(refusal(many).details.length, 20)
    refusal({ all: Array(200).fill({ any: Array(200).fill({ any: Array(50).fill(good) }) }) })
  })
})

describe('a segment that is valid', () => {
  it('is returned as it was written, and parses to the same again', () => {
    const segment = { all: [{ any: [good, { not: { ...event, within: '30d', where: [on('event.a', 'exists')] } }] }] }
    assert.deepEqual(parseSegment(segment), segment)
    assert.deepEqual(parseSegment(parseSegment(segment)), segment)
    assert.deepEqual(parseSegment(undefined), { all: [] })
    assert.deepEqual(parseSegment({}), { all: [] })
  })

  it('is up to 20 levels and 200 conditions', () => {
    parseSegment(nested(20))
    parseSegment({ all: Array(2).fill({ any: Array(100).fill(good) }) })
  })

  it('takes every operator on a property', () => {
    const values = new Map<string, unknown>([
      ['in', [1]],
      ['not_in', ['a']],
      ['before', '2026-01-01'],
      ['after', '2026-01-01T00:00'],
      ['within_last', '1d']
    ])
    for (const operator of operators)
      parseSegment(
        operator.endsWith('exists') ? on('user.a', operator) : on('user.a', operator, values.get(operator) ?? 'x')
      )
  })
})
