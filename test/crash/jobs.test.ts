import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import * as jobs from '../../src/platform/jobs/jobs.ts'
import { begunBy, childWorker, effectsOf, eventually, jobRows, remarksOf, workshop } from '../support/jobs-child.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, n) => ({ payload: { n } }))
const exactlyOnce = (count: number) => Array.from({ length: count }, (_, n) => ({ n, times: 1 }))

it('another worker takes over the jobs of a killed one within 15 seconds, with the default lease', async (t) => {
  const { pool, url } = await workshop(t)
  await jobs.addMany(pool, 'test.count', numbered(5))
  const first = await childWorker(t, url, { workMs: 60_000 })
  await eventually(
    () => begunBy(pool, first.pid!),
    (n) => n === 5,
    10_000
  )
  const second = await childWorker(t, url, { workMs: 1 })
  first.kill('SIGKILL')
  const killedAt = performance.now()
  await eventually(
    () => effectsOf(pool),
    (effects) => effects.length === 5,
    15_000
  )
  t.diagnostic(`taken over and done ${Math.round(performance.now() - killedAt)} ms after the kill`)
  assert.deepEqual(await effectsOf(pool), exactlyOnce(5))
  assert.equal(await begunBy(pool, second.pid!), 5)
})

it('a worker that was stopped for longer than its lease cannot end its job and gets an error', async (t) => {
  const { pool, url } = await workshop(t)
  const stalled = await childWorker(t, url, { workMs: 700, leaseMs: 900 })
  await jobs.addMany(pool, 'test.count', numbered(3))
  await eventually(
    () => begunBy(pool, stalled.pid!),
    (n) => n === 3,
    10_000
  )
  stalled.kill('SIGSTOP')
  await childWorker(t, url, { workMs: 1, leaseMs: 900 })
  await eventually(
    () => effectsOf(pool),
    (effects) => effects.length === 3,
    10_000
  )
  stalled.kill('SIGCONT')
  const remarks = await eventually(
    () => remarksOf(pool, stalled.pid!),
    (found) => found.length >= 6,
    10_000
  )
  assert.deepEqual(remarks.toSorted(), ['LeaseLost', 'LeaseLost', 'LeaseLost', 'aborted', 'aborted', 'aborted'])
  assert.deepEqual(await effectsOf(pool), exactlyOnce(3))
  assert.equal(await jobRows(pool, 'test.count'), 0)
  assert.deepEqual(await jobs.dead(pool, 1), [])

  // The stall has cost the worker only these jobs.
  const before = await begunBy(pool, stalled.pid!)
  await jobs.addMany(pool, 'test.count', numbered(40))
  await eventually(
    () => begunBy(pool, stalled.pid!),
    (n) => n > before,
    10_000
  )
})

it('an effect in the transaction that ends its job happens exactly once, over ten random kills', async (t) => {
  const count = 300
  const { pool, url } = await workshop(t)
  await jobs.addMany(pool, 'test.count', numbered(count))
  const options = { workMs: 40, leaseMs: 500, concurrency: 4 }
  let workers = await Promise.all([childWorker(t, url, options), childWorker(t, url, options)])
  for (let kill = 0; kill < 10; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 150))
    const [victim, other] = Math.random() < 0.5 ? workers : workers.toReversed()
    victim!.kill('SIGKILL')
    if (kill % 2 === 1) await once(victim!, 'exit')
    workers = [other!, await childWorker(t, url, options)]
  }
  await eventually(
    () => jobRows(pool, 'test.count'),
    (n) => n === 0,
    20_000
  )
  assert.deepEqual(await effectsOf(pool), exactlyOnce(count))
  assert.deepEqual(await jobs.dead(pool, 1), [])
})

it('recurring work stays one job when many nodes start at once and any is killed', async (t) => {
  const { pool, url } = await workshop(t)
  const start = () => childWorker(t, url, { workMs: 1, leaseMs: 600, everyMs: 300 })
  const nodes = await Promise.all(Array.from({ length: 10 }, start))
  const startedAt = performance.now()
  await eventually(
    () => effectsOf(pool),
    ([ticks]) => (ticks?.times ?? 0) >= 3,
    10_000
  )
  assert.equal(await jobRows(pool, 'test.tick'), 1)
  for (const node of nodes.slice(1)) node.kill('SIGKILL')
  const [before] = await effectsOf(pool)
  const [after] = await eventually(
    () => effectsOf(pool),
    ([ticks]) => ticks!.times >= before!.times + 3,
    10_000
  )
  assert.equal(await jobRows(pool, 'test.tick'), 1)
  // The nodes start within a moment of each other; ten separate jobs would have run ten times as often.
  const most = (performance.now() - startedAt) / 300 + 12
  assert.ok(after!.times <= most, `${after!.times} ticks where at most ${most} are possible`)
})
