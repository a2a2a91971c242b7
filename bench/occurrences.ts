// A campaign at 9 o'clock on the clock of each user, for many users in forty zones: the time until all of its triggers have
// ended, the messages, and the most memory of the service. One user in a hundred has a phone. All zones are due at once,
// which is more at a time than a day ever brings. Uses the embedded engine, a new one for each size:
//   node bench/occurrences.ts [users …]
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { report } from './support/figures.ts'
import { stop } from './support/load.ts'
import { cpuMs, mostMegabytes } from './support/usage.ts'

const sizes = process.argv.slice(2).map(Number)
if (sizes.length === 0) sizes.push(10_000, 100_000)
const port = 18_441
const base = `http://127.0.0.1:${port}`
const zones = Intl.supportedValuesOf('timeZone').filter((_, index) => index % 10 === 0)
const hourMs = 3_600_000

async function start(dataDir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['bin/tidings.js', 'serve'], {
    cwd: resolve(import.meta.dirname, '..'),
    stdio: 'ignore',
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'error' }
  })
  process.on('exit', () => child.kill('SIGKILL'))
  for (let left = 600; left > 0; left -= 1) {
    const reply = await fetch(`${base}/readyz`).catch(() => undefined)
    if (reply?.status === 200) return child
    await sleep(100)
  }
  throw new Error('it was not ready within a minute')
}

/** The embedded engine listens on a socket in a folder that its own file names. */
async function connect(dataDir: string): Promise<pg.Client> {
  const [, , , socketPort, folder] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  const client = new pg.Client({ host: folder!, port: Number(socketPort), user: 'tidings', database: 'tidings' })
  await client.connect()
  return client
}

async function fill(db: pg.Client, project: string, users: number): Promise<void> {
  const id = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`
  await db.query(
    `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
     select $1, ${id}, 'user-' || n, jsonb_build_object('timezone', ($2::text[])[1 + n % cardinality($2::text[])]), now(), now()
       from generate_series(1, $3::int) as n`,
    [project, zones, users]
  )
  await db.query(
    `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
     select $1, 'device-' || n, ${id}, 'IOS', true, '{}', now(), now(), now() from generate_series(100, $2::int, 100) as n`,
    [project, users]
  )
  await db.query(
    `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
     select $1, sha256(('bench' || n)::bytea), 'device-' || n, encode(sha256(('bench' || n)::bytea), 'hex'), 'APNS',
            'production', now() from generate_series(100, $2::int, 100) as n`,
    [project, users]
  )
  await db.query('vacuum analyze users, devices, push_tokens')
}

/** Saves a campaign whose time has passed in every zone, and lets the schedule believe that it has not run since. */
async function occur(db: pg.Client, project: string, adminToken: string): Promise<void> {
  // The clocks of the earth are apart by 26 hours.
  const local = new Date(Date.now() - 14 * hourMs).toISOString().slice(0, 16)
  const reply = await fetch(`${base}/manage/v1/projects/${project}/campaigns/digest`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Digest',
      type: 'scheduled',
      status: 'active',
      schedule: { at: local, timezone: 'user', late: '2d' },
      default_audience: { broadcast: true },
      message: { title: 'Your digest' }
    })
  })
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`)
  const since = new Date(Date.now() - 40 * hourMs)
  await db.query('update schedules set done_until = $2, next_at = $2 where project_id = $1', [project, since])
}

const found: [users: number, micros: number, perSecond: number][] = []

async function measure(users: number): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
  const child = await start(dataDir)
  try {
    await sleep(500)
    const { project_id: project, admin_token } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
    const db = await connect(dataDir)
    await fill(db, project, users)
    const before = { cpuMs: cpuMs(child.pid!), mb: mostMegabytes(child.pid!) }
    await occur(db, project, admin_token)
    const beganMs = performance.now()
    const state = `select count(*)::int as triggers, count(*) filter (where ended_at is null)::int as open,
      sum(sent)::int as sent from triggers where project_id = $1 and campaign_id = 'digest'`
    let now = { triggers: 0, open: 1, sent: 0 }
    while (now.triggers === 0 || now.open > 0) {
      if (performance.now() - beganMs > 1_800_000) throw new Error(`not ended in half an hour: ${JSON.stringify(now)}`)
      await sleep(200)
      now = (await db.query(state, [project])).rows[0]
    }
    const seconds = (performance.now() - beganMs) / 1000
    const reached = `select count(distinct device_id)::int as phones, (select count(*)::int from devices where project_id = $1)
      as all from messages where project_id = $1 and campaign_id = 'digest'`
    const { phones, all } = (await db.query(reached, [project])).rows[0]
    await db.end()
    const cpu = (cpuMs(child.pid!) - before.cpuMs) / 1000
    console.log(
      `${users} users: ${now.triggers} triggers ended in ${seconds.toFixed(1)} s (${Math.round(users / seconds)} users a second), ` +
        `${now.sent} messages to ${phones} phones, ${cpu.toFixed(1)} s of CPU, most memory ${Math.round(mostMegabytes(child.pid!))} MB (${Math.round(before.mb)} before)`
    )
    found.push([users, (cpu * 1e6) / users, users / seconds])
    if (phones !== all || now.sent !== all) throw new Error(`not each of ${all} phones got one message`)
  } finally {
    await stop(child)
    rmSync(dataDir, { recursive: true, force: true })
  }
}

for (const users of sizes) await measure(users)
report({
  name: 'a campaign on the clock of each user',
  value: found.at(-1)![2],
  unit: 'users/s',
  better: 'more',
  growth: { of: 'users', unit: 'µs of the service for a user', points: found.map(([users, micros]) => [users, micros]) }
})
process.exit(0)
