// How many users a segment is evaluated on in a second, for each form of a condition, and how long its size takes:
//   node bench/segments.ts [users …] [--only embedded|external]
// on the embedded server, and on BENCH_DATABASE_URL where it is set. Triggers do the same: the same function, the same number
// of users in a step, one step after the other, on one connection. A size is counted as the console counts it.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { eventMonths } from '../src/events/events.ts'
import { openPool, type Pool } from '../src/platform/db/db.ts'
import { usualCacheMb } from '../src/platform/db/embedded/cache.ts'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { makePartitions } from '../src/platform/db/partitions.ts'
import type { ProjectId } from '../src/platform/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { sizesOf } from '../src/segments/saved/sizes.ts'
import { compileSegment, parseSegment } from '../src/segments/segments.ts'
import { firstUser, matchBatch, type Place, type SegmentAt } from '../src/segments/store.ts'
import { mostFound, usersPerStep, widened } from '../src/triggers/batches/step.ts'
import { indexedValue } from '../src/users/users.ts'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'
import { fill, forms, now } from './support/segment-world.ts'
import { cpuMs } from './support/usage.ts'

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } })
const sizes = positionals.length > 0 ? positionals.map(Number) : [100_000]
const projectId = 'p' as ProjectId
/** A small project is evaluated again and again, so that the clock of the processes can measure it; a large one for a median. */
const leastMs = 300
const leastRounds = 3

async function scan(pool: Pool, written: unknown): Promise<{ matched: number; slowestMs: number }> {
  const parsed = parseSegment(written)
  const segment: SegmentAt = (first, asked) => compileSegment(parsed, {}, now, first, asked)
  let place: Place | null = { user: firstUser, device: null }
  let size: number = usersPerStep.first
  let matched = 0
  let slowestMs = 0
  while (place) {
    const asked = performance.now()
    const found = await matchBatch(pool, projectId, segment, place, size, mostFound)
    slowestMs = Math.max(slowestMs, performance.now() - asked)
    matched += found.deviceIds.length
    size = Math.min(usersPerStep.most, widened(size, found.deviceIds.length))
    place = found.next
  }
  return { matched, slowestMs }
}

interface Measured {
  form: string
  /** Time for each user, of this process and of PostgreSQL one after the other, by the median of the rounds. */
  micros: number
  /** Time of PostgreSQL's process for each user. */
  databaseMicros: number
}

interface Found {
  all: Measured[]
  /** Until the size of a segment is known, without and with an index. */
  scannedMs: number
  indexedMs: number
}

async function measure(pool: Pool, pid: number, users: number, form: string): Promise<Measured> {
  const { matched } = await scan(pool, forms[form]) // Once to warm the caches.
  const [began, before] = [performance.now(), cpuMs(pid)]
  const rounds: number[] = []
  let slowestMs = 0
  while (rounds.length < leastRounds || performance.now() - began < leastMs) {
    const asked = performance.now()
    slowestMs = Math.max(slowestMs, (await scan(pool, forms[form])).slowestMs)
    rounds.push(performance.now() - asked)
  }
  const each = (ms: number) => (ms * 1_000) / users
  const micros = each(median(rounds))
  const databaseMicros = each((cpuMs(pid) - before) / rounds.length)
  console.log(
    `${form.padEnd(32)}${Math.round(1e6 / micros)
      .toLocaleString('en')
      .padStart(12)} users/s, ` +
      `${databaseMicros.toFixed(2)} µs of PostgreSQL each, ${matched} matched, slowest window ${slowestMs.toFixed(0)} ms`
  )
  return { form, micros, databaseMicros }
}

/** Milliseconds until the size of a segment is known. */
async function sizeMs(pool: Pool, form: string): Promise<number> {
  const sized = sizesOf(pool)
  const times: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const began = performance.now()
    await sized.countDraft(projectId, parseSegment(forms[form]), new AbortController().signal)
    times.push(performance.now() - began)
  }
  return median(times.slice(1))
}

