// How long a search of users takes: `node bench/user-search.ts [users]`, a million by default, on the embedded server and
// over HTTP. Then what an index costs those who write: upserts of 64 known users a statement, without an indexed property
// and with two, and with the GIN index over all properties that we did not choose (record 0052).
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { openPool, type Pool } from '../src/platform/db/db.ts'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import type { ProjectId } from '../src/platform/ids.ts'
import { createLog } from '../src/platform/log.ts'
import { upsertUsers } from '../src/users/store.ts'
import { report } from './support/figures.ts'
import { median, start, stop } from './support/load.ts'

const count = Number(process.argv[2] ?? 1_000_000)
const root = resolve(import.meta.dirname, '..')

/** Half of the users belong to another project, so that indexes have to keep them apart. */
async function fill(client: pg.Client): Promise<void> {
  await client.query(`insert into projects values ('other', 'Other', 'live', 'standard', '{}', '{}', now())`)
  const step = 100_000
  for (const project of ['demo', 'other'])
    for (let from = 1; from <= count; from += step)
      await client.query(
        `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
         select $3, ('00000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'user-' || i,
                jsonb_build_object('email', 'user-' || i || '@example.org', 'plan', case when i % 20 = 0 then 'premium' else 'free' end,
                  'age', i % 90, 'vip', i % 7 = 0, 'country', (array['KR','US','DE','FR','JP'])[i % 5 + 1], 'name', md5(i::text)),
                now(), now() from generate_series($1::int, $2::int) i`,
        [from, Math.min(count, from + step - 1), project]
      )
  await client.query('vacuum analyze users')
}

interface Service {
  url: string
  token: string
}

/** The fields of the responses that are used here. */
interface Reply {
  items: { name: string; state: string }[]
  searched: number
  next_cursor: string | null
}

async function call({ url, token }: Service, method: string, path: string): Promise<Reply> {
  const reply = await fetch(`${url}/manage/v1/projects/demo${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` }
  })
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
  return (await reply.json()) as Reply
}

async function timed<Result>(work: () => Promise<Result>): Promise<[ms: number, result: Result]> {
  const began = performance.now()
  const result = await work()
  return [performance.now() - began, result]
}

