import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startChild } from '../support/children.ts'
import { emptyDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http.ts'
import { memoryGroup, noKernelFaults, smallDisk } from '../support/kernel.ts'
import { repeated, startGateway } from '../support/mixed/gateway.ts'
import { seeded, startLoad } from '../support/mixed/load.ts'
import { furnish, mixedNodes } from '../support/mixed/nodes.ts'
import { assertNothingLost, settled } from '../support/mixed/verdict.ts'
import { startProgram } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'

// What a machine runs out of. The kernel makes these faults: TIDINGS_LONG=1, as root.
const skip = noKernelFaults() ?? false
const mebibyte = 1024 * 1024
const diskMiB = 260

it('a full disk puts requests off and ends nothing, and all continues once there is space', { skip }, async (t) => {
  const { folder: disk, remove } = smallDisk(diskMiB)
  const dataDir = join(disk, 'data')
  const service = startProgram(t, { DATA_DIR: dataDir })
  t.after(remove)
  const url = await service.ready
  const { secret_key, project_id } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'))
  const headers = { 'x-service-project-id': project_id, 'x-service-api-key': secret_key }
  const acknowledged: string[] = []
  const statuses = new Map<number, number>()
  let over = false
  const call = async (client: number) => {
    for (let n = 0; !over; n += 1) {
      const id = `${client}-${n}`
      const json = { project_user_id: id, properties: { text: 'x'.repeat(1_000) } }
      const reply = await ask(url, 'POST', '/api/v1/users', { json, headers })
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
      if (reply.status === 200) acknowledged.push(id)
      else await sleep(100)
    }
  }
  const calling = Promise.all([1, 2, 3, 4].map(call))
  await eventually(() => assert.ok(acknowledged.length > 50), 30_000)
  const fill = await fullDisk(t, disk, dataDir)
  await eventually(() => assert.ok(statuses.has(503)), 30_000)
  // PostgreSQL cannot even begin the next file of its log: it dies, and every start of it too.
  await fill.endPostgres()
  await sleep(20_000)
  assert.equal(service.child.exitCode, null, `it waits for space: ${service.stderr()}`)
  assert.match(
    service.stderr() + service.stdout(),
    /The disk that holds .* PostgreSQL starts again as soon as there is space/
  )
  const before = acknowledged.length
  const freedMs = performance.now()
  fill.free()
  await eventually(() => assert.ok(acknowledged.length > before), 60_000)
  t.diagnostic(`the next response came ${Math.round(performance.now() - freedMs)} ms after there was space`)
  over = true
  await calling
  t.diagnostic(`responses: ${[...statuses].map(([status, n]) => `${status}: ${n}`).join(', ')}`)
  for (const id of acknowledged)
    assert.equal((await ask(url, 'GET', `/api/v1/users/${id}`, { headers })).status, 200, id)
  assert.deepEqual([...statuses.keys()].sort(), [200, 503])
})

async function fullDisk(t: TestContext, disk: string, dataDir: string) {
  const [, , , , host] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')
  const client = new pg.Client({ host: host!, user: 'tidings', database: 'tidings', password: '' })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end().catch(() => {}))
  const ballast = join(disk, 'ballast')
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - mebibyte))
  assert.throws(() => {
    for (;;) appendFileSync(ballast, Buffer.alloc(4_096))
  }, /ENOSPC/)
  return {
    endPostgres: () =>
      client
        .query('select pg_switch_wal()')
        .then(() => client.query(`select pg_logical_emit_message(true, 'x', 'x')`))
        .catch(() => {}),
    free: () => rmSync(ballast)
  }
}

it('a worker that the kernel kills for want of memory loses nothing', { skip }, async (t) => {
  const people = 300
  const { url: database } = await emptyDatabase(t)
  const gateway = await startGateway(t, 5)
  const receiver = await startReceiver({ secure: false })
  t.after(() => receiver.close())
  const { start, sql } = mixedNodes(t, { database, gateway })
  const api = await start('api')
  const group = memoryGroup(t)
  const worker = await start('worker', undefined, group.within)
  await furnish(api.url, { people, receiver, sql, occurrences: [] })
  const load = startLoad({
    urls: () => [api.url],
    random: seeded(1),
    clients: 8,
    people,
    broadcastEveryMs: 1_000,
    pauseMs: 20
  })
  await eventually(() => assert.ok(gateway.arrivals().length > 600), 60_000)
  // Another process takes the memory, and the kernel must choose the worker.
  writeFileSync(`/proc/${worker.program.pid}/oom_score_adj`, '1000')
  group.limit(group.used() + 40 * mebibyte)
  const hungry = 'const held = []; setInterval(() => held.push(Buffer.alloc(4 * 1024 * 1024, 1)), 20)'
  startChild(t, group.within[0]!, [...group.within.slice(1), process.execPath, '-e', hungry], { stdio: 'ignore' })
  const { signal } = await worker.program.exited
  assert.equal(signal, 'SIGKILL')
  assert.ok(group.kills() > 0, 'the kernel did it')
  const killedMs = performance.now()
  await start('worker')
  await sleep(5_000)
  await load.stop()
  await settled({ sql }, 120_000)
  t.diagnostic(`all done ${Math.round(performance.now() - killedMs)} ms after the kill, with 5 s of load in them`)
  t.diagnostic(`${gateway.arrivals().length} pushes, ${repeated(gateway.arrivals()).length} of them again`)
  await assertNothingLost({
    sql,
    url: api.url,
    asked: load.all,
    arrivals: gateway.arrivals,
    receiver,
    people,
    occurrences: 0
  })
})
