import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { newId } from '../../src/platform/ids.ts'
import { compileSegment, parseSegment } from '../../src/segments/segments.ts'
import { silentLog } from '../support/log.ts'
import { startService } from '../support/service.ts'
import type { World } from './model.ts'
import { now, projectId, storeWorld } from './world.ts'

const service = await startService()
const pool = openPool({ connectionString: service.databaseUrl }, silentLog)
after(() => pool.close())

const ago = (days: number) => new Date(now.getTime() - days * 86_400_000)
const world: World = { users: [], devices: [], events: [] }
function person(
  id: string | null,
  properties: Record<string, unknown>,
  more: { createdAt?: Date; lastSeenAt?: Date } = {}
) {
  const user = { id: newId(), projectUserId: id, properties, createdAt: ago(10), lastSeenAt: null, ...more }
  world.users.push(user)
  return {
    phone(name: string, platform: string, facts: Record<string, string>) {
      world.devices.push({ id: name, userId: user.id, platform, facts })
      return this
    },
    did(name: string, days: number, details: Record<string, unknown> = {}) {
      world.events.push({ userId: user.id, name, at: ago(days), properties: details })
      return this
    }
  }
}

person(
  'ana',
  { plan: 'premium', age: 30, vip: true, email: 'ana@example.org', since: '2026-11-14T12:00:00Z' },
  { lastSeenAt: ago(1) }
)
  .phone('ana-ios', 'IOS', {
    app_version: '1.10.0',
    os_version: '17.2',
    locale_region: 'KR',
    locale_language: 'ko',
    timezone: 'Asia/Seoul'
  })
  .phone('ana-web', 'WEB', { app_version: 'unknown' })
  .did('purchase', 1, { amount: 20, currency: 'EUR' })
  .did('purchase', 2, { amount: 5, currency: 'EUR' })
  .did('purchase', 40, { amount: 99, currency: 'USD' })
person(
  'bo',
  { plan: 'free', age: '30', vip: false, email: 'Bo@example.com', since: '2026-02-30' },
  { createdAt: ago(100) }
)
  .phone('bo-android', 'ANDROID', { app_version: '1.9', locale_language: 'en' })
  .did('purchase', 3, { amount: '20' })
person('cy', { plan: null, age: 5.5, since: 1763208000 }).phone('cy-ios', 'IOS', { app_version: '1.10.0-beta.2' })
person('é', { plan: 'Premium', age: 31, since: '2026-10-01' })
person(null, {})
await storeWorld(pool, world)

async function who(segment: unknown, trigger: Record<string, unknown> = {}): Promise<string[]> {
  const { condition, values, usesDevice } = compileSegment(parseSegment(segment), trigger, now, 2)
  const rows = await pool.adhoc<{ name: string }>(
    usesDevice
      ? `select d.id as name from users u join devices d on d.project_id = $1 and d.user_id = u.id where u.project_id = $1 and ${condition} order by d.id`
      : `select coalesce(u.project_user_id, '-') as name from users u where u.project_id = $1 and ${condition} order by u.id`,
    [projectId, ...values]
  )
  return rows.map(({ name }) => name)
}
const on = (attribute: string, operator: string, value?: unknown) =>
  value === undefined ? { attribute, operator } : { attribute, operator, value }
const everyone = ['ana', 'bo', 'cy', 'é', '-']

type Case = [segment: unknown, expected: string[], trigger?: Record<string, unknown>]
function examples(title: string, cases: Case[]): void {
  describe(title, () => {
    for (const [segment, expected, trigger] of cases)
      it(`${JSON.stringify(segment)}${trigger ? ` with ${JSON.stringify(trigger)}` : ''}: ${expected.join(', ') || 'nobody'}`, async () =>
        assert.deepEqual(await who(segment, trigger), expected))
  })
}

examples('groups', [
  [undefined, everyone],
  [{}, everyone],
  [{ all: [] }, everyone],
  [{ any: [] }, []],
  [{ not: { all: [] } }, []],
  [{ not: { any: [] } }, everyone],
  [{ all: [on('user.vip', 'equals', true), { any: [on('user.age', 'equals', 30), { any: [] }] }] }, ['ana']],
  [{ not: { any: [on('user.id', 'equals', 'ana'), on('user.id', 'not_exists')] } }, ['bo', 'cy', 'é']]
])

