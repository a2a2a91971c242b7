// Time from kill -9 of the node, or of its PostgreSQL, to the next 200 of /readyz, on the embedded engine while users are
// written: node bench/restart.ts [--rounds 5] [--seconds 15] [--of node|postgres] [--say]
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { report } from './support/figures.ts'
import { median } from './support/load.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '15' },
    of: { type: 'string', default: 'node' },
    say: { type: 'boolean', default: false }
  }
})
const root = resolve(import.meta.dirname, '..')
const port = 18_438
const base = `http://127.0.0.1:${port}`

function start(dataDir: string): ChildProcess {
  return spawn(process.execPath, ['bin/tidings.js', 'serve'], {
    cwd: root,
    stdio: values.say ? 'inherit' : 'ignore',
    env: { ...process.env, DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'error' }
  })
}

async function readyAfter(beganMs: number): Promise<number> {
  for (;;) {
    const ready = await fetch(`${base}/readyz`).catch(() => undefined)
    if (ready?.status === 200) return performance.now() - beganMs
    if (performance.now() - beganMs > 60_000) throw new Error('it was not ready within 60 s')
    await sleep(5)
  }
}

/** Eight writers of whole batches, so that much is dirty when the kill comes. */
async function write(dataDir: string, until: () => boolean): Promise<number> {
  const { project_id, secret_key } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
  const headers = {
    'x-service-project-id': project_id,
    'x-service-api-key': secret_key,
    'content-type': 'application/json'
  }
  let written = 0
  async function writer(name: number): Promise<void> {
    for (let batch = 0; !until(); batch += 1) {
      const users = Array.from({ length: 200 }, (_, n) => ({
        project_user_id: `u-${name}-${batch}-${n}`,
        properties: { n, text: 'x'.repeat(200) }
      }))
      const body = JSON.stringify({ users })
      const reply = await fetch(`${base}/api/v1/users:batch`, { method: 'POST', headers, body }).catch(() => undefined)
      if (reply?.ok) written += users.length
      else if (!until()) await sleep(50)
      await reply?.text().catch(() => {})
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)))
  return written
}

const pidIn = (file: string) => Number(readFileSync(file, 'utf8').split('\n')[0])
const times: number[] = []
for (let round = 0; round < Number(values.rounds); round += 1) {
  const dataDir = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
  let node = start(dataDir)
  await readyAfter(performance.now())
  await sleep(500)
  let over = false
  const writing = write(dataDir, () => over)
  await sleep(Number(values.seconds) * 1_000)
  const beganMs = performance.now()
  const pidFile = values.of === 'node' ? join(dataDir, 'tidings.pid') : join(dataDir, 'postgres', 'postmaster.pid')
  process.kill(pidIn(pidFile), 'SIGKILL')
  if (values.of === 'node') {
    over = true
    node = start(dataDir)
    times.push(await readyAfter(beganMs))
  } else {
    // The service stays up: the first refusal shows that it has noticed.
    while (
      (await fetch(`${base}/readyz`).catch(() => undefined))?.status === 200 &&
      performance.now() - beganMs < 5_000
    )
      await sleep(1)
    times.push(await readyAfter(beganMs))
  }
  over = true
  console.log(`round ${round + 1}: ${await writing} users written, ready again after ${times.at(-1)!.toFixed(0)} ms`)
  const exited = new Promise((done) => node.once('exit', done))
  node.kill('SIGTERM')
  await exited
  rmSync(dataDir, { recursive: true, force: true })
}
console.log(
  `kill -9 of the ${values.of} to /readyz 200: median ${median(times).toFixed(0)} ms of ${times.map((ms) => ms.toFixed(0)).join(', ')}`
)
report({ name: `kill -9 of the ${values.of} to ready again`, value: median(times), unit: 'ms', better: 'less' })
