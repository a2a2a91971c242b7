// How many users a segment looks at in a second: `node bench/segments.ts [users]`, on BENCH_DATABASE_URL or
// TEST_DATABASE_URL. It makes a database of its own and drops it at the end. Users are looked at as campaigns do it: by
// windows of keys, one after the other, on one connection.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { compileSegment, parseSegment } from '../src/campaigns/segment.ts'
import { limitStatementTime } from '../src/campaigns/segment-patterns.ts'
import { eventMonths } from '../src/events/events.ts'
import { openPool, type Pool } from '../src/platform/db/db.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { makePartitions } from '../src/platform/db/partitions.ts'
import { createLog } from '../src/platform/log.ts'

const url = process.env.BENCH_DATABASE_URL ?? process.env.TEST_DATABASE_URL
if (!url) throw new Error('set BENCH_DATABASE_URL or TEST_DATABASE_URL')
const count = Number(process.argv[2] ?? 1_000_000)
const window = 5_000
const now = new Date()

const on = (attribute: string, operator: string, value?: unknown) =>
  value === undefined ? { attribute, operator } : { attribute, operator, value }
const segments: [name: string, segment: unknown][] = [
  ['everyone', {}],
  ['a text equals', on('user.plan', 'equals', 'premium')],
  [
    'text, number and list',
    {
      all: [
        on('user.plan', 'not_equals', 'free'),
        on('user.age', 'greater_than', 40),
        on('user.country', 'in', ['KR', 'DE', 'FR'])
      ]
    }
  ],
  ['a time within', on('user.since', 'within_last', '30d')],
  ['a pattern', on('user.email', 'matches', '^user-[0-9]*7@')],
  [
    '1,000 ids',
    on(
      'user.id',
      'in',
      Array.from({ length: 1_000 }, (_, i) => `user-${i * 31}`)
    )
  ],
  ['a version of a device', on('device.app_version', 'greater_or_equal', '2.10')],
  ['an event within 30 days', { event: 'purchase', operator: 'at_least', count: 1, within: '30d' }],
  [
    'three events with a condition',
    { event: 'purchase', operator: 'at_least', count: 3, where: [on('event.amount', 'greater_than', 10)] }
  ]
]

/** One device for each user, one event for every second user. */
async function fill(pool: Pool): Promise<void> {
  await pool.adhoc(`insert into projects values ('p', 'Bench', 'live', 'standard', '{}', '{}', $1)`, [now])
  const step = 100_000
  for (let from = 1; from <= count; from += step) {
    const range = [from, Math.min(count, from + step - 1), now]
    const id = `('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`
    await pool.adhoc(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select 'p', ${id}, 'user-' || i, jsonb_build_object('plan', case when i % 20 = 0 then 'premium' else 'free' end,
              'age', i % 90, 'vip', i % 7 = 0, 'country', (array['KR','US','DE','FR','JP'])[i % 5 + 1],
              'email', 'user-' || i || '@example.org', 'name', md5(i::text), 'since', to_char($3::timestamptz - (i % 400) * interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
              $3, $3 from generate_series($1::int, $2::int) i`,
      range
    )
    await pool.adhoc(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select 'p', 'device-' || i, ${id}, 'IOS', true, jsonb_build_object('app_version', '2.' || i % 20 || '.0'), $3, $3, $3
         from generate_series($1::int, $2::int) i`,
      range
    )
    await pool.adhoc(
      `insert into events (project_id, user_id, at, id, name, details, properties)
       select 'p', ${id}, $3::timestamptz - i % 25 * interval '1 day', ${id}, 'purchase', '{}', jsonb_build_object('amount', i % 50)
         from generate_series($1::int, $2::int, 2) i`,
      range
    )
  }
  for (const table of ['users', 'devices', 'events']) await pool.adhoc(`vacuum (analyze) ${table}`, [])
}

async function scan(pool: Pool, written: unknown): Promise<{ matched: number; perSecond: number; slowestMs: number }> {
  const { condition, values, usesDevice } = compileSegment(parseSegment(written), {}, now, 3)
  const devices = usesDevice ? 'join devices d on d.project_id = $1 and d.user_id = u.id' : ''
  const text = `
    with w as (select project_id, id, project_user_id, properties, created_at, last_seen_at from users
                where project_id = $1 and id > $2 order by id limit ${window})
    select array(select u.id from w u ${devices} where ${condition}) as ids, (select max(id::text) from w) as last`
  let [after, matched, slowestMs] = ['00000000-0000-0000-0000-000000000000', 0, 0]
  const began = performance.now()
  for (;;) {
    const asked = performance.now()
    const [row] = await pool.transaction(async (tx) => {
      await limitStatementTime(tx, 5_000)
      return tx.adhoc<{ ids: string[]; last: string | null }>(text, ['p', after, ...values])
    })
    slowestMs = Math.max(slowestMs, performance.now() - asked)
    if (row!.last === null) break
    matched += row!.ids.length
    after = row!.last
  }
  return { matched, perSecond: (count / (performance.now() - began)) * 1_000, slowestMs }
}

const server = new pg.Client({ connectionString: url })
await server.connect()
const name = `tidings_bench_${randomBytes(4).toString('hex')}`
await server.query(`create database ${name} template template0 encoding 'UTF8'`)
const address = new URL(url)
address.pathname = `/${name}`
const pool = openPool({ connectionString: address.href }, await createLog('warn'), 1)
try {
  await migrate(pool)
  await makePartitions(pool, eventMonths, now)
  await fill(pool)
  for (const [title, segment] of segments) {
    await scan(pool, segment) // Once to warm the caches.
    const { matched, perSecond, slowestMs } = await scan(pool, segment)
    const speed = `${Math.round(perSecond).toLocaleString('en')} users/s`.padStart(20)
    console.log(`${title.padEnd(32)}${speed}, ${matched} matched, slowest window ${slowestMs.toFixed(0)} ms`)
  }
} finally {
  await pool.close()
  await server.query(`drop database ${name} with (force)`)
  await server.end()
}
