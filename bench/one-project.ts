// What grows when one project grows: `node bench/one-project.ts [--users 1000000,3000000]`, on the embedded
// server with fsync off, or on BENCH_DATABASE_URL. It fills one project step by step and measures the same work at each size:
// writes of 64 users in one statement, windows of a segment, the count, the indexes, a vacuum, and the deletion at the end.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openPool, type Pool } from '../src/platform/db/db.ts'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { newId, type ProjectId } from '../src/platform/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { compileSegment, parseSegment } from '../src/segments/segments.ts'
import { matchBatch, type SegmentAt } from '../src/segments/store.ts'
import { batchDevices, batchesPerStep } from '../src/triggers/batches/step.ts'
import { eraseUserWindow, upsertUsers } from '../src/users/store.ts'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const { values } = parseArgs({ options: { users: { type: 'string', default: '1000000' } } })
const sizes = values.users.split(',').map(Number)
const projectId = 'p' as ProjectId
const now = new Date()
const rowsAtOnce = 64
const windowUsers = 5_000
const idOf = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const any = (below: number) => 1 + Math.floor(Math.random() * below)

/** One device for each user. */
async function fill(client: pg.Client, after: number, upTo: number): Promise<void> {
  const step = 100_000
  for (let from = after + 1; from <= upTo; from += step) {
    const range = [from, Math.min(upTo, from + step - 1), now]
    const id = `('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`
    await client.query(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select 'p', ${id}, 'user-' || i, jsonb_build_object('plan', case when i % 20 = 0 then 'premium' else 'free' end,
              'age', i % 90, 'vip', i % 7 = 0, 'country', (array['KR','US','DE','FR','JP'])[i % 5 + 1],
              'email', 'user-' || i || '@example.org', 'name', md5(i::text)),
              $3, $3 from generate_series($1::int, $2::int) i`,
      range
    )
    await client.query(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select 'p', 'device-' || i, ${id}, 'IOS', true, jsonb_build_object('app_version', '2.' || i % 20 || '.0'), $3, $3, $3
         from generate_series($1::int, $2::int) i`,
      range
    )
  }
}

/** The median of the milliseconds of so many runs. */
async function timed(times: number, work: (n: number) => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let n = 0; n < times; n += 1) {
    const began = performance.now()
    await work(n)
    all.push(performance.now() - began)
  }
  return median(all)
}

function put(pool: Pool, keys: string[]) {
  const sorted = [...new Set(keys)].sort()
  const changes = sorted.map((projectUserId) => ({ id: newId(), projectUserId, properties: { age: any(90) } }))
  return upsertUsers(pool, projectId, changes, new Date())
}

const segment =
  (written: unknown): SegmentAt =>
  (first, asked) =>
    compileSegment(parseSegment(written), {}, now, first, asked)
const everyTwentieth = segment({ attribute: 'user.plan', operator: 'equals', value: 'premium' })
const almostNone = segment({ attribute: 'user.email', operator: 'equals', value: 'user-7@example.org' })

const keysOf = (makeKey: () => string) => Array.from({ length: rowsAtOnce }, makeKey)

async function measure(pool: Pool, client: pg.Client, users: number): Promise<Record<string, number>> {
  const at = (asked: SegmentAt) => () =>
    matchBatch(
      pool,
      projectId,
      asked,
      { user: idOf(any(users)), device: null },
      windowUsers,
      batchesPerStep * batchDevices
    )
  const found: Record<string, number> = { users }
  await timed(50, () =>
    put(
      pool,
      keysOf(() => `user-${any(users)}`)
    )
  )
  found['update of 64 users, ms'] = await timed(200, () =>
    put(
      pool,
      keysOf(() => `user-${any(users)}`)
    )
  )
  found['64 new users, ms'] = await timed(200, () =>
    put(
      pool,
      keysOf(() => `new-${randomBytes(8).toString('hex')}`)
    )
  )
  await timed(5, at(everyTwentieth))
  found['window of 5,000, 5 % match, ms'] = await timed(40, at(everyTwentieth))
  found['window of 5,000, none matches, ms'] = await timed(40, at(almostNone))
  found['scan of all by windows, s'] = (found['window of 5,000, none matches, ms']! * users) / windowUsers / 1_000
  found['count of all, s'] =
    (await timed(3, () => client.query(`select count(*) from users where project_id = 'p'`))) / 1_000
  await client.query(`update users set updated_at = now() where project_id = 'p' and id in
     (select id from users tablesample system (1) where project_id = 'p')`)
  found['vacuum after 1 % changed, s'] = (await timed(1, () => client.query('vacuum (analyze) users'))) / 1_000
  return { ...found, ...(await sizesOf(client)) }
}

async function sizesOf(client: pg.Client): Promise<Record<string, number>> {
  const { rows } = await client.query<{ name: string; mb: number }>(
    `select c.relname as name, pg_relation_size(c.oid) / 1e6 as mb from pg_class c
      where c.oid in ('users'::regclass, 'devices'::regclass)
         or c.oid in (select indexrelid from pg_index where indrelid in ('users'::regclass, 'devices'::regclass))
      order by 1`
  )
  return Object.fromEntries(rows.map(({ name, mb }) => [`${name}, MB`, Number(mb)]))
}

async function bench(url: string): Promise<void> {
  const server = new pg.Client({ connectionString: url })
  await server.connect()
  const name = `tidings_bench_${randomBytes(4).toString('hex')}`
  await server.query(`create database ${name} template template0 encoding 'UTF8'`)
  const address = Object.assign(new URL(url), { pathname: `/${name}` }).href
  const pool = openPool({ connectionString: address }, await createLog('warn'), 2)
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    await migrate(pool)
    await client.query(`insert into projects values ('p', 'Bench', 'live', 'standard', '{}', '{}', $1)`, [now])
    let filled = 0
    const grown: [users: number, ms: number][] = []
    for (const users of sizes) {
      const loading = await timed(1, () => fill(client, filled, users))
      await client.query('vacuum (analyze) users')
      await client.query('vacuum (analyze) devices')
      const found: Record<string, number> = {
        ...(await measure(pool, client, users)),
        'users loaded a second': ((users - filled) / loading) * 1_000
      }
      grown.push([users, found['update of 64 users, ms']!])
      for (const [what, value] of Object.entries(found))
        console.log(`${what.padEnd(40)}${value.toLocaleString('en', { maximumFractionDigits: 2 }).padStart(16)}`)
      filled = users
    }
    report({
      name: 'an update of 64 users of one project, in one statement',
      value: grown.at(-1)![1],
      unit: 'ms',
      better: 'less',
      growth: { of: 'users', unit: 'ms', points: grown }
    })
    let erased = 0
    const erasing = await timed(100, async () => {
      erased += await eraseUserWindow(pool, projectId)
    })
    console.log(`deletion: a window of ${Math.round(erased / 100)} users in ${erasing.toFixed(1)} ms`)
  } finally {
    await client.end()
    await pool.close()
    await server.query(`drop database ${name} with (force)`)
    await server.end()
  }
}

if (process.env.BENCH_DATABASE_URL) await bench(process.env.BENCH_DATABASE_URL)
else {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
  const server = await startEmbedded({ dataDir: folder, say: console.error })
  try {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    for (const setting of ['fsync = off', 'full_page_writes = off', 'synchronous_commit = off', `max_wal_size = '2GB'`])
      await client.query(`alter system set ${setting}`)
    await client.query('select pg_reload_conf()')
    await client.end()
    await bench(server.url)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
