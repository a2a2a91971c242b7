// The cost of campaigns: `npm run bench:campaigns -- [devices …] [--gateway light|counter|simulator] [--singles] [--beside]`,
// on BENCH_DATABASE_URL or TEST_DATABASE_URL, whose server should be on this machine: then its CPU is printed too. It makes a
// database of its own and drops it at the end. An api process, a worker process (a new one for each size), and APNs in a
// process of its own (support/apns-gateway.ts). With --singles, triggers for one user each follow. With --beside only the
// pushes for single users beside a broadcast are measured, in the project of the broadcast and in another one.
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { type ApnsGateway, type Arrivals, watchedToken } from './support/apns-gateway.ts'
import { report } from './support/figures.ts'
import { type Started, start, stop } from './support/load.ts'
import { addPeople } from './support/people.ts'
import { cpuMs, familyCpuMs, mostMegabytes, parentOf } from './support/usage.ts'

const url = process.env.BENCH_DATABASE_URL ?? process.env.TEST_DATABASE_URL
if (!url) throw new Error('set BENCH_DATABASE_URL or TEST_DATABASE_URL')
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gateway: { type: 'string' },
    singles: { type: 'boolean', default: false },
    beside: { type: 'boolean', default: false }
  }
})
const sizes = positionals.map(Number)
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

async function ended(api: string, project: string, id: string): Promise<void> {
  for (;;) {
    const { state, counts } = await ask(api, 'GET', `/projects/${project}/api/v1/triggers/${id}`)
    if (state === 'completed' && counts.sent === counts.targeted) return
    if (state === 'completed' || state === 'failed') throw new Error(`it ${state}: ${JSON.stringify(counts)}`)
    await sleep(100)
  }
}

const path = (project: string) => `/projects/${project}/api/v1/campaigns/news:trigger`
const trigger = async (api: string, project: string, audience: object): Promise<string> =>
  (await ask(api, 'POST', path(project), { audience })).trigger_id

async function newProject(client: pg.Client, api: string, project: string, size: number, watched = 0): Promise<void> {
  await ask(api, 'POST', '/projects', { name: project, id: project, limits: { requests_per_second: 0 } })
  await addPeople(client, project, size, watched)
  const campaign = { name: 'News', status: 'active', message: { title: 'Hello {{ user.name }}', body: 'News' } }
  await ask(api, 'PUT', `/projects/${project}/campaigns/news`, campaign)
}

/** The server's processes, where it runs on this machine. */
async function postmaster(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  try {
    return parentOf(rows[0].pid)
  } catch {
    return undefined
  }
}

async function arrivals(gateway: ChildProcess): Promise<Arrivals> {
  gateway.send('tell')
  return (await once(gateway, 'message'))[0]
}

interface Running {
  client: pg.Client
  api: Started
  gateway: ChildProcess
  startWorker: () => Promise<Started>
}

/** What a broadcast of this size took: µs of CPU are for a message. */
interface Broadcast {
  size: number
  perSecond: number
  workerMicros: number
  databaseMicros: number | undefined
  workerMegabytes: number
}

async function broadcast({ client, api, gateway, startWorker }: Running, size: number): Promise<Broadcast> {
  const project = `p${size}`
  await newProject(client, api.url, project, size)
  const worker = await startWorker()
  const database = await postmaster(client)
  const used = () => [
    cpuMs(worker.child.pid!),
    cpuMs(api.child.pid!),
    cpuMs(gateway.pid!),
    database ? familyCpuMs(database) : 0
  ]
  await arrivals(gateway)
  const before = used()
  const began = Date.now()
  const id = await trigger(api.url, project, { broadcast: true })
  const acceptedMs = Date.now() - began
  await ended(api.url, project, id)
  const seconds = (Date.now() - began) / 1000
  const micros = used().map((ms, index) => Math.round(((ms - before[index]!) * 1000) / size))
  const { counted, firstAt } = await arrivals(gateway)
  if (counted !== size) throw new Error(`${counted} pushes arrived for ${size} devices`)
  console.log(
    `${String(size).padStart(9)} devices: ${Math.round(size / seconds)} messages/s; accepted in ${acceptedMs} ms, first push ` +
      `after ${firstAt - began} ms; CPU a message: worker ${micros[0]} µs, api ${micros[1]} µs, gateway ${micros[2]} µs, ` +
      `PostgreSQL ${database ? `${micros[3]} µs` : 'elsewhere'}; worker at most ${Math.round(mostMegabytes(worker.child.pid!))} MB`
  )
  const workerMegabytes = Math.round(mostMegabytes(worker.child.pid!))
  await stop(worker.child)
  const [workerMicros, , , databaseMicros] = micros as [number, number, number, number]
  const perSecond = Math.round(size / seconds)
  return { size, perSecond, workerMicros, databaseMicros: database ? databaseMicros : undefined, workerMegabytes }
}