/** The property is indexed as `PUT /indexed-properties/plan` does it. */
async function indexPlan(pool: Pool): Promise<void> {
  const id = '00000000-0000-7000-8000-000000000000'
  await pool.adhoc(
    `insert into indexed_properties (project_id, id, name, state, exact, visited, created_at) values ('p', $1, 'plan', 'ready', true, 0, $2)`,
    [id, now]
  )
  // In parts, because a statement has a time limit.
  for (let part = 0; part < 16; part += 1)
    await pool.adhoc(
      `insert into indexed_values (project_id, user_id, property_id, value)
       select 'p', id, $1, ${indexedValue(`properties -> 'plan'`)} from users
        where project_id = 'p' and right(id::text, 1) = to_hex($2::int)`,
      [id, part]
    )
  await pool.adhoc('vacuum (analyze) indexed_values', [])
}

async function bench(server: pg.Client, url: string, users: number): Promise<Found> {
  const name = `tidings_bench_${randomBytes(4).toString('hex')}`
  await server.query(`create database ${name} template template0 encoding 'UTF8'`)
  const address = new URL(url)
  address.pathname = `/${name}`
  const log = await createLog('warn')
  const pool = openPool({ connectionString: address.href }, log, 1)
  // A size takes the two turns that a project has.
  const sizing = openPool({ connectionString: address.href }, log, 2)
  try {
    await migrate(pool)
    await makePartitions(pool, eventMonths, now)
    await fill(pool, users)
    console.log(`\n${users.toLocaleString('en')} users`)
    const [backend] = await pool.adhoc<{ pid: number }>('select pg_backend_pid() as pid', [])
    const all: Measured[] = []
    for (const form of Object.keys(forms)) all.push(await measure(pool, backend!.pid, users, form))
    const scannedMs = await sizeMs(sizing, 'a text equals')
    await indexPlan(pool)
    const indexedMs = await sizeMs(sizing, 'a text equals')
    console.log(`the size of "a text equals": ${scannedMs.toFixed(0)} ms, with an index ${indexedMs.toFixed(0)} ms`)
    return { all, scannedMs, indexedMs }
  } finally {
    await pool.close()
    await sizing.close()
    await server.query(`drop database ${name} with (force)`)
  }
}

async function benchAll(engine: string, url: string): Promise<void> {
  const server = new pg.Client({ connectionString: url })
  await server.connect()
  const { rows } = await server.query<{ server_version: string }>('show server_version')
  console.log(`${engine}, PostgreSQL ${rows[0]!.server_version}`)
  const found: [users: number, Found][] = []
  for (const users of sizes) found.push([users, await bench(server, url, users)])
  await server.end()
  const points = (of: (found: Found, users: number) => number) =>
    found.map(([users, one]): [number, number] => [users, Number(of(one, users).toFixed(3))])
  const { all: last, scannedMs, indexedMs } = found.at(-1)![1]
  const slowest = last.toSorted((a, b) => b.micros - a.micros)[0]!
  const common = { unit: 'users/s', better: 'more', goal: 500_000 } as const
  const unit = 'µs for a user'
  report({
    name: 'segments, the slowest form of a condition',
    value: 1e6 / slowest.micros,
    ...common,
    note: slowest.form,
    growth: { of: 'users', unit, points: points(({ all }) => Math.max(...all.map(({ micros }) => micros))) }
  })
  report({
    name: 'segments, the median of all forms',
    value: 1e6 / median(last.map(({ micros }) => micros)),
    ...common,
    growth: { of: 'users', unit, points: points(({ all }) => median(all.map(({ micros }) => micros))) }
  })
  report({
    name: 'size of a segment that 5 % of the users meet, by an indexed property',
    value: indexedMs,
    unit: 'ms',
    better: 'less',
    goal: 300,
    peers: { 'without an index': scannedMs },
    note: `${sizes.at(-1)!.toLocaleString('en')} users`,
    growth: { of: 'users', unit, points: points((one, users) => (one.indexedMs * 1_000) / users) }
  })
}

if (options.only !== 'external') {
  const folder = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
  // As a service has it that starts with this database: a user takes 2 kB here.
  const cacheMb = usualCacheMb(Math.max(...sizes) * 2_000)
  const server = await startEmbedded({ dataDir: folder, say: console.error, cacheMb })
  try {
    await benchAll('embedded', server.url)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
if (process.env.BENCH_DATABASE_URL && options.only !== 'embedded')
  await benchAll('external', process.env.BENCH_DATABASE_URL)
