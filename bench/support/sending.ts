// One process of the service whose pushes go to APNs in another process, on an embedded PostgreSQL: for benches of sending.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../src/platform/db/embedded/embedded.ts'
import type { ApnsGateway, Arrivals } from './apns-gateway.ts'
import { type Started, start, stop } from './load.ts'
import { addPeople } from './people.ts'
import { cpuMs, familyCpuMs, parentOf } from './usage.ts'

const token = `svc_at_${'b'.repeat(43)}`

export interface Sending {
  service: Started
  port: number
  gateway: ChildProcess
  project: { id: string; key: string }
  // biome-ignore lint/suspicious/noExplicitAny: a bench reads the fields it expects.
  manage(method: string, path: string, body: unknown): Promise<any>
  /** What the gateway has received since it was last asked. */
  arrivals(): Promise<Arrivals>
  /** CPU of each part from now on, for each of so many operations. */
  usage(): (count: number) => string
  close(): Promise<void>
}

/** Starts all parts, with a project whose users have a phone each. */
export async function startSending(
  { users, watched = 0 }: { users: number; watched?: number },
  options: string[] = []
): Promise<Sending> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
  const database = await startEmbedded({ dataDir, say: () => {} })
  const gateway = fork(`${import.meta.dirname}/apns-gateway.ts`, ['light'])
  process.on('exit', () => gateway.kill('SIGKILL'))
  const [apns] = (await once(gateway, 'message')) as [ApnsGateway]
  const profile = process.env.BENCH_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`] : []
  const node = [`${import.meta.dirname}/campaign-node.ts`, 'all', JSON.stringify(apns)]
  const service = await start(process.execPath, [...profile, ...options, ...node], {
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: token,
    PLANS: 'standard:0',
    PORT: '0'
  })
  const manage = (method: string, path: string, body: unknown) => managed(service.url, method, path, body)
  const { id } = await manage('POST', '/projects', { name: 'bench', limits: { requests_per_second: 0 } })
  const { key } = await manage('POST', `/projects/${id}/keys`, { kind: 'secret', name: 'bench' })
  const postmaster = await filled(database.url, (client) => addPeople(client, id, users, watched))
  const read = () => [familyCpuMs(service.child.pid!), familyCpuMs(postmaster), cpuMs(gateway.pid!), cpuMs(process.pid)]
  return {
    service,
    port: Number(new URL(service.url).port),
    gateway,
    project: { id, key },
    manage,
    async arrivals() {
      gateway.send('tell')
      return (await once(gateway, 'message'))[0]
    },
    usage() {
      const before = read()
      return (count) => {
        const micros = read().map((ms, index) => Math.round(((ms - before[index]!) * 1000) / count))
        return `CPU each: service ${micros[0]} µs, PostgreSQL ${micros[1]} µs, gateway ${micros[2]} µs, load ${micros[3]} µs`
      }
    },
    async close() {
      await stop(service.child)
      gateway.kill()
      await database.stop()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** Returns the process of the server. */
async function filled(url: string, fill: (client: pg.Client) => Promise<void>): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await fill(client)
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const postmaster = parentOf(rows[0].pid)
  await client.end()
  return postmaster
}

async function managed(url: string, method: string, path: string, body: unknown) {
  const response = await fetch(`${url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  // biome-ignore lint/suspicious/noExplicitAny: a bench reads the fields it expects.
  return response.json() as Promise<any>
}
