// The effect of a project at three times the capacity on a quiet one, and on its own accepted requests:
//   npm run bench:fairness -- [--seconds 3] [--rounds 5]
// One process of the service on a PostgreSQL of its own. The load comes from a process of its own, at a steady rate and not
// after each response; the quiet project asks 40 times a second. With the limit of requests off, and with the default.
// Both are measured from a second after the load began on: before that comes a burst, which is served late rather than
// refused. Its p99 is printed apart. Each round measures the quiet project alone and beside the load; the figures are
// medians of the rounds, because one pause of the machine decides a single p99. The process of the load has a lower
// priority: it stands for other machines, and takes no time from the service on this one. So it reads responses late, and
// the times of the noisy project are those of a probe, which asks 200 times a second for that project from the process of
// the quiet one. The times that the load itself saw are printed apart.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { report } from './support/figures.ts'
import { start, stop } from './support/load.ts'
import { openLane, percentile } from './support/sockets.ts'

interface Load {
  port: number
  id: string
  key: string
  /** Requests a second; 0: each of 64 connections as fast as it can. */
  rate: number
  seconds: number
  /** The first second is counted apart. */
  lead?: boolean
}
interface Loaded {
  /** Milliseconds of each request that was accepted; with `lead` without those of the first second. */
  accepted: number[]
  /** Those of the first second. */
  first: number[]
  byStatus: Record<string, number>
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    load: { type: 'string' }
  }
})
const seconds = Number(values.seconds)
const mostLanes = 600

