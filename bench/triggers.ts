// Triggers for one user each, from the call to the gateway:
//   npm run bench:triggers -- [--triggers 20000] [--connections 64] [--rate 500] [--seconds 10] [--statements]
// One process of the service, a PostgreSQL and APNs (node:http2 that accepts and counts) in processes of their own; the load
// comes from this process. First at a steady rate, not after each response: how long after its acceptance the push is at the
// gateway. Then as fast as the connections get responses: triggers accepted and sent a second, and the CPU of each part.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import type { ApnsGateway, Arrivals } from './support/apns-gateway.ts'
import { report } from './support/figures.ts'
import { type Started, start, stop } from './support/load.ts'
import { addPeople, tokenOf } from './support/people.ts'
import { openLane, percentile } from './support/sockets.ts'
import { cpuMs, familyCpuMs, parentOf } from './support/usage.ts'

const { values: flags } = parseArgs({
  options: {
    triggers: { type: 'string', default: '20000' },
    connections: { type: 'string', default: '64' },
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '10' },
    statements: { type: 'boolean', default: false }
  }
})
const [triggers, connections] = [Number(flags.triggers), Number(flags.connections)]
const [rate, seconds] = [Number(flags.rate), Number(flags.seconds)]
const users = 10_000
const token = `svc_at_${'b'.repeat(43)}`
const here = import.meta.dirname
const now = () => performance.timeOrigin + performance.now()

interface Running {
  service: Started
  gateway: ChildProcess
  database: number
  request: (user: number) => string
}

async function arrivals(gateway: ChildProcess): Promise<Arrivals> {
  gateway.send('tell')
  return (await once(gateway, 'message'))[0]
}

/** Waits until the gateway has counted so many pushes since it was last asked. */
async function untilSent(gateway: ChildProcess, wanted: number): Promise<Arrivals['watched']> {
  const watched: Arrivals['watched'] = []
  const until = Date.now() + 120_000
  for (let counted = 0; ; ) {
    const more = await arrivals(gateway)
    watched.push(...more.watched)
    counted += more.counted
    if (counted >= wanted) return watched
    if (Date.now() > until) throw new Error(`${counted} of ${wanted} pushes arrived`)
    await sleep(5)
  }
}

const portOf = ({ url }: Started) => Number(new URL(url).port)

/** Sends at a steady rate. Each trigger is for another user, so that its push is recognised. */
async function paced(running: Running): Promise<void> {
  const { service, gateway, request } = running
  const total = rate * seconds
  const lanes = Array.from({ length: 200 }, () => openLane(portOf(service)))
  const free = [...lanes]
  const times = new Map<string, { calledAt: number; acceptedAt: number }>()
  let [sent, failed] = [0, 0]
  await arrivals(gateway)
  const parts = usage(running)
  const began = performance.now()
  while (sent < total) {
    const due = Math.min(total, ((performance.now() - began) / 1000) * rate)
    while (sent < due && free.length > 0) {
      const lane = free.pop()!
      sent += 1
      const time = { calledAt: now(), acceptedAt: 0 }
      times.set(tokenOf(users + sent), time)
      lane.ask(request(users + sent), (status) => {
        time.acceptedAt = now()
        if (status !== 200) failed += 1
        free.push(lane)
      })
    }
    await sleep(1)
  }
  const watched = await untilSent(gateway, total - failed)
  const cpu = parts(total)
  for (const lane of lanes) lane.close()
  const afterAccepted = watched.map(([pushed, at]) => Math.max(0, at - times.get(pushed)!.acceptedAt))
  const afterCall = watched.map(([pushed, at]) => at - times.get(pushed)!.calledAt)
  const accepted = [...times.values()].map(({ calledAt, acceptedAt }) => acceptedAt - calledAt)
  const shares = (all: number[]) =>
    `p50 ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms`
  const arrived = { unit: 'ms', better: 'less', note: `${rate} a second` } as const
  report({
    name: 'trigger for one user, accepted → gateway, p50',
    value: percentile(afterAccepted, 0.5),
    goal: 10,
    ...arrived
  })
  report({
    name: 'trigger for one user, accepted → gateway, p99',
    value: percentile(afterAccepted, 0.99),
    goal: 50,
    ...arrived
  })
  console.log(
    `${rate} triggers a second, ${total} in all, ${failed} failed: accepted → gateway ${shares(afterAccepted)}; call → accepted ` +
      `${shares(accepted)}; call → gateway ${shares(afterCall)}, last ${Math.max(...afterCall).toFixed(0)} ms; ${cpu}`
  )
}

