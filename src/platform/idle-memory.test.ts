import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freeIdleMemory } from './idle-memory.ts'

it('an idle process gives the memory of a past load back', async (t) => {
  let load: unknown[] = Array.from({ length: 500_000 }, (_, index) => ({ index, text: `value ${index}` }))
  const before = process.memoryUsage().heapTotal
  load = []
  const memory = freeIdleMemory()
  t.after(() => memory.close())
  const giveUpAt = Date.now() + 60_000
  while (process.memoryUsage().heapTotal > before - 16_000_000 && Date.now() < giveUpAt) await sleep(100)
  assert.ok(process.memoryUsage().heapTotal <= before - 16_000_000)
  assert.equal(load.length, 0)
})
