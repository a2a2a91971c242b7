// What a pooler in transaction mode costs: users and messages through pgbouncer and directly, in turns:
//   npm run bench:pooler -- [--seconds 3] [--rounds 5]
// One service each, on one embedded server. Needs wrk and pgbouncer (Debian's packages have these names).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { startEmbedded } from '../src/platform/db/embedded/embedded.ts'
import { startPgbouncer } from '../test/support/pgbouncer.ts'
import { report } from './support/figures.ts'
import { type Measured, median, start, stop, times, wrk } from './support/load.ts'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '5' } }
})
const seconds = Number(values.seconds)
const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const token = `svc_at_${'b'.repeat(43)}`
const server = await startEmbedded({ dataDir: join(folder, 'server'), say: console.error })
const pgbouncer = await startPgbouncer(server.url, 'transaction', { default_pool_size: 20 })

async function service(name: string, how: (url: string) => Record<string, string>) {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(`create database ${name} template template0 encoding 'UTF8'`)
  await client.end()
  const dataDir = join(folder, name)
  const to = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href
  const tidings = await start(process.execPath, [resolve(import.meta.dirname, '../bin/tidings.js'), 'serve'], {
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'error',
    BOOTSTRAP_ADMIN_TOKEN: token,
    ...Object.fromEntries(
      Object.entries(how(server.url)).map(([key, value]) => [key, /:/.test(value) ? to(value) : value])
    )
  })
  const manage = async (method: string, path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${tidings.url}/manage/v1${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }
  await manage('PATCH', '/projects/demo', { limits: { requests_per_second: 0, client_requests_per_second: 0 } })
  for (let user = 1; user <= 200; user += 1)
    await manage('POST', '/projects/demo/simulator/devices', {
      platform: 'IOS',
      project_user_id: `u${user}`,
      device_id: `u${user}`
    })
  const { secret_key } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
  const headers = {
    'X-Service-Project-ID': 'demo',
    'X-Service-API-Key': secret_key,
    'Content-Type': 'application/json'
  }
  const load = (path: string, body: string, users: number) => () =>
    wrk(
      tidings.child.pid!,
      { url: tidings.url, path, headers, body, users, connections: 64, seconds },
      join(folder, 'load.lua')
    )
  return {
    child: tidings.child,
    users: load(
      '/api/v1/users',
      `'{"project_user_id":"user-' .. n .. '","properties":{"plan":"premium","age":' .. (n % 90) .. '}}'`,
      100_000
    ),
    messages: load(
      '/api/v1/messages:send',
      `'{"push_notifications":[{"target":{"project_user_id":"u' .. n .. '"},"title":"Hello","body":"there"}]}'`,
      200
    )
  }
}

const direct = await service('direct', (url) => ({ DATABASE_URL: url }))
const listening = await service('listening', (url) => ({
  DATABASE_URL: pgbouncer.url,
  DATABASE_POOLER: 'transaction',
  DATABASE_LISTEN_URL: url
}))
const polling = await service('polling', () => ({ DATABASE_URL: pgbouncer.url, DATABASE_POOLER: 'transaction' }))

for (const work of ['users', 'messages'] as const) {
  const contestants = { direct, 'pooler, listening': listening, 'pooler, polling': polling }
  const found = new Map<string, Measured[]>()
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const [name, contestant] of Object.entries(contestants))
      found.set(name, [...(found.get(name) ?? []), await contestant[work]()])
  for (const [name, measured] of found) {
    const perSecond = Math.round(median(measured.map((one) => one.perSecond)))
    const failed = measured.reduce((sum, one) => sum + one.failed, 0)
    const ratio = times(measured, found.get('direct')!).toFixed(2)
    const p99 = median(measured.map((one) => one.p99Ms)).toFixed(0)
    if (name !== 'direct')
      report({
        name: `${work} through a ${name}`,
        value: times(measured, found.get('direct')!),
        unit: '× direct',
        better: 'more'
      })
    console.log(
      `${work.padEnd(10)}${name.padEnd(20)}${perSecond} a second, ${ratio} of direct, p99 ${p99} ms, ${failed} failed`
    )
  }
}
for (const { child } of [direct, listening, polling]) await stop(child)
await pgbouncer.stop()
await server.stop()
