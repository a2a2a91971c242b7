// POST /events beside active event campaigns, interleaved in one run:
//   npm run bench:event-campaigns -- [--seconds 3] [--rounds 5] [--campaigns 100] [--wanted 50]
// One service, two projects with the same devices. One project has no campaign; the other has campaigns that react to one
// event each. `wanted` percent of the events have a name that some campaign waits for; each of these is queued and compared
// with its campaign's conditions, beside the load and in the same process. No event meets the conditions: what a push costs
// is measured elsewhere. Needs wrk.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { report } from './support/figures.ts'
import { type Measured, median, start, stop, times, wrk } from './support/load.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '5' },
    campaigns: { type: 'string', default: '100' },
    wanted: { type: 'string', default: '50' }
  }
})
const [seconds, rounds, campaigns] = [Number(values.seconds), Number(values.rounds), Number(values.campaigns)]
const names = Math.round((campaigns * 100) / Math.max(1, Number(values.wanted)))
const devices = 1_000
const connections = 64
const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const dataDir = join(folder, 'data')
const tidings = await start(process.execPath, [join(root, 'bin/tidings.js'), 'serve'], {
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
  MASTER_KEY: Buffer.alloc(32).toString('base64')
})
const { admin_token } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))

async function call(path: string, method: string, body: unknown, headers: Record<string, string>) {
  const reply = await fetch(`${tidings.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body)
  })
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
  return reply.json() as Promise<Record<string, string>>
}
const manage = (path: string, method: string, body: unknown) =>
  call(`/manage/v1${path}`, method, body, { authorization: `Bearer ${admin_token}` })

/** A project with devices and campaigns. Returns the headers of its calls. */
async function project(count: number): Promise<Record<string, string>> {
  const { id } = await manage('/projects', 'POST', { name: `${count} campaigns`, limits: { requests_per_second: 0 } })
  const { key } = await manage(`/projects/${id}/keys`, 'POST', { kind: 'secret', name: 'bench' })
  const keys = { 'X-Service-Project-ID': id!, 'X-Service-API-Key': key!, 'Content-Type': 'application/json' }
  for (let from = 0; from < devices; from += 100)
    await call(
      '/api/v1/devices',
      'POST',
      { devices: Array.from({ length: 100 }, (_, n) => ({ id: `d${from + n + 1}`, platform: 'IOS' })) },
      keys
    )
  for (let n = 0; n < count; n += 1)
    await manage(`/projects/${id}/campaigns/c${n}`, 'PUT', {
      name: `Campaign ${n}`,
      type: 'event_triggered',
      status: 'active',
      event_trigger: {
        event: `event-${n}`,
        where: [{ attribute: 'event.amount', operator: 'greater_than', value: 1_000_000 }]
      },
      message: { title: 'Thanks for {{ event.amount }}' }
    })
  return keys
}

const event = `'{"events":[{"device_id":"d' .. n .. '","name":"event-' .. math.random(0, ${names - 1}) .. '","properties":{"amount":' .. (n % 90) .. ',"currency":"EUR"}}]}'`
const contestants = new Map<string, Record<string, string>>([
  ['no campaign', await project(0)],
  [`${campaigns} campaigns`, await project(campaigns)]
])
const results = new Map<string, Measured[]>([...contestants.keys()].map((who) => [who, []]))
for (let round = 0; round < rounds + 1; round += 1)
  // The first round warms caches and compilers up and is not counted. Each round begins with the other project.
  for (const [who, headers] of round % 2 === 0 ? contestants : [...contestants].reverse()) {
    const load = {
      url: tidings.url,
      path: '/api/v1/events',
      headers,
      body: event,
      users: devices,
      connections,
      seconds
    }
    const measured = await wrk(tidings.child.pid!, load, join(folder, 'load.lua'))
    if (round > 0) results.get(who)!.push(measured)
  }

console.log(
  `POST /events, one event a request, ${connections} connections, ${rounds} rounds of ${seconds} s, medians; ${values.wanted} % of the events have a name that a campaign waits for`
)
for (const [who, all] of results) {
  const of = (field: keyof Measured) => median(all.map((each) => each[field]))
  console.log(
    `${who.padEnd(16)}${of('perSecond').toFixed(0).padStart(8)} events/s  p99 ${of('p99Ms').toFixed(1)} ms  CPU ${of('cpuMicrosPerRequest').toFixed(0)} µs  failed ${of('failed')}`
  )
}
const [none, some] = [...results.values()] as [Measured[], Measured[]]
console.log(
  `An event costs ${times(none, some).toFixed(2)} times as much time beside ${campaigns} campaigns (at most 1.2)`
)
report({
  name: `an event beside ${campaigns} event campaigns`,
  value: times(none, some),
  unit: '× the time without',
  better: 'less',
  goal: 1.2
})
await stop(tidings.child)