function requestOf({ id, key }: Pick<Load, 'id' | 'key'>, n: number): string {
  const body = `{"project_user_id":"user-${n % 5_000}","properties":{"plan":"premium","age":${n % 90}}}`
  return `POST /api/v1/users HTTP/1.1\r\nHost: a\r\nX-Service-Project-ID: ${id}\r\nX-Service-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Sends at a rate; a request for which no connection is free is left out. */
async function run(load: Load, lanes = mostLanes): Promise<Loaded> {
  const open = Array.from({ length: load.rate === 0 ? 64 : lanes }, () => openLane(load.port))
  const loaded: Loaded = { accepted: [], first: [], byStatus: {} }
  const began = performance.now()
  let sent = 0
  const ask = (lane: (typeof open)[number]) => {
    sent += 1
    const early = load.lead && performance.now() - began < 1_000
    lane.ask(requestOf(load, sent), (status, ms) => {
      if (status === 200) (early ? loaded.first : loaded.accepted).push(ms)
      loaded.byStatus[status] = (loaded.byStatus[status] ?? 0) + 1
    })
  }
  let turn = 0
  while (performance.now() - began < load.seconds * 1000) {
    const due = load.rate === 0 ? Infinity : ((performance.now() - began) / 1000) * load.rate
    for (let tried = 0; tried < open.length && sent < due; tried += 1) {
      const lane = open[turn++ % open.length]!
      if (!lane.busy) ask(lane)
    }
    if (load.rate > 0 && sent < due) sent = Math.floor(due)
    await sleep(1)
  }
  await sleep(300)
  for (const lane of open) lane.close()
  return loaded
}

if (values.load) {
  setPriority(10)
  const loaded = await run(JSON.parse(values.load))
  await new Promise((sent) => process.send!(loaded, sent))
  process.exit(0)
}

async function elsewhere(load: Load): Promise<Loaded> {
  const child = fork(import.meta.filename, ['--load', JSON.stringify(load)])
  const [loaded] = (await once(child, 'message')) as [Loaded]
  return loaded
}

const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }))
const token = `svc_at_${'b'.repeat(43)}`
const { child, url } = await start(process.execPath, [resolve(import.meta.dirname, '../bin/tidings.js'), 'serve'], {
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'error',
  BOOTSTRAP_ADMIN_TOKEN: token
})
const port = Number(new URL(url).port)

async function project(limit?: number): Promise<{ id: string; key: string }> {
  const manage = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/manage/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await response.json()) as { id: string; key: string }
  }
  const limits = limit === undefined ? undefined : { requests_per_second: limit }
  const { id } = await manage('/projects', { name: 'bench', ...(limits && { limits }) })
  const { key } = await manage(`/projects/${id}/keys`, { kind: 'secret', name: 'bench' })
  return { id, key }
}

const quietly = { port, rate: 40, seconds }
const p99 = ({ accepted }: Loaded) => percentile(accepted, 0.99)
const p50 = ({ accepted }: Loaded) => percentile(accepted, 0.5)
const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0)

interface Round {
  alone: Loaded
  beside: Loaded
  /** The noisy project as its probe saw it. */
  probed: Loaded
  loaded: Loaded
}

async function measure(quiet: Pick<Load, 'id' | 'key'>, noisy: Pick<Load, 'id' | 'key'>): Promise<Round> {
  const alone = await run({ ...quietly, ...quiet }, 8)
  const loading = elsewhere({ port, ...noisy, rate: capacity * 3, seconds: seconds + 2, lead: true })
  await sleep(1_000)
  const [beside, probed] = await Promise.all([
    run({ ...quietly, ...quiet }, 8),
    run({ ...quietly, ...noisy, rate: 200 }, 32)
  ])
  return { alone, beside, probed, loaded: await loading }
}

const spent = await project(0)
await elsewhere({ port, ...spent, rate: 0, seconds: 2 })
const capacity = (await elsewhere({ port, ...spent, rate: 0, seconds: 3 })).accepted.length / 3
console.log(`capacity: ${capacity.toFixed(0)} upserts a second at 64 connections`)

for (const [name, limit] of [
  ['off', 0],
  ['default', undefined]
] as const) {
  const [quiet, noisy] = [await project(), await project(limit)]
  await run({ ...quietly, ...quiet, seconds: 1 }, 8)
  const rounds: Round[] = []
  for (let round = 0; round < Number(values.rounds); round += 1) rounds.push(await measure(quiet, noisy))
  const middle = (figure: (round: Round) => number) => percentile(rounds.map(figure), 0.5)
  const shown = (figure: (round: Round) => Loaded) =>
    `p50 ${middle((round) => p50(figure(round))).toFixed(1)} ms  p99 ${middle((round) => p99(figure(round))).toFixed(1)} ms`
  const times = (figure: (round: Round) => Loaded) =>
    `${middle((round) => p99(figure(round)) / p99(round.alone)).toFixed(1)} times`
  const perSecond = middle(({ loaded }) => (loaded.byStatus['200'] ?? 0) / (seconds + 2))
  const refused = rounds.reduce((sum, { beside }) => sum + sumOf(beside.byStatus) - beside.accepted.length, 0)
  const probes = middle(({ probed }) => probed.accepted.length)
  const first = middle(({ loaded }) => percentile(loaded.first, 0.99))
  console.log(
    `\nlimit ${name}: ${(capacity * 3).toFixed(0)} requests a second were sent, ${perSecond.toFixed(0)} accepted`
  )
  console.log(`quiet alone     ${shown(({ alone }) => alone)}`)
  console.log(
    `quiet beside it ${shown(({ beside }) => beside)}  ${times(({ beside }) => beside)} (goal 3), refused ${refused}`
  )
  report({
    name: `p99 of a quiet project beside a saturating one, limit of requests ${name}`,
    value: middle((round) => p99(round.beside) / p99(round.alone)),
    unit: '× alone',
    better: 'less',
    goal: 3
  })
  console.log(
    `noisy accepted  ${shown(({ probed }) => probed)}  ${times(({ probed }) => probed)} (goal 5); ${probes} accepted in a round
noisy, as the load saw it: ${shown(({ loaded }) => loaded)}; in the first second p99 ${first.toFixed(1)} ms`
  )
}
await stop(child)
process.exit(0)