/** CPU of each part from now on, for each trigger. */
function usage({ service, gateway, database }: Running): (count: number) => string {
  const read = () => [familyCpuMs(service.child.pid!), familyCpuMs(database), cpuMs(gateway.pid!), cpuMs(process.pid)]
  const before = read()
  return (count) => {
    const micros = read().map((ms, index) => Math.round(((ms - before[index]!) * 1000) / count))
    return `CPU a trigger: service ${micros[0]} µs, PostgreSQL ${micros[1]} µs, gateway ${micros[2]} µs, load ${micros[3]} µs`
  }
}

/** Sends the next trigger of a connection after each response. */
async function flat(running: Running): Promise<void> {
  const { service, gateway, request } = running
  const lanes = Array.from({ length: connections }, () => openLane(portOf(service)))
  let [asked, failed] = [0, 0]
  await arrivals(gateway)
  if (flags.statements) service.child.kill('SIGUSR2')
  const parts = usage(running)
  const began = performance.now()
  const took: number[] = []
  const work = (lane: (typeof lanes)[number]): Promise<void> =>
    new Promise((resolve) => {
      const next = () => {
        if (asked >= triggers) return resolve()
        asked += 1
        lane.ask(request(1 + (asked % users)), (status, ms) => {
          took.push(ms)
          if (status !== 200) failed += 1
          next()
        })
      }
      next()
    })
  await Promise.all(lanes.map(work))
  const accepted = (performance.now() - began) / 1000
  await untilSent(gateway, triggers - failed)
  const all = (performance.now() - began) / 1000
  const cpu = parts(triggers)
  for (const lane of lanes) lane.close()
  const rates = { unit: 'triggers/s', better: 'more', goal: 4_000 } as const
  report({ name: 'triggers for one user each, accepted', value: triggers / accepted, ...rates })
  report({ name: 'triggers for one user each, sent', value: (triggers - failed) / all, ...rates })
  console.log(
    `${triggers} triggers over ${connections} connections, ${failed} failed: ${Math.round(triggers / accepted)}/s accepted (p50 ` +
      `${percentile(took, 0.5).toFixed(0)} ms), all sent at ${Math.round((triggers - failed) / all)}/s; ${cpu}`
  )
  if (flags.statements) service.child.kill('SIGUSR2')
  await sleep(500)
}

// biome-ignore lint/suspicious/noExplicitAny: a bench reads the fields it expects.
async function manage(url: string, method: string, path: string, body: unknown): Promise<any> {
  const response = await fetch(`${url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function prepare(service: Started, client: pg.Client): Promise<Running['request']> {
  const { id } = await manage(service.url, 'POST', '/projects', { name: 'bench', limits: { requests_per_second: 0 } })
  const { key } = await manage(service.url, 'POST', `/projects/${id}/keys`, { kind: 'secret', name: 'bench' })
  await addPeople(client, id, users, rate * seconds)
  const campaign = { name: 'News', status: 'active', message: { title: 'Hello {{ user.name }}', body: 'News' } }
  await manage(service.url, 'PUT', `/projects/${id}/campaigns/news`, campaign)
  const head =
    `POST /api/v1/campaigns/news:trigger HTTP/1.1\r\nHost: a\r\nX-Service-Project-ID: ${id}\r\n` +
    `X-Service-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: `
  return (user) => {
    const body = `{"audience":{"targets":[{"project_user_id":"user-${user}"}]},"properties":{"order":${user}}}`
    return `${head}${body.length}\r\n\r\n${body}`
  }
}

const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
const database = await startEmbedded({ dataDir, say: () => {} })
const gateway = fork(`${here}/support/apns-gateway.ts`, ['counter'])
process.on('exit', () => gateway.kill('SIGKILL'))
const client = new pg.Client({ connectionString: database.url })
try {
  const [apns] = (await once(gateway, 'message')) as [ApnsGateway]
  const profile = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []
  const counting = flags.statements ? ['--import', `${here}/support/statements.ts`] : []
  const args = [...profile, ...counting, `${here}/support/campaign-node.ts`, 'all', JSON.stringify(apns)]
  const service = await start(process.execPath, args, {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: token,
    PLANS: 'standard:0',
    PORT: '0'
  })
  await client.connect()
  const request = await prepare(service, client)
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const running: Running = { service, gateway, database: parentOf(rows[0].pid), request }
  // Opens connections, compiles and makes plans before anything is measured.
  const lane = openLane(portOf(service))
  for (let n = 1; n <= 300; n += 1) await new Promise<void>((resolve) => lane.ask(request(n), () => resolve()))
  lane.close()
  await untilSent(gateway, 300)
  await sleep(2_000)
  if (seconds > 0) await paced(running)
  if (triggers > 0) await flat(running)
  await stop(service.child)
} finally {
  await client.end().catch(() => {})
  gateway.kill()
  await database.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
