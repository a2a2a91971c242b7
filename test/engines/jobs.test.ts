import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createListener } from '../../src/platform/db/listen.ts'
import { statement } from '../../src/platform/db/statement.ts'
import { newId } from '../../src/platform/ids.ts'
import { defineJob } from '../../src/platform/jobs/definition.ts'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { elsewhere, testPool } from '../support/database.ts'
import { eventually, jobRows } from '../support/jobs-child.ts'
import { workerHere } from '../support/jobs-worker-here.ts'
import { silentLog } from '../support/log.ts'

it('a job runs with its payload and is deleted afterwards', async (t) => {
  const pool = await testPool(t)
  const seen: unknown[] = []
  const job = defineJob<{ word: string }>({
    name: 'test.say',
    run: async ({ word }, { attempt, last }) => void seen.push([word, attempt, last])
  })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, { word: 'hello' })
  await worker.idle()
  assert.deepEqual(seen, [['hello', 1, false]])
  assert.equal(await jobRows(pool, 'test.say'), 0)
})

it('a job added in a transaction runs when that commits, and never when it rolls back', async (t) => {
  const pool = await testPool(t)
  const seen: string[] = []
  const job = defineJob<string>({ name: 'test.say', run: async (word) => void seen.push(word) })
  const worker = workerHere(t, pool, [job])
  await pool.transaction(async (tx) => {
    await jobs.add(tx, job, 'committed')
    await elsewhere(() => worker.idle())
    assert.deepEqual(seen, [])
  })
  const undone = pool.transaction(async (tx) => {
    await jobs.add(tx, job, 'rolled back')
    throw new Error('undo')
  })
  await assert.rejects(undone, /undo/)
  await worker.idle()
  assert.deepEqual(seen, ['committed'])
})

it('a job for a reserved slot runs when its transaction has committed, without a claim', async (t) => {
  const pool = await testPool(t)
  const seen: unknown[] = []
  const job = defineJob<{ word: string }>({
    name: 'test.say',
    run: async ({ word }, { attempt }) => void seen.push([word, attempt])
  })
  const worker = workerHere(t, pool, [job], { concurrency: 1 })
  await worker.idle()
  const slot = worker.reserve('test.say')!
  assert.equal(worker.reserve('test.say'), undefined)
  const added = { id: newId(), projectId: 'p', payload: { word: 'stored' } }
  await jobs.addReserved(pool, job, slot, added)
  await worker.idle()
  assert.deepEqual(seen, [])
  slot.begin({ ...added, payload: { word: 'in memory' } })
  await worker.idle()
  assert.deepEqual(seen, [['in memory', 1]])
  assert.equal(await jobRows(pool, 'test.say'), 0)
  worker.reserve('test.say')!.drop()
  assert.ok(worker.reserve('test.say'))
})

it('a job for a reserved slot of a worker that died runs in another one after its lease', async (t) => {
  const pool = await testPool(t)
  const seen: unknown[] = []
  const job = defineJob<string>({
    name: 'test.say',
    leaseMs: 200,
    run: async (word, { attempt }) => void seen.push([word, attempt])
  })
  const dead = { claim: newId(), nodeId: newId(), leaseMs: 200, begin: () => {}, drop: () => {} }
  await jobs.addReserved(pool, job, dead, { id: newId(), projectId: 'p', payload: 'stored' })
  workerHere(t, pool, [job])
  await eventually(
    () => seen.length,
    (n) => n === 1,
    5_000
  )
  assert.deepEqual(seen, [['stored', 2]])
})

it('a worker without a listener runs everything, and one with a listener does not wait for its poll', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<number>({ name: 'test.count', run: async () => void ran++ })
  await jobs.addMany(
    pool,
    job,
    Array.from({ length: 300 }, (_, payload) => ({ payload }))
  )
  const deaf = workerHere(t, pool, [job])
  await eventually(
    () => ran,
    (n) => n === 300,
    5_000
  )
  await jobs.add(pool, job, 0)
  await eventually(
    () => ran,
    (n) => n === 301,
    5_000
  )
  await deaf.stop(1_000)

  const listener = createListener(pool, silentLog)
  t.after(() => listener.close())
  const hearing = workerHere(t, pool, [job], { listener, pollMs: 60_000 })
  await hearing.idle()
  await jobs.add(pool, job, 0)
  await eventually(
    () => ran,
    (n) => n === 302,
    5_000
  )
})

it('a job of the future waits for its time', async (t) => {
  const pool = await testPool(t)
  const seen: number[] = []
  const job = defineJob<number>({ name: 'test.when', run: async () => void seen.push(Date.now()) })
  const worker = workerHere(t, pool, [job], { pollMs: 1_000 })
  const at = Date.now() + 700
  await jobs.add(pool, job, 1, { runAt: new Date(at) })
  await worker.idle()
  assert.deepEqual(seen, [])
  await eventually(
    () => seen.length,
    (n) => n === 1,
    5_000
  )
  assert.ok(seen[0]! >= at, `it ran ${at - seen[0]!} ms too early`)
})

it("another project's only job does not wait for the thousands before it", async (t) => {
  const pool = await testPool(t)
  const order: string[] = []
  const job = defineJob<string>({ name: 'test.turn', run: async (project) => void order.push(project) })
  const many = Array.from({ length: 5_000 }, () => ({ payload: 'a', projectId: 'a' }))
  await jobs.addMany(pool, job, many)
  await jobs.addMany(pool, job, [{ payload: 'b', projectId: 'b' }, { payload: 'house' }])
  const worker = workerHere(t, pool, [job], { concurrency: 20 })
  await eventually(
    () => order.length,
    (n) => n >= 1_000,
    20_000
  )
  await jobs.add(pool, job, 'c', { projectId: 'c' })
  const place = await eventually(
    () => order.indexOf('c'),
    (at) => at >= 0,
    20_000
  )
  await worker.idle()
  assert.ok(order.indexOf('b') < 60, `b ran as number ${order.indexOf('b')}`)
  assert.ok(order.indexOf('house') < 60, `the house's own job ran as number ${order.indexOf('house')}`)
  assert.ok(place < 4_000, `c ran as number ${place}`)
  assert.equal(order.length, 5_003)
})

it('a worker leaves jobs alone that it does not know', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const known = defineJob<null>({ name: 'test.known', run: async () => void ran++ })
  await jobs.addMany(
    pool,
    'test.unknown',
    Array.from({ length: 50 }, () => ({ payload: null }))
  )
  await jobs.add(pool, known, null)
  const worker = workerHere(t, pool, [known], { concurrency: 1 })
  await worker.idle()
  assert.equal(ran, 1)
  assert.equal(await jobRows(pool, 'test.unknown'), 50)
})

const addByHand = statement(
  'jobs.test_add_by_hand',
  `insert into jobs (id, name, payload, ready, run_at, attempts, created_at)
   values ($1, $2, 'null', true, now() - interval '1 hour', $3, now())`
)

it('a job that turns up late, with a time long past, is found too', async (t) => {
  const pool = await testPool(t)
  let ran = 0
  const job = defineJob<null>({ name: 'test.late', run: async () => void ran++ })
  const worker = workerHere(t, pool, [job])
  await jobs.add(pool, job, null)
  await worker.idle()
  await pool.run(addByHand, [newId(), 'test.late', 0])
  await eventually(
    () => ran,
    (n) => n === 2,
    10_000
  )
})
