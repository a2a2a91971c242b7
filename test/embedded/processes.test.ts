import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { PastCounts } from '../../src/platform/siblings/past-counts.ts'
import { createRateLimits } from '../../src/projects/rate-limits/rate-limit.ts'
import { createSharedLimits } from '../../src/projects/rate-limits/shared-limits.ts'
import { migratedDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { descendantsOf } from '../support/processes.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'

/** A request on a connection of its own, so that any of the processes may get it. */
function ask(
  url: string,
  headers: Record<string, string> = {},
  body?: string
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: body ? 'POST' : 'GET', headers, agent: new Agent() }, async (response) => {
      resolve({ status: response.statusCode!, text: (await response.toArray()).join('') })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

const processesOf = (pid: number) => descendantsOf(pid).filter(({ command }) => /service\/process\.[jt]s/.test(command))

async function figures(url: string): Promise<Map<string, number>> {
  const { text } = await ask(`${url}/metrics`)
  const lines = text.split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

async function started(t: TestContext) {
  const dataDir = await temporaryFolder(t)
  const { url: database } = await migratedDatabase(t)
  const program = startProgram(t, { DATA_DIR: dataDir, DATABASE_URL: database }, [
    ...[process.execPath, 'bin/tidings.js', 'serve', '--processes', '2']
  ])
  const url = await program.ready
  const { admin_token } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
  const manage = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' }
    return JSON.parse((await ask(`${url}/manage/v1${path}`, headers, JSON.stringify(body))).text)
  }
  return { program, url, manage }
}

const healthz = 'tidings_http_requests_total{method="GET",route="/healthz",status="200"}'

describe('tidings serve --processes', () => {
  it('serves, shares limits, replaces a killed process, reports all of them together, and stops', async (t) => {
    const { program, url, manage } = await started(t)
    assert.equal(processesOf(program.pid).length, 2)

    const { id } = await manage('/projects', { name: 'limited', limits: { requests_per_second: 5 } })
    const { key } = await manage(`/projects/${id}/keys`, { kind: 'secret', name: 'test' })
    const caller = { 'x-service-project-id': id, 'x-service-api-key': key, 'content-type': 'application/json' }
    const beganMs = performance.now()
    const write = () => ask(`${url}/api/v1/users`, caller, '{"project_user_id":"ana"}')
    const answers = await Promise.all(Array.from({ length: 30 }, write))
    const granted = answers.filter(({ status }) => status === 200).length
    const refilled = ((performance.now() - beganMs) / 1000) * 5
    assert.ok(granted >= 5 && granted <= 5 + Math.ceil(refilled), `${granted} were granted, ${refilled} refilled`)

    for (let index = 0; index < 20; index += 1) await ask(`${url}/healthz`)
    assert.equal((await figures(url)).get(healthz), 20, 'the processes report together')

    const [victim] = processesOf(program.pid)
    process.kill(victim!.pid, 'SIGKILL')
    await eventually(async () => {
      const { text } = await ask(`${url}/readyz`)
      assert.match(text, /1 of 2 processes serve/)
    })
    await eventually(async () => assert.equal((await ask(`${url}/readyz`)).text, '{"status":"ready"}'), 30_000)
    const pids = processesOf(program.pid).map(({ pid }) => pid)
    assert.ok(pids.length === 2 && !pids.includes(victim!.pid))
    // Each process learns of the others in its own moment, and either may respond.
    const after = await eventually(async () => {
      const found = await figures(url)
      assert.equal(found.get('tidings_processes{state="serving"}'), 2)
      return found
    }, 30_000)
    assert.equal(after.get(healthz), 20, 'what the killed process counted is kept')
    assert.equal(after.get('tidings_process_deaths_total'), 1)
    assert.match(program.stderr(), /a process was ended by SIGKILL; another one is started/)

    program.child.kill('SIGTERM')
    assert.deepEqual(await program.exited, { code: 0, signal: null })
    assert.match(program.stdout(), /Stopped\.\n$/)
    assert.deepEqual(
      pids.filter((pid) => isAlive(pid)),
      []
    )
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('limits that processes share', () => {
  it('take once for all requests of a turn, and each request gets its own outcome', async () => {
    const parent = createRateLimits(() => 1)
    let messages = 0
    const limits = createSharedLimits(
      async (buckets) => {
        messages += 1
        return buckets.map(([name, limit, times]) => Array.from({ length: times }, () => parent.take(name, limit)))
      },
      createRateLimits(() => 2)
    )
    const taken = await Promise.all(['a', 'a', 'b', 'a'].map((name) => limits.take(name, 2)))
    assert.deepEqual(
      taken.map(({ allowed }) => allowed),
      [true, true, true, false]
    )
    assert.equal(messages, 1)
  })

  it('are granted by the process itself if the parent does not respond', async () => {
    const own = createRateLimits(() => 2)
    const limits = createSharedLimits(() => Promise.reject(new Error('silent')), own)
    const taken = await Promise.all(Array.from({ length: 4 }, () => limits.take('a', 4)))
    assert.equal(taken.filter(({ allowed }) => allowed).length, 2)
  })
})

describe('counts of processes that have ended', () => {
  it('add up by labels, without gauges', () => {
    const report = (value: number) => [
      { name: 'c', help: '', type: 'counter', aggregator: 'sum', values: [{ value, labels: { a: 'x', b: 1 } }] },
      { name: 'g', help: '', type: 'gauge', aggregator: 'sum', values: [{ value, labels: {} }] }
    ]
    const past = new PastCounts()
    past.add(report(2))
    past.add(report(3))
    assert.deepEqual(
      past.report().map(({ name, values }) => [name, values[0]!.value]),
      [['c', 5]]
    )
  })
})