examples('a property', [
  [on('user.plan', 'equals', 'premium'), ['ana']],
  [on('user.properties.plan', 'equals', 'premium'), ['ana']],
  [on('user.age', 'equals', 30), ['ana']],
  [on('user.age', 'equals', '30'), ['bo']],
  [on('user.plan', 'equals', null), ['cy']],
  [on('user.plan', 'not_equals', 'premium'), ['bo', 'cy', 'é', '-']],
  [on('user.age', 'not_equals', 30), ['cy', 'é', '-']],
  [on('user.plan', 'not_equals', null), ['ana', 'bo', 'é', '-']],
  [on('user.age', 'greater_than', 30), ['é']],
  [on('user.age', 'greater_or_equal', 30), ['ana', 'é']],
  [on('user.age', 'less_than', 30), ['cy']],
  [on('user.age', 'less_or_equal', 30), ['ana', 'cy']],
  [on('user.plan', 'less_than', 'a'), ['é']],
  [on('user.email', 'contains', '@example'), ['ana', 'bo']],
  [on('user.email', 'not_contains', '.org'), ['bo', 'cy', 'é', '-']],
  [on('user.age', 'not_contains', '3'), ['-']],
  [on('user.email', 'starts_with', 'Bo'), ['bo']],
  [on('user.email', 'ends_with', '.org'), ['ana']],
  [on('user.email', 'matches', '^[a-z]+@.*\\.(org|net)$'), ['ana']],
  [on('user.email', 'matches', '(?i)^bo@'), ['bo']],
  [on('user.plan', 'exists'), ['ana', 'bo', 'cy', 'é']],
  [on('user.plan', 'not_exists'), ['-']],
  [on('user.plan', 'in', ['premium', 'free', 5]), ['ana', 'bo']],
  [on('user.plan', 'in', []), []],
  [on('user.plan', 'not_in', ['premium', 'free']), ['cy', 'é', '-']],
  [on('user.plan', 'not_in', []), everyone],
  [on('user.age', 'not_in', ['a']), ['bo', '-']],
  [on('user.since', 'before', '2026-11-01'), ['é']],
  [on('user.since', 'before', '2026-10-01T00:00:00.000001Z'), ['é']],
  [on('user.since', 'before', '2026-10-01'), []],
  [on('user.since', 'after', '2026-11-01'), ['ana']],
  [on('user.since', 'within_last', '24h'), ['ana']],
  [on('user.since', 'within_last', '23h'), []]
])

examples('what the service knows of a user', [
  [on('user.id', 'equals', 'ana'), ['ana']],
  [on('user.id', 'exists'), ['ana', 'bo', 'cy', 'é']],
  [on('user.id', 'greater_than', 'z'), ['é']],
  [on('user.created_at', 'before', '2026-09-01'), ['bo']],
  [on('user.created_at', 'within_last', '30d'), ['ana', 'cy', 'é', '-']],
  [on('user.created_at', 'equals', '2026-11-05T21:00:00+09:00'), ['ana', 'cy', 'é', '-']],
  [on('user.last_seen_at', 'after', '2026-11-01T00:00:00Z'), ['ana']],
  [on('user.last_seen_at', 'not_exists'), ['bo', 'cy', 'é', '-']]
])

examples('a device: only those that match', [
  [on('device.platform', 'equals', 'IOS'), ['ana-ios', 'cy-ios']],
  [on('device.platform', 'in', ['WEB', 'ANDROID']), ['ana-web', 'bo-android']],
  [on('device.app_version', 'greater_than', '1.9'), ['ana-ios', 'cy-ios']],
  [on('device.app_version', 'less_than', '1.10'), ['bo-android', 'cy-ios']],
  [on('device.app_version', 'equals', 'v1.10'), ['ana-ios']],
  [on('device.app_version', 'equals', 'unknown'), ['ana-web']],
  [on('device.app_version', 'not_equals', '1.10.0'), ['ana-web', 'bo-android', 'cy-ios']],
  [on('device.app_version', 'starts_with', '1.1'), ['ana-ios', 'cy-ios']],
  [on('device.os_version', 'greater_or_equal', '17'), ['ana-ios']],
  [on('device.locale', 'equals', 'KR'), ['ana-ios']],
  [on('device.language', 'equals', 'en'), ['bo-android']],
  [on('device.timezone', 'starts_with', 'Asia/'), ['ana-ios']],
  [{ all: [on('user.id', 'equals', 'ana'), on('device.language', 'not_equals', 'ko')] }, ['ana-web']],
  [{ not: on('device.platform', 'equals', 'IOS') }, ['ana-web', 'bo-android']]
])

