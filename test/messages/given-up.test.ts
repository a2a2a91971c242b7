import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { newId } from '../../src/platform/ids.ts'
import { eventually } from '../support/eventually.ts'
import { messagesAlone, projectId } from './messages-alone.ts'

/** Two messages that are due, one of which has lived its time, and a retry job that fails. */
async function given(t: TestContext) {
  const canceledAmong = () => Promise.reject(new Error('a bug elsewhere'))
  const { pool, sql, messages, draft, sender } = await messagesAlone(t, { canceledAmong })
  const drafts = ['old', 'young'].map((id) => draft(newId(), id))
  await pool.transaction((tx) => messages.persist(tx, projectId, drafts))
  const makeDue = () =>
    sql(`update messages set state = 'queued', owner = null, due_at = now(),
           not_after = case when device_id = 'old' then now() else not_after end`)
  const states = () => sql('select device_id, state, reason from messages order by device_id')
  const job = messages.jobs[0]!
  const run = (attempt: number) =>
    job.run({ projectId } as never, {
      jobId: newId(),
      attempt,
      last: attempt > 9,
      signal: AbortSignal.timeout(20_000),
      complete: async () => {},
      freeSlot() {}
    })
  await makeDue()
  return { states, run, makeDue, sender, giveUp: () => job.giveUp!({ projectId } as never) }
}

const ended = [
  { device_id: 'old', state: 'failed', reason: 'EXPIRED' },
  { device_id: 'young', state: 'handed', reason: null }
]

it('messages end when their time to live is over, although the job of their retries fails again and again', async (t) => {
  const { states, run, makeDue } = await given(t)
  await assert.rejects(run(1), /a bug elsewhere/)
  await makeDue()
  await assert.rejects(run(2), /a bug elsewhere/)
  await eventually(async () => assert.deepEqual(await states(), ended))
})

it('messages end when their time to live is over, although the job of their retries brings down every worker', async (t) => {
  const { states, giveUp, sender } = await given(t)
  await giveUp()
  const [old, young] = await states()
  assert.deepEqual([old, young.state], [ended[0], 'queued'])
  assert.deepEqual(sender.pushes, [])
})
