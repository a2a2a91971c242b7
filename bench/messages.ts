// Push notifications from the call to the response of the gateway, including database writes:
//   npm run bench:messages -- [--requests 40] [--large]
// Large requests, one after the other and two at once: one process of the service, with PostgreSQL and APNs (a light sink that
// accepts and counts) in processes of their own. Then (not with --large) single sends beside a project whose gateway is
// dead: one process with the simulated gateways inside it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { report } from './support/figures.ts'
import { start, stop } from './support/load.ts'
import { startSending } from './support/sending.ts'

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '40' }, large: { type: 'boolean', default: false } }
})
const requests = Number(values.requests)
const itemsEach = 500
const share = (sorted: number[], part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
const ms = (value: number) => `${value.toFixed(0)} ms`

/** Requests of many items, several at once. */
async function largeRequests(): Promise<void> {
  const sending = await startSending({ users: itemsEach })
  const { service, project, usage, arrivals } = sending
  const body = JSON.stringify({
    push_notifications: Array.from({ length: itemsEach }, (_, index) => ({
      target: { project_user_id: `user-${index + 1}` },
      title: 'Hello',
      body: 'x'.repeat(150)
    }))
  })
  const send = async () => {
    const response = await fetch(`${service.url}/api/v1/messages:send`, {
      method: 'POST',
      headers: {
        'x-service-project-id': project.id,
        'x-service-api-key': project.key,
        'content-type': 'application/json'
      },
      body
    })
    const answer = (await response.json()) as { delivery_results: { status: string }[] }
    if (!answer.delivery_results?.every(({ status }) => status.endsWith('SUCCEED')))
      throw new Error(JSON.stringify(answer).slice(0, 300))
  }
  // A service that has just started sends its first ten thousands more slowly: V8 has not compiled everything yet.
  for (let warm = 0; warm < 40; warm += 1) await send()
  for (const atOnce of [1, 2]) {
    await arrivals()
    const took: number[] = []
    const parts = usage()
    const began = performance.now()
    const lane = async () => {
      while (took.length + atOnce <= requests) {
        const from = performance.now()
        await send()
        took.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    const seconds = (performance.now() - began) / 1_000
    took.sort((a, b) => a - b)
    const items = took.length * itemsEach
    console.log(
      `${itemsEach} items a request, ${atOnce} at once: ${Math.round(items / seconds)} items/s, p50 ${ms(share(took, 0.5))}, ` +
        `p99 ${ms(share(took, 0.99))}; ${parts(items)}; ${(await arrivals()).counted} arrived`
    )
    if (atOnce > 1) continue
    const [rate, p50] = [items / seconds, share(took, 0.5)]
    report({ name: 'messages:send, 500 items a request', value: rate, unit: 'items/s', better: 'more', goal: 10_000 })
    report({ name: 'messages:send, 500 items, p50', value: p50, unit: 'ms', better: 'less', goal: 60 })
  }
  await sending.close()
}

await largeRequests()
if (values.large) process.exit(0)

const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
const token = `svc_at_${'b'.repeat(43)}`
const binary = resolve(import.meta.dirname, '../bin/tidings.js')
const { child, url } = await start(process.execPath, [binary, 'serve'], {
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'error',
  BOOTSTRAP_ADMIN_TOKEN: token
})

// biome-ignore lint/suspicious/noExplicitAny: a bench reads the fields it expects.
async function manage(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${url}/manage/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** A project without limits, whose users have a phone each: u0, u1 and so on. */
async function projectWith(users: number): Promise<string> {
  const limits = { requests_per_second: 0, client_requests_per_second: 0 }
  const { id } = await manage('POST', '/projects', { name: 'bench', mode: 'simulator', limits })
  for (let from = 0; from < users; from += 10) {
    const some = Array.from({ length: Math.min(10, users - from) }, (_, index) => `u${from + index}`)
    await Promise.all(
      some.map((name) =>
        manage('POST', `/projects/${id}/simulator/devices`, { platform: 'IOS', project_user_id: name, device_id: name })
      )
    )
  }
  return id
}

const send = (projectId: string, users: string[]) =>
  manage('POST', `/projects/${projectId}/api/v1/messages:send`, {
    push_notifications: users.map((name) => ({
      target: { project_user_id: name },
      title: 'Hello',
      body: 'x'.repeat(150)
    }))
  })

/** Repeats concurrently until it is stopped. Returns the time of each call and the number of failures. */
async function repeat(
  work: () => Promise<{ delivery_results: { status: string }[] }>,
  atOnce: number,
  seconds: number
) {
  const took: number[] = []
  let failed = 0
  const until = performance.now() + seconds * 1_000
  const lane = async () => {
    while (performance.now() < until) {
      const began = performance.now()
      const answer = await work().catch(() => undefined)
      took.push(performance.now() - began)
      if (!answer?.delivery_results.every(({ status }) => status.endsWith('SUCCEED'))) failed++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return { took: took.toSorted((a, b) => a - b), failed }
}

// The gateway of one project is down while another sends: the other must not be affected.
const [calm, troubled] = [await projectWith(20), await projectWith(20)]
const one = (projectId: string) => () => send(projectId, [`u${Math.floor(Math.random() * 20)}`])
for (const id of [calm, troubled]) await repeat(one(id), 4, 2)
const measured: { p99: number; failed: number }[] = []
for (const down of [false, true]) {
  await manage('PUT', `/projects/${troubled}/simulator/faults`, { apns: { down } })
  const [{ took, failed }] = await Promise.all([repeat(one(calm), 4, 15), repeat(one(troubled), 8, 15)])
  measured.push({ p99: share(took, 0.99), failed })
  console.log(
    `single sends beside a project whose gateway is ${down ? 'dead' : 'well'}: p50 ${ms(share(took, 0.5))}, ` +
      `p99 ${ms(share(took, 0.99))}, ${failed} of ${took.length} failed`
  )
}
console.log(
  `p99 beside the dead one is ${(measured[1]!.p99 / measured[0]!.p99).toFixed(2)} times that beside the other`
)

await stop(child)
rmSync(dataDir, { recursive: true, force: true })
process.exit(0)
