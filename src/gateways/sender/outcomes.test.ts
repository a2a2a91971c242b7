import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadyMs } from '../../platform/time.ts'
import { retry } from './outcomes.ts'

test('a push that waits until the time of its outcome by the wall clock is not early by the steady clock', () => {
  for (let round = 0; round < 200; round += 1) {
    const at = steadyMs() + 2 * Math.random()
    const outcome = retry('GATEWAY_UNAVAILABLE', at)
    assert.ok(outcome.kind === 'retry')
    while (Date.now() < outcome.notBefore);
    assert.ok(steadyMs() >= at)
  }
})
