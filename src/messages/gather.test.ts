import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { ProjectId } from '../platform/ids.ts'
import { Gatherer } from './gather.ts'

const project = 'p' as ProjectId
const turns = async () => {
  for (let left = 5; left > 0; left -= 1) await new Promise(setImmediate)
}

/** A gatherer that has recorded twenty items and waits for more than the three that came meanwhile. No time passes by itself. */
async function waiting(t: TestContext, patient = false) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const first = Promise.withResolvers<void>()
  const recorded: number[] = []
  const gatherer = new Gatherer<string>(async (_, items) => {
    recorded.push(items.length)
    await first.promise
  }, patient)
  const add = (count: number, isLast = false) => {
    for (let left = count; left > 0; left -= 1) gatherer.add(project, 'item', isLast && left === 1)
  }
  add(20)
  await turns()
  if (patient) t.mock.timers.tick(20)
  await turns()
  add(3)
  first.resolve()
  await turns()
  assert.deepEqual(recorded, [20])
  return { add, recorded, tick: () => t.mock.timers.tick(20) }
}

describe('a gatherer that waits for more items', () => {
  it('records after a while', async (t) => {
    const { recorded, tick } = await waiting(t)
    tick()
    await turns()
    assert.deepEqual(recorded, [20, 3])
  })

  it('records as soon as enough wait', async (t) => {
    const { add, recorded } = await waiting(t)
    add(253)
    await turns()
    assert.deepEqual(recorded, [20, 256])
  })

  it('records as soon as the last one comes that a caller waits for', async (t) => {
    const { add, recorded } = await waiting(t)
    add(1)
    await turns()
    assert.deepEqual(recorded, [20])
    add(1, true)
    await turns()
    assert.deepEqual(recorded, [20, 5])
  })

  it('waits in any case where a transaction costs much', async (t) => {
    const { add, recorded, tick } = await waiting(t, true)
    add(1, true)
    await turns()
    assert.deepEqual(recorded, [20])
    tick()
    await turns()
    assert.deepEqual(recorded, [20, 4])
  })
})