const bought = (operator: string, count: number, more = {}) => ({ event: 'purchase', operator, count, ...more })
examples('an event', [
  [bought('at_least', 1), ['ana', 'bo']],
  [bought('at_least', 3), ['ana']],
  [bought('at_least', 3, { within: '30d' }), []],
  [bought('at_least', 0), everyone],
  [bought('at_most', 0), ['cy', 'é', '-']],
  [bought('at_most', 2, { within: '30d' }), everyone],
  [bought('exactly', 1), ['bo']],
  [bought('exactly', 2, { within: '48h' }), ['ana']],
  [bought('exactly', 0, { within: '36h' }), ['bo', 'cy', 'é', '-']],
  [bought('at_least', 1, { where: [on('event.amount', 'greater_than', 10)] }), ['ana']],
  [
    bought('exactly', 1, {
      where: [on('event.amount', 'greater_or_equal', 20), on('event.currency', 'equals', 'EUR')]
    }),
    ['ana']
  ],
  [
    bought('at_least', 1, { where: [on('event.properties.amount', 'equals', '{{ trigger.amount }}')] }),
    ['bo'],
    { amount: '20' }
  ],
  [{ not: bought('at_least', 1) }, ['cy', 'é', '-']]
])

const fromTrigger = (operator = 'equals') => on('user.plan', operator, '{{ trigger.x }}')
examples('a trigger property', [
  [fromTrigger(), ['ana'], { x: 'premium' }],
  [on('user.age', 'equals', '{{trigger.x}}'), ['ana'], { x: 30 }],
  [on('user.age', 'equals', '{{ trigger.x }}'), ['bo'], { x: '30' }],
  [on('user.age', 'equals', '{{ trigger.a["b c"][0] }}'), ['ana'], { a: { 'b c': [30] } }],
  [fromTrigger(), ['cy'], { x: null }],
  [fromTrigger(), [], { x: ['premium'] }],
  [on('user.email', 'equals', '{{ trigger.name }}@example.{{ trigger.top }}'), ['ana'], { name: 'ana', top: 'org' }],
  [on('user.age', 'equals', '{{ trigger.a }}{{ trigger.b }}'), ['bo'], { a: 3, b: 0 }],
  [fromTrigger('in'), ['ana', 'bo'], { x: ['premium', 'free'] }],
  [fromTrigger('in'), [], { x: 'premium' }],
  [on('user.plan', 'in', ['{{ trigger.x }}', 'free']), ['ana', 'bo'], { x: 'premium' }],
  [on('user.since', 'after', '{{ trigger.x }}'), ['ana'], { x: '2026-11-01' }],
  [on('user.since', 'after', '{{ trigger.x }}'), [], { x: '2026-02-30' }],
  [fromTrigger(), [], {}],
  [{ not: fromTrigger() }, [], {}],
  [{ any: [{ all: [] }, fromTrigger('not_equals')] }, [], { y: 1 }],
  [{ any: [{ all: [] }, bought('at_least', 1, { where: [on('event.a', 'equals', '{{ trigger.x }}')] })] }, [], {}],
  [fromTrigger(), [], JSON.parse('{"__proto__":{"x":"premium"}}')],
  [on('user.plan', 'equals', '{{ trigger.constructor }}'), [], {}],
  [on('user.email', 'matches', '^{{ trigger.x }}@'), ['ana'], { x: 'ana' }],
  [on('user.email', 'matches', '^{{ trigger.x }}@'), [], { x: '.*' }]
])
