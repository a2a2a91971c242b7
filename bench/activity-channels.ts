// One change of a broadcast channel that many simulated activities listen to: requests to Apple, and the time until the
// caller has its result. Uses the embedded engine: node bench/activity-channels.ts [--activities 1000000] [--rounds 20]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const { values } = parseArgs({
  options: { activities: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '20' } }
})
const [activities, rounds] = [Number(values.activities), Number(values.rounds)]
const port = 18_439
const base = `http://127.0.0.1:${port}`
const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
const node = spawn(process.execPath, ['bin/tidings.js', 'serve'], {
  cwd: resolve(import.meta.dirname, '..'),
  stdio: 'ignore',
  env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'error' }
})

async function ready(): Promise<void> {
  for (let left = 600; left > 0; left -= 1) {
    const reply = await fetch(`${base}/readyz`).catch(() => undefined)
    if (reply?.status === 200) return
    await sleep(100)
  }
  throw new Error('it was not ready within a minute')
}

interface Credentials {
  project_id: string
  secret_key: string
  admin_token: string
}

async function call<Answer>(headers: object, method: string, path: string, body?: object): Promise<Answer> {
  const reply = await fetch(base + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) })
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return JSON.parse(text) as Answer
}

/** The embedded engine listens on a socket in a folder that its own file names. */
function database(): pg.Client {
  const [, , , socketPort, folder] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  return new pg.Client({ host: folder!, port: Number(socketPort), user: 'tidings', database: 'tidings' })
}

interface Inbox {
  items: { request: { path: string }; activities?: number; received_at: string }[]
}

async function run(): Promise<void> {
  await ready()
  await sleep(500)
  const { project_id, secret_key, admin_token }: Credentials = JSON.parse(
    readFileSync(join(dataDir, 'credentials.json'), 'utf8')
  )
  const asServer = { 'x-service-project-id': project_id, 'x-service-api-key': secret_key }
  const asAdmin = { authorization: `Bearer ${admin_token}` }
  const path = '/api/v1/live-activity-channels'
  const made = await call<{ channel_id: string; apns_channel_id: string }>(asServer, 'POST', path, {
    attributes_type: 'MatchAttributes',
    storage: 'most_recent'
  })
  const db = database()
  await db.connect()
  // Numbers of the inbox are positive, so these are older than anything that arrives.
  await db.query('update simulator_channels set ended_number = $1', [-activities - 1])
  await db.query(
    `insert into simulator_subscriptions (project_id, channel, number, device_id)
     select $1, $2, -n, 'phone-' || n from generate_series(1, $3::int) n`,
    [project_id, made.apns_channel_id, activities]
  )
  await db.end()
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const beganMs = performance.now()
    const { delivery_results: results } = await call<{ delivery_results: { status: string }[] }>(
      asServer,
      'POST',
      `${path}/${made.channel_id}:update`,
      { content_state: { home: round } }
    )
    times.push(performance.now() - beganMs)
    if (!results[0]?.status.endsWith('SUCCEED')) throw new Error(JSON.stringify(results))
    await sleep(1_000)
  }
  await sleep(1_000)
  const { items } = await call<Inbox>(asAdmin, 'GET', `/manage/v1/projects/${project_id}/simulator/inbox?limit=200`)
  const broadcasts = items.filter(({ request }) => request.path.startsWith('/4/broadcasts/'))
  report({
    name: `one change of a channel that ${activities.toLocaleString('en')} activities follow`,
    value: median(times),
    unit: 'ms',
    better: 'less'
  })
  process.stdout.write(
    `${rounds} changes of ${broadcasts[0]?.activities} activities: ${items.length} requests to Apple, of them ` +
      `${broadcasts.length} broadcasts; median ${median(times).toFixed(0)} ms, first ${times[0]!.toFixed(0)} ms, ` +
      `longest ${Math.max(...times).toFixed(0)} ms\n`
  )
}

try {
  await run()
} finally {
  node.kill('SIGTERM')
  await new Promise((resolve) => node.once('exit', resolve))
  rmSync(dataDir, { recursive: true, force: true })
}
