import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, start, stop } from '../../../bench/support/load.ts'

const token = 'svc_at_ratios'
const secretKey = 'svc_sk_ratios'
const roundMs = 3_000
const connections = 64
const projects = 4
const people = 200

/** A service on one engine, with the work that is measured. */
async function contestant(url: string) {
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
  return {
    async round(kind: keyof typeof works): Promise<number> {
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
      return (done * 1_000) / (performance.now() - beganMs)
    },
    async stop() {
      await stop(service.child)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}

/** Measures both engines in turn, because other programs on the machine would otherwise favour one. */
export async function printRatios(plainUrl: string, citusUrl: string, rounds: number): Promise<void> {
  const [plain, citus] = [await contestant(plainUrl), await contestant(citusUrl)]
  try {
    for (const kind of ['users', 'messages'] as const) {
      const pairs: [number, number][] = []
      for (let round = 0; round <= rounds; round += 1) pairs.push([await plain.round(kind), await citus.round(kind)])
      // The first round fills caches.
      const measured = pairs.slice(1)
      const ratios = measured.map(([one, two]) => two / one)
      const [one, two] = [0, 1].map((index) => Math.round(median(measured.map((pair) => pair[index]!))))
      console.log(
        `${kind}: plain ${one}/s, Citus ${two}/s, ratio ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`
      )
    }
  } finally {
    await Promise.all([plain.stop(), citus.stop()])
  }
}
