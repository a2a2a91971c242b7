import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, microsOf, start, stop } from '../../../bench/support/load.ts'
import type { Server } from './cluster.ts'

const token = 'svc_at_ratios'
const secretKey = 'svc_sk_ratios'
const roundMs = 3_000
const connections = 64
const projects = 4
const people = 200

interface Engine {
  url: string
  /** Its servers, by what they do. */
  servers: Record<string, Server[]>
}

/** What a round did, and the processor time of each user or message in microseconds, by who spent it. */
interface Round {
  perSecond: number
  micros: Record<string, number>
}

/** A service on one engine, with the work that is measured. */
async function contestant({ url, servers }: Engine) {
  const dataDir = await mkdtemp(join(tmpdir(), 'tidings-ratios-'))
  const service = await start(process.execPath, [join(import.meta.dirname, '../../../bin/tidings.js'), 'serve'], {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'error',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: token,
    BOOTSTRAP_SECRET_KEY: secretKey
  })
  async function manage(method: string, path: string, body: unknown): Promise<{ id: string; key: string }> {
    const reply = await fetch(`${service.url}/manage/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return (await reply.json()) as { id: string; key: string }
  }
  const keyed: Record<string, string>[] = []
  async function call(headers: Record<string, string>, path: string, body: unknown): Promise<void> {
    const reply = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`)
  }
  for (let one = 0; one < projects; one += 1) {
    const limits = { requests_per_second: 0, client_requests_per_second: 0 }
    const { id } = await manage('POST', '/projects', { name: 'ratio', mode: 'simulator', limits })
    const { key } = await manage('POST', `/projects/${id}/keys`, { kind: 'secret', name: 'ratio' })
    keyed.push({ 'x-service-project-id': id, 'x-service-api-key': key })
    for (let n = 0; n < people; n += 1)
      await manage('POST', `/projects/${id}/simulator/devices`, {
        platform: 'IOS',
        project_user_id: `u${n}`,
        device_id: `u${n}`
      })
  }
  let n = 0
  const works = {
    async users(): Promise<number> {
      n += 1
      await call(keyed[n % projects]!, '/users', {
        project_user_id: `user-${n % 20_000}`,
        properties: { plan: 'premium', age: n % 90, vip: true }
      })
      return 1
    },
    async messages(): Promise<number> {
      n += 1
      const at = n
      await call(keyed[n % projects]!, '/messages:send', {
        push_notifications: Array.from({ length: 50 }, (_, index) => ({
          target: { project_user_id: `u${(at * 50 + index) % people}` },
          title: 'Hello',
          body: 'x'.repeat(150)
        }))
      })
      return 50
    }
  }
  const spent = (): Record<string, number> => {
    const { user, system } = process.cpuUsage()
    const sums = Object.entries(servers).map(([name, some]) => [
      name,
      some.reduce((sum, server) => sum + microsOf(server.pid()), 0)
    ])
    return { callers: user + system, service: microsOf(service.child.pid!), ...Object.fromEntries(sums) }
  }
  return {
    async round(kind: keyof typeof works): Promise<Round> {
      const before = spent()
      const beganMs = performance.now()
      let done = 0
      const lane = async () => {
        while (performance.now() - beganMs < roundMs) {
          const more = await works[kind]()
          // Only now: other lanes have added to it meanwhile.
          done += more
        }
      }
      await Promise.all(Array.from({ length: kind === 'users' ? connections : 4 }, lane))
      const perSecond = (done * 1_000) / (performance.now() - beganMs)
      const micros = Object.entries(spent()).map(([name, after]) => [name, (after - before[name]!) / done])
      return { perSecond, micros: Object.fromEntries(micros) }
    },
    async stop() {
      await stop(service.child)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}

const sum = ({ micros }: Round) => Object.values(micros).reduce((all, one) => all + one, 0)
const shown = (values: number[]) => `${median(values).toFixed(2)} (${values.map((one) => one.toFixed(2)).join(', ')})`

/** Such as "plain 2000/s; callers 700 + service 500 + server 130 = 1330 us". */
function line(name: string, rounds: Round[]): string {
  const parts = Object.keys(rounds[0]!.micros).map(
    (part) => `${part} ${median(rounds.map(({ micros }) => micros[part]!)).toFixed(0)}`
  )
  const rate = median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)
  return `  ${name} ${rate}/s; ${parts.join(' + ')} = ${median(rounds.map(sum)).toFixed(0)} us`
}

/**
 * Measures both engines in turn, because other programs on the machine would otherwise favour one. All share its
 * processors, so the ratio of rates can only follow that of processor time, which a busy machine disturbs less.
 */
export async function printRatios(engines: { plain: Engine; citus: Engine }, rounds: number): Promise<void> {
  const [plain, citus] = [await contestant(engines.plain), await contestant(engines.citus)]
  try {
    for (const kind of ['users', 'messages'] as const) {
      const pairs: [Round, Round][] = []
      for (let round = 0; round <= rounds; round += 1) pairs.push([await plain.round(kind), await citus.round(kind)])
      // The first round fills caches.
      const measured = pairs.slice(1)
      const rates = measured.map(([one, two]) => two.perSecond / one.perSecond)
      console.log(`${kind}: ratio of rates ${shown(rates)}`)
      console.log(`  ratio of processor time ${shown(measured.map(([one, two]) => sum(one) / sum(two)))}`)
      for (const [index, name] of ['plain', 'Citus'].entries())
        console.log(
          line(
            name,
            measured.map((pair) => pair[index]!)
          )
        )
    }
  } finally {
    await Promise.all([plain.stop(), citus.stop()])
  }
}
