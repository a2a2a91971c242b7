// Upserts over HTTP at 64 connections against the same work done by others, interleaved in one run:
//   node bench/users.ts [--seconds 3] [--rounds 5] [--new] [--growth] [--parse] [--only embedded|external]
//     [--processes 1,2,4]
// All contestants start with the same users: otherwise a faster one would meet more of them. With --new they start empty.
// On the embedded server, and on BENCH_DATABASE_URL where it is set. Needs wrk and pgbench (Debian: wrk, postgresql-contrib).
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import pg from 'pg'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { report as figure } from './support/figures.ts'
import { type Measured, median, type Started, start, stop, times, wrk } from './support/load.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    new: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    parse: { type: 'boolean', default: false },
    only: { type: 'string' },
    processes: { type: 'string', default: '1' }
  }
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
/** A range that is large enough to draw no user twice, or the users that exist. */
const users = values.new ? 1_000_000_000 : 100_000
const connections = 64
const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const body = `'{"project_user_id":"user-' .. n .. '","properties":{"plan":"premium","age":' .. (n % 90) .. ',"vip":true}}'`

async function benchEngine(name: string, url: string): Promise<void> {
  const dataDir = join(folder, `data-${name}`)
  const serving = (processes: string) =>
    start(process.execPath, [join(root, 'bin/tidings.js'), 'serve', '--processes', processes], {
      DATABASE_URL: url,
      DATA_DIR: `${dataDir}-${processes}`,
      PORT: '0',
      LOG_LEVEL: 'warn',
      MASTER_KEY: Buffer.alloc(32).toString('base64')
    })
  // The first start makes the keys, which open all of them.
  const [first = '1', ...more] = values.processes.split(',')
  const tidings = await serving(first)
  const others = await Promise.all(more.map(async (processes) => [processes, await serving(processes)] as const))
  const credentials = JSON.parse(readFileSync(join(`${dataDir}-${first}`, 'credentials.json'), 'utf8'))
  const unlimited = await fetch(`${tidings.url}/manage/v1/projects/demo`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${credentials.admin_token}`, 'content-type': 'application/json' },
    body: '{"limits":{"requests_per_second":0}}'
  })
  if (!unlimited.ok) throw new Error(`the limit was not lifted: ${unlimited.status}`)
  const peer = join(root, 'bench/peers/naive.ts')
  const naive = await start(process.execPath, [peer, url])
  const prepared = await start(process.execPath, [peer, url, '--prepared'])
  // Parse Server does not read addresses of sockets, so it runs on the external engine only.
  const parse = values.parse && !new URL(url).searchParams.has('host') ? await startParse(url) : undefined

  const keys = {
    'X-Service-Project-ID': 'demo',
    'X-Service-API-Key': credentials.secret_key,
    'Content-Type': 'application/json'
  }
  const over =
    (target: Started, path: string, headers: Record<string, string>, text = body, range = users) =>
    () =>
      wrk(
        target.child.pid!,
        { url: target.url, path, headers, body: text, users: range, connections, seconds, below: true },
        join(folder, 'load.lua')
      )
  const growth: [users: number, micros: number][] = []
  const grow = async (size: number) => {
    await fill(url, size)
    const { perSecond } = await over(tidings, '/api/v1/users', keys, body, size)()
    growth.push([size, 1e6 / perSecond])
  }
  if (values.growth) await grow(1_000)
  if (!values.new) await fill(url, users)

  const contestants: [string, () => Promise<Measured>][] = [
    ['pgbench, 32 clients', () => pgbench(url)],
    ['naive Fastify + pg', over(naive, '/api/v1/users', keys)],
    ['the same, prepared', over(prepared, '/api/v1/users', keys)],
    ['Tidings', over(tidings, '/api/v1/users', keys)],
    ...others.map(([processes, target]): [string, () => Promise<Measured>] => [
      `--processes ${processes}`,
      over(target, '/api/v1/users', keys)
    ]),
    ...(parse
      ? [
          [
            'Parse Server 9',
            over(parse, '/parse/classes/Member', {
              'X-Parse-Application-Id': 'bench',
              'X-Parse-Master-Key': 'bench',
              'Content-Type': 'application/json'
            })
          ] as [string, () => Promise<Measured>]
        ]
      : [])
  ]
  const results = new Map<string, Measured[]>(contestants.map(([who]) => [who, []]))
  for (let round = 0; round < rounds + 1; round += 1) {
    // The first round warms caches and compilers up and is not counted.
    for (const [who, measure] of contestants) {
      const measured = await measure()
      if (round > 0) results.get(who)!.push(measured)
    }
  }
  if (values.growth) {
    growth.push([users, 1e6 / median(results.get('Tidings')!.map(({ perSecond }) => perSecond))])
    await grow(1_000_000)
  }
  report(name, results, growth)
  console.log(`memory of Tidings' process after the load: ${Math.round(rss(tidings.child.pid!) / 1024)} MB`)
  await Promise.all(
    [tidings, ...others.map(([, target]) => target), naive, prepared, ...(parse ? [parse] : [])].map(({ child }) =>
      stop(child)
    )
  )
}

function report(engine: string, results: Map<string, Measured[]>, growth: [users: number, micros: number][]): void {
  const base = median(results.get('pgbench, 32 clients')!.map((each) => each.perSecond))
  console.log(
    `\n${engine}: upserts of one ${values.new ? 'new' : 'known'} user a request, ${connections} connections, ${rounds} rounds of ${seconds} s, medians`
  )
  console.log(
    `${'who'.padEnd(22)}${'upserts/s'.padStart(10)}${'of pgbench'.padStart(12)}${'p99 ms'.padStart(9)}${'CPU µs'.padStart(8)}${'failed'.padStart(8)}`
  )
  for (const [who, all] of results) {
    const of = (field: keyof Measured) => median(all.map((each) => each[field]))
    console.log(
      `${who.padEnd(22)}${of('perSecond').toFixed(0).padStart(10)}${(of('perSecond') / base).toFixed(2).padStart(12)}` +
        `${of('p99Ms').toFixed(1).padStart(9)}${of('cpuMicrosPerRequest').toFixed(0).padStart(8)}${of('failed').toFixed(0).padStart(8)}`
    )
  }
  const rateOf = (who: string) => median(results.get(who)!.map((each) => each.perSecond))
  figure({
    name: `upserts of one ${values.new ? 'new' : 'known'} user, ${engine} PostgreSQL`,
    value: rateOf('Tidings'),
    unit: 'upserts/s',
    better: 'more',
    goal: 1.2 * base,
    peers: { 'naive Fastify + pg': rateOf('naive Fastify + pg'), 'the same, prepared': rateOf('the same, prepared') },
    limit: { name: 'pgbench, 32 clients', value: base },
    growth: { of: 'users', unit: 'µs for an upsert', points: growth }
  })
  const over = (who: string) => times(results.get('Tidings')!, results.get(who)!).toFixed(2)
  console.log(
    `Tidings is ${over('naive Fastify + pg')} times the naive service, ${over('the same, prepared')} times the one that prepares its statement, and ${over('pgbench, 32 clients')} of pgbench, medians of the rounds' ratios`
  )
}

/** The same single-row upsert, straight into the database. */
async function pgbench(url: string): Promise<Measured> {
  const script = join(folder, 'upsert.sql')
  writeFileSync(
    script,
    `\\set n random(1, ${users})
insert into naive_users (project_id, project_user_id, properties) values ('demo', 'user-' || :n, '{"plan": "premium", "age": 31, "vip": true}')
on conflict (project_id, project_user_id) do update set properties = naive_users.properties || excluded.properties, updated_at = now() returning properties;
`
  )
  const target = new URL(url)
  const { stdout } = await run(
    'pgbench',
    [
      '-n',
      '-M',
      'prepared',
      '-c32',
      '-j2',
      `-T${seconds}`,
      '-f',
      script,
      '-h',
      target.searchParams.get('host') ?? target.hostname,
      '-p',
      target.port || '5432',
      '-U',
      target.username,
      target.pathname.slice(1)
    ],
    {
      env: { ...process.env, PGPASSWORD: target.password }
    }
  )
  return {
    perSecond: Number(/tps = ([\d.]+)/.exec(stdout)![1]),
    p99Ms: Number.NaN,
    cpuMicrosPerRequest: Number.NaN,
    failed: 0
  }
}

async function startParse(url: string) {
  const home = join(folder, 'parse')
  await run('mkdir', ['-p', home])
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  console.log('installing Parse Server…')
  await run('npm', ['install', '--no-audit', '--no-fund', '--save-exact', 'parse-server@9.10.0', 'express@5'], {
    cwd: home
  })
  await recreate(url, 'parse_bench')
  return start(process.execPath, [join(root, 'bench/peers/parse.js'), home, onDatabase(url, 'parse_bench'), '18337'])
}

function onDatabase(url: string, name: string): string {
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}

/** The same users for all contestants, in freshly vacuumed tables. */
async function fill(url: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const made = `'user-' || n, '{"plan": "free"}', now(), now() from generate_series(1, ${count}) n on conflict do nothing`
  const columns = 'project_user_id, properties, created_at, updated_at'
  await client.query(`insert into naive_users (project_id, ${columns}) select 'demo', ${made}`)
  await client.query(`insert into users (project_id, id, ${columns}) select 'demo', gen_random_uuid(), ${made}`)
  await client.query('vacuum analyze naive_users, users')
  await client.end()
}

async function recreate(url: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`drop database if exists ${name} with (force)`)
  await client.query(`create database ${name}`)
  await client.end()
}

const rss = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

if (values.only !== 'external') {
  const server = await startEmbedded({ dataDir: join(folder, 'embedded'), say: console.error })
  await benchEngine('embedded', server.url)
  await server.stop()
}
if (process.env.BENCH_DATABASE_URL && values.only !== 'embedded') {
  const url = process.env.BENCH_DATABASE_URL
  await recreate(url, 'tidings_bench')
  await benchEngine('external', onDatabase(url, 'tidings_bench'))
}
process.exit(0)
