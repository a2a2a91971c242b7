import assert from 'node:assert/strict'
import { it } from 'node:test'
import { chanceOf } from '../support/flood/chance.ts'
import { flood } from '../support/flood/flood.ts'

// Hostile requests to every route of every surface, by every kind of caller, with valid ones between them. The first
// seed is fixed, so that a failure comes from the change under test. TIDINGS_LONG=1 sends a million with a new seed;
// TIDINGS_REQUESTS and TIDINGS_SEED choose others.
const long = process.env.TIDINGS_LONG !== undefined
const requests = Number(process.env.TIDINGS_REQUESTS ?? (long ? 1_000_000 : 20_000))
const seed = Number(process.env.TIDINGS_SEED ?? (long ? Date.now() % 2 ** 32 : 20_261_116))

it('no request makes a node fail, hang, show the data of another project or keep memory', async (t) => {
  t.diagnostic(`${requests} requests with TIDINGS_SEED=${seed}`)
  const found = await flood(t, { requests, chance: chanceOf(seed) })
  for (const line of found.report) t.diagnostic(line)
  assert.deepEqual(found.faults.slice(0, 5), [])
  assert.deepEqual(found.logged.slice(0, 5), [])
  assert.deepEqual(found.missed, [], 'every route got a request')
  const share = 1 - found.refused.length / found.routes
  assert.ok(share > 0.6, `only ${Math.round(100 * share)} % of the routes took a request: ${found.refused.join(', ')}`)
  // Caches fill up during the first quarter.
  const [early, late] = [found.samples[Math.floor(found.samples.length / 4)]!, found.samples.at(-1)!]
  assert.ok(late.heap - early.heap < 40 * 1_048_576, `the heap grows: ${found.report.at(-1)}`)
  // RSS goes up and down by 200 MB with the pages that V8 keeps between collections. What malloc has only grows, until the
  // simulators of a hundred projects have started, after about 300,000 requests.
  const half = found.samples[Math.floor(found.samples.length / 2)]!
  if (half.at >= 400_000)
    assert.ok(late.malloc - half.malloc < 25 * 1_048_576, `memory outside of the heap grows: ${found.report.at(-1)}`)
})
