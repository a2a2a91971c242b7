// How many users a segment is evaluated on in a second: `node bench/segments.ts [users] [--only embedded|external]`, on the
// embedded server, and on BENCH_DATABASE_URL where it is set. Triggers do the same: the same
// function, the same number of users in a step, one step after the other, on one connection.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { eventMonths } from '../src/events/events.ts'
import { openPool, type Pool } from '../src/platform/db/db.ts'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { makePartitions } from '../src/platform/db/partitions.ts'
import type { ProjectId } from '../src/platform/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { compileSegment, parseSegment } from '../src/segments/segments.ts'
import { firstUser, matchBatch, type Place, type SegmentAt } from '../src/segments/store.ts'
import { batchDevices, batchesPerStep, usersPerStep, widened } from '../src/triggers/batches/step.ts'

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } })
const count = Number(positionals[0] ?? 500_000)
const projectId = 'p' as ProjectId
const now = new Date()

const on = (attribute: string, operator: string, value?: unknown) =>
  value === undefined ? { attribute, operator } : { attribute, operator, value }
const segments: [name: string, segment: unknown][] = [
  ['everyone', {}],
  ['a text equals', on('user.plan', 'equals', 'premium')],
  ['a text differs', on('user.plan', 'not_equals', 'free')],
  ['a number is greater', on('user.age', 'greater_than', 80)],
  ['one of a list', on('user.country', 'in', ['KR', 'BR'])],
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
  ['a text contains', on('user.email', 'contains', '777@')],
  ['a pattern', on('user.email', 'matches', '^user-[0-9]*7@')],
  ['a time within', on('user.since', 'within_last', '30d')],
  ['a time that holds for most', on('user.since', 'within_last', '360d')],
  [
    '1,000 ids',
    on(
      'user.id',
      'in',
      Array.from({ length: 1_000 }, (_, i) => `user-${i * 31}`)
    )
  ],
  ['a platform', on('device.platform', 'equals', 'ANDROID')],
  ['a version of a device', on('device.app_version', 'greater_or_equal', '2.19')],
  ['a version that half have', on('device.app_version', 'greater_or_equal', '2.10')],
  ['an event within 1 day', { event: 'purchase', operator: 'at_least', count: 1, within: '1d' }],
  ['an event within 30 days', { event: 'purchase', operator: 'at_least', count: 1, within: '30d' }],
  ['no event within 30 days', { event: 'purchase', operator: 'at_most', count: 0, within: '30d' }],
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
  const parsed = parseSegment(written)
  const segment: SegmentAt = (first, asked) => compileSegment(parsed, {}, now, first, asked)
  let place: Place | null = { user: firstUser, device: null }
  let size: number = usersPerStep.first
  let matched = 0
  let slowestMs = 0
  const began = performance.now()
  while (place) {
    const asked = performance.now()
    const found = await matchBatch(pool, projectId, segment, place, size, batchesPerStep * batchDevices)
    slowestMs = Math.max(slowestMs, performance.now() - asked)
    matched += found.deviceIds.length
    size = Math.min(usersPerStep.most, widened(size, found.deviceIds.length))
    place = found.next
  }
  return { matched: matched, perSecond: (count / (performance.now() - began)) * 1_000, slowestMs: slowestMs }
}

async function bench(engine: string, url: string): Promise<void> {
  const server = new pg.Client({ connectionString: url })
  await server.connect()
  const { rows } = await server.query<{ server_version: string }>('show server_version')
  console.log(`${engine}, PostgreSQL ${rows[0]!.server_version}, ${count.toLocaleString('en')} users`)
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
}

if (options.only !== 'external') {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
  const server = await startEmbedded({ dataDir: folder, say: console.error })
  try {
    await bench('embedded', server.url)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
if (process.env.BENCH_DATABASE_URL && options.only !== 'embedded')
  await bench('external', process.env.BENCH_DATABASE_URL)
