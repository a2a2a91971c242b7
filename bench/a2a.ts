// SendMessage (create-user) at 50 connections, durable, beside the official SDK's own server, which keeps its tasks in
// memory, and beside a bare echo, interleaved in one run:
//   node bench/a2a.ts [--seconds 3] [--rounds 7]
// On the embedded server, or on BENCH_DATABASE_URL where it is set, whose CPU time is then not known. Needs wrk
// (Debian: wrk).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { report } from './support/figures.ts'
import { type Measured, median, microsBelow, type Started, start, stop, times, wrk } from './support/load.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '7' } }
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
const connections = 50
const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

// Every message has its own id: a repeat would only replay the first response.
const body = `'{"jsonrpc":"2.0","id":' .. (n % 1000) .. ',"method":"SendMessage","params":{"message":{"messageId":"m-' .. n .. '-' .. math.random(1, 1000000000) .. '","role":"ROLE_USER","parts":[{"data":{"skill":"create-user","projectUserId":"user-' .. (n % 100000) .. '","properties":{"plan":"premium","age":31,"vip":true}}}]}}}'`

const dataDir = join(folder, 'data')
const tidings = await start(process.execPath, [join(root, 'bin/tidings.js'), 'serve'], {
  ...(process.env.BENCH_DATABASE_URL && { DATABASE_URL: process.env.BENCH_DATABASE_URL }),
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
  MASTER_KEY: Buffer.alloc(32).toString('base64')
})
const { admin_token, secret_key } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
const unlimited = await fetch(`${tidings.url}/manage/v1/projects/demo`, {
  method: 'PATCH',
  headers: { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' },
  body: '{"limits":{"requests_per_second":0}}'
})
if (!unlimited.ok) throw new Error(`the limit was not lifted: ${unlimited.status}`)
const sdk = await start(process.execPath, [join(root, 'bench/peers/a2a-sdk.js')])
const echo = await start(process.execPath, [join(root, 'bench/peers/echo.ts')])

const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0', 'X-API-Key': secret_key }
await check(tidings)
await check(sdk)

const contestants: [string, Started][] = [
  ['bare node:http echo', echo],
  ['official SDK, in memory', sdk],
  ['Tidings, durable', tidings]
]
/** Includes the database's share of each call, if the contestant started the database. */
type Result = Measured & { database: number }
const results = new Map<string, Result[]>(contestants.map(([who]) => [who, []]))
for (let round = 0; round <= rounds; round += 1) {
  // The first round warms up and is not counted.
  for (const [who, { child, url }] of contestants) {
    const load = { url, path: '/a2a', headers, body, users: 2_000_000_000, connections, seconds }
    const before = microsBelow(child.pid!)
    const measured = await wrk(child.pid!, load, join(folder, 'load.lua'))
    const database = (microsBelow(child.pid!) - before) / (measured.perSecond * seconds)
    if (round > 0) results.get(who)!.push({ ...measured, database })
  }
}

const of = (who: string, field: keyof Result) => median(results.get(who)!.map((each) => each[field]))
console.log(`\nSendMessage (create-user), ${connections} connections, ${rounds} rounds of ${seconds} s, medians`)
console.log(
  `${'who'.padEnd(26)}${'calls/s'.padStart(9)}${'p99 ms'.padStart(9)}${'CPU µs'.padStart(8)}${'database'.padStart(10)}${'failed'.padStart(8)}`
)
for (const who of results.keys())
  console.log(
    `${who.padEnd(26)}${of(who, 'perSecond').toFixed(0).padStart(9)}${of(who, 'p99Ms').toFixed(1).padStart(9)}` +
      `${of(who, 'cpuMicrosPerRequest').toFixed(0).padStart(8)}${of(who, 'database').toFixed(0).padStart(10)}` +
      of(who, 'failed').toFixed(0).padStart(8)
  )
const [bare, peer, ours] = contestants.map(([who]) => results.get(who)!) as [Result[], Result[], Result[]]
console.log(
  `Tidings is ${times(ours, peer).toFixed(2)} times the SDK's server and ${times(ours, bare).toFixed(2)} of the echo, medians of the rounds' ratios`
)
report({
  name: 'A2A SendMessage, durable',
  value: of('Tidings, durable', 'perSecond'),
  unit: 'calls/s',
  better: 'more',
  goal: 3.5 * of('official SDK, in memory', 'perSecond'),
  peers: { 'official SDK, in memory': of('official SDK, in memory', 'perSecond') },
  limit: { name: 'bare node:http echo', value: of('bare node:http echo', 'perSecond') }
})
await Promise.all(contestants.map(([, { child }]) => stop(child)))

/** Checks that both really do the work. */
async function check({ url }: Started): Promise<void> {
  const message = {
    messageId: 'check',
    role: 'ROLE_USER',
    parts: [{ data: { skill: 'create-user', projectUserId: 'a' } }]
  }
  const sent = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } })
  const reply = (await (await fetch(`${url}/a2a`, { method: 'POST', headers, body: sent })).json()) as {
    result?: { task?: { status: { state: string }; artifacts: unknown[] } }
  }
  const { status, artifacts = [] } = reply.result?.task ?? {}
  if (status?.state !== 'TASK_STATE_COMPLETED' || artifacts.length !== 1)
    throw new Error(`${url} answered ${JSON.stringify(reply)}`)
}
