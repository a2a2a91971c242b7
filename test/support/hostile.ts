import fc from './fuzz.ts'
import type { Json } from './http.ts'

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const deepObject = (levels: number) => `${'{"all":'.repeat(levels)}{}${'}'.repeat(levels)}`

/** Stands for bytes that JSON.stringify would not write, which replace it afterwards. */
export const raws = new Map<string, string>([
  ['@deep-arrays', deep(5_000)],
  ['@deeper-arrays', deep(100_000)],
  ['@deep-objects', deepObject(5_000)],
  ['@deeper-objects', deepObject(100_000)],
  ['@too-large-a-number', '1e400'],
  ['@long-number', `1${'0'.repeat(400)}.5`],
  ['@proto', '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}'],
  ['@twice', '{"a":1,"a":2}']
])

export const strings = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\u202e',
  '\ufeff',
  '😀'.repeat(200),
  'x'.repeat(300),
  'x'.repeat(300_000),
  'T'.repeat(300_000),
  `again${' '.repeat(300_000)}x`,
  '{{ trigger.x }}',
  '{% for i in (1..1000000000) %}x{% endfor %}',
  "'; drop table users; --",
  '%',
  '%00',
  '\\',
  '..',
  '.',
  '/',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '9999-99-99T99:99:99Z',
  '+275760-09-13T00:00:00.000Z',
  '-000001-01-01T00:00:00.000Z',
  '0001-01-01T00:00:00Z',
  'http://127.0.0.1:1/',
  'https://[::1]/',
  'javascript:alert(1)',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '00000000-0000-0000-0000-000000000000',
  '(a+)+$',
  '\\',
  'NaN',
  '1e999'
]
export const numbers = [
  0,
  -0,
  -1,
  1,
  0.1,
  255,
  256,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  1e21,
  1e308,
  -1e308,
  5e-324
]

/** A value that no field expects. */
export const hostileValue: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<Json>(...strings) },
  { weight: 3, arbitrary: fc.constantFrom<Json>(...numbers) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Json>(null, true, false, [], {}, [[]], [{}], [null], { '': '' }, { a: { b: {} } })
  },
  { weight: 3, arbitrary: fc.constantFrom(...raws.keys()) },
  { weight: 1, arbitrary: fc.constantFrom<Json>(new Array(2_000).fill(0), new Array(25_000).fill({})) },
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) }
)

/** The text of a body. */
export function bodyText(value: Json): string {
  let text = JSON.stringify(value) ?? ''
  for (const [name, raw] of raws) text = text.replaceAll(`"${name}"`, () => raw)
  return text
}

export type Place = (string | number)[]

export function placesOf(value: Json, here: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [here]
  return [here, ...Object.entries(value).flatMap(([name, inner]) => placesOf(inner, [...here, name]))]
}

export function changedAt(value: Json, place: Place, change: (old: Json) => Json): Json {
  const [name, ...rest] = place
  if (name === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((inner, index) => (String(index) === name ? changedAt(inner, rest, change) : inner))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === name ? changedAt(inner, rest, change) : inner])
  )
}

export const names = ['', '__proto__', 'constructor', 'toString', 'x'.repeat(300), '\ud800', 'a\0', '😀', 'user.plan']

/** A valid body with one place changed: replaced, left out, given one more name, or made into a list of itself. */
export function mutated(good: Json): fc.Arbitrary<Json> {
  const place = fc.constantFrom(...placesOf(good))
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(good) },
    {
      weight: 8,
      arbitrary: fc.tuple(place, hostileValue).map(([at, value]) => changedAt(good, at, () => value))
    },
    { weight: 1, arbitrary: place.map((at) => changedAt(good, at, () => undefined)) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(place, fc.constantFrom(...names), hostileValue)
        .map(([at, name, value]) =>
          changedAt(good, at, (old) =>
            typeof old === 'object' && old !== null && !Array.isArray(old)
              ? Object.fromEntries([...Object.entries(old), [name, value]])
              : [old, old, value]
          )
        )
    }
  )
}

/** Bytes that may not even be JSON. */
export const bytes: fc.Arbitrary<string | Buffer> = fc.oneof(
  fc.constantFrom<string | Buffer>('', '{', 'null', '[]', '""', '0', '{"a":', '\ufeff{}', '{}{}', ...raws.values()),
  fc.constantFrom(Buffer.from([0xff, 0xfe]), Buffer.from('{"a":"\xe9"}', 'latin1'), Buffer.from([0x7b, 0x00, 0x7d])),
  fc.uint8Array({ maxLength: 40 }).map((all) => Buffer.from(all)),
  hostileValue.map(bodyText)
)

/** A text for a path, escaped so that it reaches its route. No client sends half a surrogate pair. */
export const segment = fc
  .oneof(
    fc.constantFrom(...strings.filter((text) => text !== '' && text.length <= 800 && text.isWellFormed())),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
    fc.uuid()
  )
  .map((text) => encodeURIComponent(text))

/** A text for a path, unescaped: it may lead to another route or to none. */
export const rawSegments = [
  '',
  '%',
  '%zz',
  '%00',
  '%ff',
  '%c3%28',
  '..',
  '.',
  '%2e%2e',
  '%2f',
  '//',
  ':',
  ':trigger',
  'x:trigger:trigger',
  ';a=b',
  '*',
  "'",
  'a?b=c',
  '%ed%a0%80',
  'x'.repeat(9_000)
]
export const rawSegment = fc.constantFrom(...rawSegments)

export const query = fc.oneof(
  hostileValue.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  fc.constantFrom(
    '0',
    '-1',
    '1',
    '201',
    '1e3',
    '9'.repeat(30),
    'null',
    'WyJhIl0',
    'W10',
    btoa('["\\u0000"]'),
    btoa('[""]')
  )
)
