import { eventMonths } from '../../src/events/events.ts'
import type { Pool } from '../../src/platform/db/db.ts'
import { makePartitions } from '../../src/platform/db/partitions.ts'
import { newId } from '../../src/platform/ids.ts'
import fc from '../support/fuzz.ts'
import type { ModelDevice, ModelEvent, ModelUser, World } from './model.ts'

export const projectId = 'p'
export const now = new Date('2026-11-15T12:00:00.000Z')
const dayMs = 86_400_000

/** Few values, so that comparisons often hold, and unusual ones. */
export const dates = [
  '2026-11-15',
  '2026-11-15T00:00:30Z',
  '2026-11-15T12:00:00Z',
  '2026-11-15T21:00:00.000+09:00',
  '2026-11-15T12:00:00.000001Z',
  '2026-11-14T12:00',
  '2026-10-16T12:00:00.123456789Z',
  '2024-02-29',
  '1969-12-31T23:59:59-0330',
  '0001-01-01T00:00+14',
  '9999-12-31T23:59:59.999999Z'
]
export const odd = [
  '2026-02-30',
  '2025-02-29',
  '1900-02-29',
  '0000-01-01',
  '99999-01-01',
  '2026-11-15T12:00:60Z',
  '2026-11-15T24:00:00Z',
  '2026-11-15 12:00:00',
  '2026-13-01',
  '2026-11-15T12:00:00+15:00',
  '2026-11-15T12',
  'now',
  'infinity',
  'epoch',
  '20261115',
  '2026-11-15T12:00:00Z ',
  '+2026-11-15',
  '2026-11-15T12:00:00+'
]
export const versions = [
  '1',
  '1.0',
  '1.0.0',
  'v1.0',
  '1.0.1',
  '1.9',
  '1.10',
  '1.10.0-beta',
  '1.10.0-beta.2',
  '1.10.0-beta.10',
  '1.10.0-beta.2.x',
  '1.10.0-10',
  '1.10.0+45',
  '2.0.0-rc.1+7',
  '0',
  '0.0',
  '999999999999999999',
  '01.02',
  '17.2.1'
]
const notVersions = [
  '',
  'unknown',
  '1..2',
  '1.2.',
  '.1',
  '1.2 (45)',
  '1.2.3.4.5.6.7',
  '1.2.3.4.5.6',
  '1.0-',
  '1234567890123456789',
  '1.0-β'
]
const words = [
  '',
  'a',
  'b',
  'ab',
  'premium',
  'Premium',
  'Ana',
  'é',
  'e\u0301',
  'Z',
  'z',
  '漢',
  '🧑‍🚀',
  '\u{10000}',
  '\uffff',
  '5',
  '05',
  'true',
  'null',
  '%',
  '_',
  "' or true --",
  '\\',
  '$1',
  'a\nb',
  '{"a":1}'
]
const numbers = [0, 1, 5, 5.5, -1, 1e21, 1e-7, 2 ** 53, 2 ** 53 - 1, 1e300, -1e300, 5e-324, 0.1 + 0.2]

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...words) },
  fc.constantFrom(...dates),
  fc.constantFrom(...odd),
  fc.constantFrom(...versions),
  fc
    .string({ unit: 'grapheme', maxLength: 6 })
    .filter((one) => !one.includes('\0') && !one.includes('{{') && one.isWellFormed())
)
const number = fc.oneof(
  fc.constantFrom(...numbers),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0)
)
const scalar = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 2, arbitrary: number },
  fc.boolean(),
  fc.constant(null)
)
export const names = ['plan', 'age', 'a.b', 'id', 'properties', 'properties.x', '__proto__', 'é', "x') or true --", '0']
const entry = (value: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...names), value) },
    fc.tuple(fc.constant('since'), fc.constantFrom<unknown>(...dates, ...odd))
  )
const properties = (value: fc.Arbitrary<unknown>) =>
  fc.array(entry(value), { maxLength: 10 }).map((entries) => Object.fromEntries(entries))
const nested = fc.oneof({ weight: 8, arbitrary: scalar }, fc.constantFrom<unknown>({ a: 1 }, {}, [], ['a', 5, null]))

const moment = fc.oneof(
  fc.constantFrom(now, new Date(now.getTime() - dayMs), new Date(now.getTime() - 30 * dayMs)),
  fc.integer({ min: 0, max: 40 * dayMs }).map((ago) => new Date(now.getTime() - ago))
)
const version = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...versions) }, fc.constantFrom(...notVersions))
const facts = fc.record(
  {
    app_version: version,
    os_version: version,
    locale_region: fc.constantFrom('US', 'KR', ''),
    locale_language: text,
    timezone: text
  },
  { requiredKeys: [] }
)
const platform = fc.constantFrom('IOS', 'ANDROID', 'WEB')
const eventNames = ['purchase', 'open', "o'; drop table users --"]