/** Figures of the largest broadcast; those of the others show how they grow. */
function reportBroadcasts(all: Broadcast[]): void {
  const largest = all.at(-1)!
  const figure = (name: string, unit: string, better: 'less' | 'more', goal: number, of: (one: Broadcast) => number) =>
    report({
      name: `${name} of a broadcast to ${largest.size.toLocaleString('en')} devices`,
      value: of(largest),
      unit,
      better,
      goal,
      growth: { of: 'devices', unit, points: all.map((one) => [one.size, of(one)]) }
    })
  figure('messages', 'messages/s', 'more', 15_000, ({ perSecond }) => perSecond)
  figure("worker's CPU for a message", 'µs', 'less', 45, ({ workerMicros }) => workerMicros)
  if (largest.databaseMicros !== undefined)
    figure("PostgreSQL's CPU for a message", 'µs', 'less', 50, ({ databaseMicros }) => databaseMicros ?? 0)
  figure("worker's memory", 'MB', 'less', 400, ({ workerMegabytes }) => workerMegabytes)
}

/** While a broadcast runs: how long after its call the push to one user arrives. */
async function beside({ client, api, gateway, startWorker }: Running, size: number): Promise<void> {
  const [everyMs, most] = [100, 1_000]
  await newProject(client, api.url, 'large', size, most)
  await newProject(client, api.url, 'small', 0, most)
  const worker = await startWorker()
  await arrivals(gateway)
  const id = await trigger(api.url, 'large', { broadcast: true })
  const running = ended(api.url, 'large', id).then(() => true)
  const took: Record<string, number[]> = { large: [], small: [] }
  const calls = new Map<string, { project: string; at: number }>()
  const sent: Promise<unknown>[] = []
  for (let n = 1; n <= most && !(await Promise.race([running, sleep(everyMs, false)])); n += 1)
    for (const [project, from] of [['large', size + n] as const, ['small', most - n + 1] as const]) {
      calls.set(`${watchedToken}${from.toString(16).padStart(60, '0')}`, { project, at: Date.now() })
      sent.push(trigger(api.url, project, { targets: [{ project_user_id: `user-${from}` }] }))
    }
  await Promise.all(sent)
  await sleep(1_000)
  const { watched } = await arrivals(gateway)
  for (const [arrived, at] of watched) {
    const call = calls.get(arrived)
    // The broadcast reaches the same devices of its project, so the first arrival after the call may be either.
    if (call && at >= call.at) took[call.project]!.push(at - call.at)
    calls.delete(arrived)
  }
  for (const [project, all] of Object.entries(took)) {
    const sorted = all.toSorted((a, b) => a - b)
    const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
    console.log(
      `single users beside ${size} devices, ${project === 'large' ? 'same project' : 'another project'}: ${sorted.length} ` +
        `pushes, p50 ${share(0.5)} ms, p99 ${share(0.99)} ms, last ${sorted.at(-1)} ms`
    )
  }
  await stop(worker.child)
}

async function manySingles({ api, startWorker }: Running): Promise<void> {
  const project = `p${sizes[0]}`
  const worker = await startWorker()
  const began = Date.now()
  let next = 0
  const ids: string[] = []
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < singles) {
        const targets = [{ project_user_id: `user-${1 + (next++ % sizes[0]!)}` }]
        ids.push(await trigger(api.url, project, { targets }))
      }
    })
  )
  const accepted = (Date.now() - began) / 1000
  for (const id of ids.slice(-200)) await ended(api.url, project, id)
  const all = (Date.now() - began) / 1000
  console.log(
    `${singles} triggers for one user: ${Math.round(singles / accepted)}/s accepted, all sent at ${Math.round(singles / all)}/s`
  )
  await stop(worker.child)
}

const here = import.meta.dirname
const gateway = fork(`${here}/support/apns-gateway.ts`, [flags.gateway ?? 'light'])
process.on('exit', () => gateway.kill('SIGKILL'))
const [apns] = (await once(gateway, 'message')) as [ApnsGateway]
const startNode = (role: string, more: string[] = []) =>
  start(process.execPath, [...more, `${here}/support/campaign-node.ts`, role, JSON.stringify(apns)], env)
const client = new pg.Client({ connectionString: address.href })
try {
  const api = await startNode('api')
  await client.connect()
  const profile = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []
  const startWorker = async () => {
    const worker = await startNode('worker', profile)
    // The work of every start is not measured.
    await sleep(2_000)
    return worker
  }
  const running: Running = { client, api, gateway, startWorker }
  if (flags.beside) for (const size of sizes) await beside(running, size)
  else {
    const all: Broadcast[] = []
    for (const size of sizes) all.push(await broadcast(running, size))
    reportBroadcasts(all)
    if (flags.singles) await manySingles(running)
  }
  agent.destroy()
  await stop(api.child)
} finally {
  await client.end()
  await server.query(`drop database ${name} with (force)`)
  await server.end()
  gateway.kill()
}
