// What campaigns cost: `node bench/campaigns.ts [devices …]` on BENCH_DATABASE_URL or TEST_DATABASE_URL. It makes a
// database of its own and drops it at the end. An api process, a worker process, and gateways inside the worker that
// accept everything after 5 ms.
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import pg from 'pg'
import { type Started, start, stop } from './support/load.ts'

const url = process.env.BENCH_DATABASE_URL ?? process.env.TEST_DATABASE_URL
if (!url) throw new Error('set BENCH_DATABASE_URL or TEST_DATABASE_URL')
const sizes = process.argv.slice(2).map(Number)
if (sizes.length === 0) sizes.push(10_000, 100_000)
const token = 'svc_at_bench'
const singles = 4_000
const connections = 64
const agent = new Agent({ keepAlive: true, maxSockets: connections })

const server = new pg.Client({ connectionString: url })
await server.connect()
const name = `tidings_bench_${randomBytes(4).toString('hex')}`
await server.query(`create database ${name} template template0 encoding 'UTF8'`)
const address = new URL(url)
address.pathname = `/${name}`
const env = {
  DATABASE_URL: address.href,
  MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
  BOOTSTRAP_ADMIN_TOKEN: token,
  BOOTSTRAP_PROJECT_ID: 'bench',
  DATA_DIR: '/tmp/tidings-bench',
  PLANS: 'standard:0',
  PORT: '0'
}

interface Used {
  counted: number
  firstAt: number
  cpuMs: number
  maxRss: number
}

/** What a node says about itself. */
function usedBy({ child }: Started): Promise<Used> {
  return new Promise((resolve) => {
    const heard = (chunk: Buffer) => {
      const found = /used (\{.*\})/.exec(String(chunk))?.[1]
      if (!found) return
      child.stdout!.off('data', heard)
      resolve(JSON.parse(found))
    }
    child.stdout!.on('data', heard)
    child.kill('SIGUSR2')
  })
}

// biome-ignore lint/suspicious/noExplicitAny: a bench reads the fields it expects.
function ask(base: string, method: string, path: string, body?: unknown): Promise<any> {
  const { hostname, port } = new URL(base)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path: `/manage/v1${path}`, headers, agent }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () =>
        response.statusCode! < 300 ? resolve(JSON.parse(text)) : reject(new Error(`${response.statusCode} ${text}`))
      )
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** A user with a device and a token for each number. */
async function fill(client: pg.Client, project: string, count: number): Promise<void> {
  const id = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`
  const series = 'from generate_series(1, $2::int) as n'
  await client.query(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select $1, ${id}, 'user-' || n, jsonb_build_object('n', n, 'name', 'Name ' || n), now(), now() ${series}`,
    [project, count]
  )
  await client.query(
    `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
     select $1, 'device-' || n, ${id}, 'IOS', true, '{}', now(), now(), now() ${series}`,
    [project, count]
  )
  await client.query(
    `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
     select $1, sha256(($1 || n)::bytea), 'device-' || n, encode(sha256(($1 || n)::bytea), 'hex'), 'APNS', 'production',
            now() ${series}`,
    [project, count]
  )
  await client.query('analyze users, devices, push_tokens')
}

async function ended(api: string, project: string, id: string): Promise<void> {
  for (;;) {
    const { state, counts } = await ask(api, 'GET', `/projects/${project}/api/v1/triggers/${id}`)
    if (state === 'completed' && counts.sent === counts.targeted) return
    if (state === 'failed') throw new Error('it failed')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function broadcast(client: pg.Client, api: Started, worker: Started, size: number): Promise<void> {
  const project = `p${size}`
  await ask(api.url, 'POST', '/projects', { name: project, id: project, limits: { requests_per_second: 0 } })
  await fill(client, project, size)
  const campaign = { name: 'News', status: 'active', message: { title: 'Hello {{ user.name }}', body: 'News' } }
  await ask(api.url, 'PUT', `/projects/${project}/campaigns/news`, campaign)
  await usedBy(worker)
  const [apiBefore, before] = [await usedBy(api), await usedBy(worker)]
  const began = Date.now()
  const path = `/projects/${project}/api/v1/campaigns/news:trigger`
  const { trigger_id } = await ask(api.url, 'POST', path, { audience: { broadcast: true } })
  const answered = Date.now() - began
  await ended(api.url, project, trigger_id)
  const seconds = (Date.now() - began) / 1000
  const [apiAfter, after] = [await usedBy(api), await usedBy(worker)]
  const micros = (one: Used, two: Used) => (((two.cpuMs - one.cpuMs) * 1000) / size).toFixed(0)
  console.log(
    `${String(size).padStart(9)} devices: ${Math.round(size / seconds)} messages/s, answered in ${answered} ms, first push after ` +
      `${after.firstAt - began} ms, worker ${micros(before, after)} µs a message, api ${micros(apiBefore, apiAfter)} µs, ` +
      `worker at most ${Math.round(after.maxRss / 1024)} MB`
  )
}

async function manySingles(api: Started): Promise<void> {
  const project = `p${sizes[0]}`
  const path = `/projects/${project}/api/v1/campaigns/news:trigger`
  const began = Date.now()
  let next = 0
  const ids: string[] = []
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < singles) {
        const targets = [{ project_user_id: `user-${1 + (next++ % sizes[0]!)}` }]
        ids.push((await ask(api.url, 'POST', path, { audience: { targets } })).trigger_id)
      }
    })
  )
  const accepted = (Date.now() - began) / 1000
  for (const id of ids.slice(-200)) await ended(api.url, project, id)
  const all = (Date.now() - began) / 1000
  console.log(
    `${singles} triggers for one user: ${Math.round(singles / accepted)}/s accepted, all sent at ${Math.round(singles / all)}/s`
  )
}

const here = import.meta.dirname
const nodeOf = (role: string) => start(process.execPath, [`${here}/support/campaign-node.ts`, role, '5'], env)
const client = new pg.Client({ connectionString: address.href })
try {
  const api = await nodeOf('api')
  const worker = await nodeOf('worker')
  await client.connect()
  for (const size of sizes) await broadcast(client, api, worker, size)
  await manySingles(api)
  agent.destroy()
  await stop(worker.child)
  await stop(api.child)
} finally {
  await client.end()
  await server.query(`drop database ${name} with (force)`)
  await server.end()
}