const person = fc.record({
  named: fc.boolean(),
  properties: properties(scalar),
  createdAt: moment,
  lastSeenAt: fc.option(moment),
  devices: fc.array(fc.record({ platform, facts }), { maxLength: 2 }),
  events: fc.array(fc.record({ name: fc.constantFrom(...eventNames), at: moment, properties: properties(nested) }), {
    maxLength: 5
  })
})

/** Random people, the same for the same seed. */
export function makeWorld(seed: number, size: number): World {
  const world: World = { users: [], devices: [], events: [] }
  const idOf = (index: number) => (index < words.length && words[index] !== '' ? words[index]! : `user-${index}`)
  for (const [index, one] of fc.sample(person, { seed, numRuns: size }).entries()) {
    const user: ModelUser = {
      id: newId(),
      projectUserId: one.named ? idOf(index) : null,
      properties: one.properties,
      createdAt: one.createdAt,
      lastSeenAt: one.lastSeenAt
    }
    world.users.push(user)
    for (const device of one.devices) world.devices.push({ id: newId(), userId: user.id, ...device } as ModelDevice)
    for (const event of one.events) world.events.push({ userId: user.id, ...event } as ModelEvent)
  }
  return world
}

/**
 * Writes the people into the tables of the service, with those of another project beside them, which must never be
 * found.
 */
export async function storeWorld(pool: Pool, world: World): Promise<void> {
  await makePartitions(pool, eventMonths, now)
  await makePartitions(pool, eventMonths, new Date(now.getTime() - 31 * dayMs))
  for (const [project, mark] of [
    [projectId, ''],
    ['neighbour', 'n']
  ] as const) {
    const id = (own: string) => (mark ? newId() : own)
    await pool.adhoc('delete from projects where project_id = $1', [project])
    await pool.adhoc(
      `insert into projects (project_id, name, mode, plan, limits, retention, created_at)
       values ($1, 'Test', 'live', 'standard', '{}', '{}', $2)`,
      [project, now]
    )
    const users = world.users.map((user) => ({ ...user, own: id(user.id) }))
    const ownOf = new Map(users.map((user) => [user.id, user.own]))
    await pool.adhoc(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at, last_seen_at)
       select $1, own, "projectUserId", properties, "createdAt", "createdAt", "lastSeenAt" from json_to_recordset($2::json)
         as u(own uuid, "projectUserId" text, properties jsonb, "createdAt" timestamptz, "lastSeenAt" timestamptz)`,
      [project, JSON.stringify(users)]
    )
    await pool.adhoc(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select $1, id, "userId", platform, true, facts, $3, $3, $3 from json_to_recordset($2::json)
         as d(id text, "userId" uuid, platform text, facts jsonb)`,
      [
        project,
        JSON.stringify(world.devices.map((one) => ({ ...one, id: id(one.id), userId: ownOf.get(one.userId) }))),
        now
      ]
    )
    await pool.adhoc(
      `insert into events (project_id, user_id, at, id, name, details, properties)
       select $1, "userId", at, id, name, '{}', properties from json_to_recordset($2::json)
         as e("userId" uuid, at timestamptz, id uuid, name text, properties jsonb)`,
      [project, JSON.stringify(world.events.map((one) => ({ ...one, id: newId(), userId: ownOf.get(one.userId) })))]
    )
  }
}

const reference = (name: string) => `{{ trigger.${name} }}`
const references = fc
  .constantFrom('x', 'x', 'nested.y', 'list', 'word', 'n', 'date', 'version', 'lasting', 'none')
  .map(reference)
const mixed = fc.constantFrom(
  'pre{{ trigger.word }}',
  '{{ trigger.word }}{{ trigger.n }}',
  '{{ trigger.x }}!',
  'a{{ trigger.nested }}'
)
const late = fc.oneof({ weight: 4, arbitrary: references }, mixed)
const orLate = (literal: fc.Arbitrary<unknown>) => fc.oneof({ weight: 5, arbitrary: literal }, late)

