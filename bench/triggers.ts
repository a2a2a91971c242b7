// Triggers for one user each, from the call to the gateway:
//   npm run bench:triggers -- [--triggers 20000] [--connections 64] [--rate 500] [--seconds 10] [--statements]
// One process of the service, a PostgreSQL and APNs (which accepts and counts at the least cost) in processes of their own; the load
// comes from this process. First at a steady rate, not after each response: how long after its acceptance the push is at the
// gateway. Then as fast as the connections get responses: triggers accepted and sent a second, and the CPU of each part.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Arrivals } from './support/apns-gateway.ts'
import { report } from './support/figures.ts'
import { tokenOf } from './support/people.ts'
import { type Sending, startSending } from './support/sending.ts'
import { openLane, percentile } from './support/sockets.ts'

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
const now = () => performance.timeOrigin + performance.now()

type Running = Sending & { request: (user: number) => string }

/** Waits until the gateway has counted so many pushes since it was last asked. */
async function untilSent({ arrivals }: Sending, wanted: number): Promise<Arrivals['watched']> {
  const watched: Arrivals['watched'] = []
  const until = Date.now() + 120_000
  for (let counted = 0; ; ) {
    const more = await arrivals()
    watched.push(...more.watched)
    counted += more.counted
    if (counted >= wanted) return watched
    if (Date.now() > until) throw new Error(`${counted} of ${wanted} pushes arrived`)
    await sleep(5)
  }
}

/** Sends at a steady rate. Each trigger is for another user, so that its push is recognised. */
async function paced(running: Running): Promise<void> {
  const { port, arrivals, request } = running
  const total = rate * seconds
  const lanes = Array.from({ length: 200 }, () => openLane(port))
  const free = [...lanes]
  const times = new Map<string, { calledAt: number; acceptedAt: number }>()
  let [sent, failed] = [0, 0]
  await arrivals()
  const parts = running.usage()
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
  const watched = await untilSent(running, total - failed)
  const cpu = parts(total)
  for (const lane of lanes) lane.close()
  const afterAccepted = watched.map(([pushed, at]) => Math.max(0, at - times.get(pushed)!.acceptedAt))
  const afterCall = watched.map(([pushed, at]) => at - times.get(pushed)!.calledAt)
  const accepted = [...times.values()].map(({ calledAt, acceptedAt }) => acceptedAt - calledAt)
  const shares = (all: number[]) =>
    `p50 ${percentile(all, 0.5).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms`
  console.log(
    `${rate} triggers a second, ${total} in all, ${failed} failed: accepted → gateway ${shares(afterAccepted)}; call → accepted ` +
      `${shares(accepted)}; call → gateway ${shares(afterCall)}, last ${Math.max(...afterCall).toFixed(0)} ms; ${cpu}`
  )
  const arrived = { unit: 'ms', better: 'less', note: `${rate} a second` } as const
  for (const [share, goal] of [
    [0.5, 10],
    [0.99, 50]
  ] as const) {
    const name = `trigger for one user, accepted → gateway, p${share * 100}`
    report({ name, value: percentile(afterAccepted, share), goal, ...arrived })
  }
}

/** Sends the next trigger of a connection after each response. */
async function flat(running: Running): Promise<void> {
  const { service, port, arrivals, request } = running
  const lanes = Array.from({ length: connections }, () => openLane(port))
  let [asked, failed] = [0, 0]
  await arrivals()
  if (flags.statements) service.child.kill('SIGUSR2')
  const parts = running.usage()
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
  await untilSent(running, triggers - failed)
  const all = (performance.now() - began) / 1000
  const cpu = parts(triggers)
  for (const lane of lanes) lane.close()
  console.log(
    `${triggers} triggers over ${connections} connections, ${failed} failed: ${Math.round(triggers / accepted)}/s accepted (p50 ` +
      `${percentile(took, 0.5).toFixed(0)} ms), all sent at ${Math.round((triggers - failed) / all)}/s; ${cpu}`
  )
  if (flags.statements) service.child.kill('SIGUSR2')
  await sleep(500)
  const rates = { unit: 'triggers/s', better: 'more', goal: 4_000 } as const
  report({ name: 'triggers for one user each, accepted', value: triggers / accepted, ...rates })
  report({ name: 'triggers for one user each, sent', value: (triggers - failed) / all, ...rates })
}

async function prepare({ manage, project: { id, key } }: Sending): Promise<(user: number) => string> {
  const campaign = { name: 'News', status: 'active', message: { title: 'Hello {{ user.name }}', body: 'News' } }
  await manage('PUT', `/projects/${id}/campaigns/news`, campaign)
  const head =
    `POST /api/v1/campaigns/news:trigger HTTP/1.1\r\nHost: a\r\nX-Service-Project-ID: ${id}\r\n` +
    `X-Service-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: `
  return (user) => {
    const body = `{"audience":{"targets":[{"project_user_id":"user-${user}"}]},"properties":{"order":${user}}}`
    return `${head}${body.length}\r\n\r\n${body}`
  }
}

const counting = flags.statements ? ['--import', `${import.meta.dirname}/support/statements.ts`] : []
const sending = await startSending({ users, watched: rate * seconds }, counting)
try {
  const running: Running = { ...sending, request: await prepare(sending) }
  // Opens connections, compiles and makes plans before anything is measured.
  const lane = openLane(sending.port)
  for (let n = 1; n <= 300; n += 1) await new Promise<void>((resolve) => lane.ask(running.request(n), () => resolve()))
  lane.close()
  await untilSent(sending, 300)
  await sleep(2_000)
  if (seconds > 0) await paced(running)
  if (triggers > 0) await flat(running)
} finally {
  await sending.close()
}
