import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { together } from '../../src/platform/db/together.ts'

it('all work of a transaction is awaited though a part fails, and the first failure is thrown', async () => {
  let ended = false
  const slow = sleep(20).then(() => {
    ended = true
    throw new Error('because of the first')
  })
  await assert.rejects(together(slow, Promise.reject(new Error('the first'))), { message: 'the first' })
  assert.equal(ended, true)
})