/** The properties of a trigger: sometimes the requested value, sometimes another one, sometimes none. */
export const triggers = fc.record(
  {
    x: fc.oneof(scalar, fc.constantFrom<unknown>([], { a: 1 }, ['a', 5, null, true])),
    nested: fc.record({ y: scalar }),
    list: fc.oneof(fc.array(scalar, { maxLength: 12 }), fc.constantFrom<unknown>('a', [['a'], { b: 1 }])),
    word: text,
    n: number,
    date: fc.constantFrom(...dates, ...odd),
    version,
    lasting: fc.constantFrom<unknown>('1d', '30d', '0d', 30, 'soon')
  },
  { requiredKeys: ['x', 'word', 'nested', 'list'] }
)

const comparable = ['equals', 'not_equals']
const ordering = ['greater_than', 'greater_or_equal', 'less_than', 'less_or_equal']
const lists = ['in', 'not_in']
const inText = ['contains', 'not_contains', 'starts_with', 'ends_with']
const existence = ['exists', 'not_exists']
const durations = fc.constantFrom('1d', '24h', '30d', '720h', '1s', '520w')
/** Patterns that mean the same to JavaScript and to PostgreSQL. */
const patterns = fc.constantFrom(
  '^a',
  'b$',
  '^[0-9]+$',
  'pre|Ana',
  '^.$',
  '^..$',
  '(a|b)+',
  '^$',
  '[^a-z]',
  '^{{ trigger.word }}$',
  '{{ trigger.word }}',
  '^(?:{{ trigger.x }}|a)'
)

type Condition = Record<string, unknown>
function conditionsOn(attribute: fc.Arbitrary<string>, kinds: [string[], fc.Arbitrary<unknown> | undefined][]) {
  return fc.oneof(
    ...kinds.map(([operators, value]) =>
      fc.record({ attribute, operator: fc.constantFrom(...operators), ...(value && { value }) })
    )
  ) as fc.Arbitrary<Condition>
}

const listOf = (item: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: fc.array(orLate(item), { maxLength: 12 }) }, references)
const ofProperties = (owner: string) =>
  conditionsOn(
    fc
      .tuple(
        fc.constantFrom(owner, `${owner}properties.`),
        fc.constantFrom(...names, 'since', 'since', 'nobody_has_it')
      )
      .map(([before, name]) =>
        // The short form of these means something else.
        ['id', 'properties.x'].includes(name) ? `${owner}properties.${name}` : before + name
      ),
    [
      [comparable, orLate(scalar)],
      [ordering, orLate(fc.oneof(text, number))],
      [lists, listOf(scalar)],
      [inText, orLate(text)],
      [existence, undefined],
      [['matches'], patterns],
      [['before', 'after'], orLate(fc.constantFrom(...dates))],
      [['within_last'], orLate(durations)]
    ]
  )
const ofText = (attribute: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) =>
  conditionsOn(attribute, [
    [comparable, orLate(value)],
    [ordering, orLate(text)],
    [lists, listOf(value)],
    [inText, orLate(text)],
    [existence, undefined],
    [['matches'], patterns]
  ])
const ofVersions = conditionsOn(fc.constantFrom('device.app_version', 'device.os_version'), [
  [comparable, orLate(version)],
  [ordering, orLate(fc.constantFrom(...versions))],
  [lists, listOf(version)],
  [inText, orLate(text)],
  [existence, undefined],
  [['matches'], patterns]
])
const ofTimes = conditionsOn(fc.constantFrom('user.created_at', 'user.last_seen_at'), [
  [[...comparable, ...ordering, 'before', 'after'], orLate(fc.constantFrom(...dates))],
  [lists, listOf(fc.constantFrom(...dates))],
  [existence, undefined],
  [['within_last'], orLate(durations)]
])
const ofEvents = fc.record(
  {
    event: fc.constantFrom(...eventNames, 'never'),
    operator: fc.constantFrom('at_least', 'at_most', 'exactly'),
    count: fc.integer({ min: 0, max: 3 }),
    within: durations,
    where: fc.array(ofProperties('event.'), { maxLength: 2 })
  },
  { requiredKeys: ['event', 'operator', 'count'] }
)

/** One random condition, over everything that the language can express. */
export const leaves: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 5, arbitrary: ofProperties('user.') },
  ofText(fc.constant('user.id'), text),
  ofText(fc.constant('device.platform'), platform),
  ofText(fc.constantFrom('device.locale', 'device.language', 'device.timezone'), text),
  ofVersions,
  ofTimes,
  { weight: 3, arbitrary: ofEvents }
)
export const segments = fc.letrec<{ node: Condition }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaves,
    fc.record({ all: fc.array(tie('node'), { maxLength: 4 }) }),
    fc.record({ any: fc.array(tie('node'), { maxLength: 4 }) }),
    fc.record({ not: tie('node') })
  )
})).node