const numbers = new Intl.NumberFormat('en')
const say = (what: string, figure: string) => console.log(`${what.padEnd(58)} ${figure}`)
const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`

async function index(service: Service, name: string): Promise<void> {
  const [took] = await timed(async () => {
    await call(service, 'PUT', `/indexed-properties/${name}`)
    for (;;) {
      const { items } = await call(service, 'GET', '/indexed-properties')
      if (items.find((item) => item.name === name)?.state === 'ready') return
      await new Promise((done) => setTimeout(done, 200))
    }
  })
  say(`the index of ${name} is built in`, `${(took / 1_000).toFixed(1)} s`)
}

/** Many lookups, each of another value where there are many. */
async function lookups(service: Service, what: string, where: (turn: number) => object, turns = 200): Promise<void> {
  const times: number[] = []
  let found = 0
  for (let turn = 0; turn < turns; turn += 1) {
    const query = new URLSearchParams({ where: JSON.stringify(where(turn)), limit: '100' })
    const [took, page] = await timed(() => call(service, 'GET', `/users?${query}`))
    times.push(took)
    found = page.items.length
  }
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(turns * 0.99)]!
  report({ name: `search of users: ${what}, p99`, value: p99, unit: 'ms', better: 'less' })
  say(what, `p50 ${ms(median(times))}, p99 ${ms(p99)}, slowest ${ms(times.at(-1)!)}; ${found} found`)
}

/** A property without an index, to the end of the project. */
async function scan(service: Service): Promise<void> {
  const times: number[] = []
  let searched = 0
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ where: JSON.stringify({ name: 'none' }), ...(cursor && { cursor }) })
    const [took, page] = await timed(() => call(service, 'GET', `/users?${query}`))
    times.push(took)
    searched += page.searched
    cursor = page.next_cursor
  } while (cursor)
  const all = times.reduce((sum, time) => sum + time, 0)
  say(
    'without an index, all users are searched in',
    `${(all / 1_000).toFixed(1)} s, ${times.length} pages, the slowest ${ms(Math.max(...times))}`
  )
  if (searched < count) throw new Error(`${searched} users were searched`)
}

/** Users a second, written 64 at a time on one connection. */
async function upserts(pool: Pool, projectId: ProjectId): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 6; round += 1) {
    const [took] = await timed(async () => {
      for (let turn = 0; turn < 100; turn += 1) {
        const changes = Array.from({ length: 64 }, () => {
          const n = 1 + Math.floor(Math.random() * count)
          return [`user-${n}`, { age: Math.floor(Math.random() * 90), plan: n % 2 ? 'free' : 'premium' }] as const
        })
        const once = [...new Map(changes)].map(([projectUserId, properties]) => ({ projectUserId, properties }))
        await upsertUsers(pool, projectId, once, new Date())
      }
    })
    // The first round warms up.
    if (round > 0) rounds.push(6_400 / (took / 1_000))
  }
  return median(rounds)
}

const folder = await mkdtemp(join(tmpdir(), 'tidings-bench-'))
process.on('exit', () => void rm(folder, { recursive: true, force: true }))
const server = await startEmbedded({ dataDir: join(folder, 'db'), say: console.error })
const dataDir = join(folder, 'data')
const tidings = await start(process.execPath, [join(root, 'bin/tidings.js'), 'serve'], {
  DATABASE_URL: server.url,
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
  MASTER_KEY: Buffer.alloc(32).toString('base64')
})
const { admin_token } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
const service = { url: tidings.url, token: admin_token as string }
const client = new pg.Client({ connectionString: server.url })
await client.connect()
console.log(`${numbers.format(count)} users of a project, as many of another\n`)
await fill(client)

await scan(service)
await index(service, 'email')
await index(service, 'plan')
const any = () => 1 + Math.floor(Math.random() * count)
await lookups(service, 'one user by an indexed email', () => ({ email: `user-${any()}@example.org` }))
await lookups(service, 'no user by an indexed email', (turn) => ({ email: `none-${turn}` }))
await lookups(service, 'the first 100 of 95 % by an indexed plan', () => ({ plan: 'free' }))
await lookups(service, 'the first 100 of 5 % by an indexed plan', () => ({ plan: 'premium' }))
await lookups(service, 'an indexed plan and an age', (turn) => ({ plan: 'premium', age: (turn % 9) * 10 }))

const pool = openPool({ connectionString: server.url }, await createLog('warn'))
const size = async (name: string) => {
  const { rows } = await client.query('select pg_total_relation_size($1) as bytes', [name])
  return `${Math.round(Number(rows[0].bytes) / 1024 / 1024)} MB`
}
say('size of the values of two properties, with their indexes', await size('indexed_values'))
const rate = (value: number) => `${numbers.format(Math.round(value))} users/s`
say('upserts, two indexed properties', rate(await upserts(pool, 'demo' as ProjectId)))
say('upserts, no indexed property', rate(await upserts(pool, 'other' as ProjectId)))
await client.query('create index bench_gin on users using gin (properties jsonb_path_ops)')
say('size of a GIN index over all properties', await size('bench_gin'))
say('upserts, with that GIN index', rate(await upserts(pool, 'other' as ProjectId)))
const [popular] = await timed(() =>
  client.query(
    `select id from users where project_id = 'demo' and properties @> '{"plan":"free"}' order by id desc limit 100`
  )
)
const [rare] = await timed(() =>
  client.query(
    `select id from users where project_id = 'demo' and properties @> '{"email":"user-77@example.org"}' order by id desc limit 100`
  )
)
say('with that GIN index: one by email; the first 100 of 95 %', `${ms(rare)}; ${ms(popular)}`)
await client.end()
await pool.close()
await stop(tidings.child)
await server.stop()
process.exit(0)
