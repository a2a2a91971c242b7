import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBell } from './bell.ts'

const longMs = 10_000

describe('a bell', () => {
  it('wakes the sleeper, or the next one if there is none', async () => {
    const bell = createBell()
    const sleeping = bell.heard(longMs)
    bell.ring()
    await sleeping
    bell.ring()
    await bell.heard(longMs)
  })

  it('is heard by the next one also where the last one slept until its time was up', async () => {
    const bell = createBell()
    await bell.heard(1)
    bell.ring()
    // All callbacks that are ready run before the next sleeper listens.
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    const began = performance.now()
    await bell.heard(longMs)
    assert.ok(performance.now() - began < longMs / 2, 'the ring was lost')
  })
})
