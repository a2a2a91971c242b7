import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Outcome } from '../../src/gateways/gateways.ts'
import { newId } from '../../src/platform/ids.ts'
import { steadyMs } from '../../src/platform/time.ts'
import { retry } from '../support/sender.ts'
import { eventually } from '../support/service.ts'
import { messagesAlone, projectId } from './messages-alone.ts'

it('messages that a batch could not dispatch in time are due at once, and not when their claim would have ended', async (t) => {
  const { pool, sql, sender, messages, draft } = await messagesAlone(t)
  const triggerId = newId()
  const drafts = Array.from({ length: 300 }, (_, n) => draft(triggerId, `d${n}`))
  const rows = await pool.transaction((tx) => messages.persist(tx, projectId, drafts, { owner: 'untimed' }))
  sender.shut()
  await messages.dispatch(projectId, rows, { deadline: steadyMs() + 300 })
  await pool.transaction((tx) => messages.release(tx, projectId, rows))
  const states = () =>
    sql(`select state, owner is null as free, due_at <= now() as due, count(*)::int from messages group by 1, 2, 3`)
  await eventually(async () =>
    assert.deepEqual(await states(), [{ state: 'queued', free: true, due: true, count: 300 }])
  )
})

it('a retry of a message that a batch released is written, also where the response to the release was lost', async (t) => {
  const { pool, sql, sender, messages, draft } = await messagesAlone(t)
  for (const fails of [false, true]) {
    const [triggerId, answer] = [newId(), Promise.withResolvers<Outcome>()]
    sender.script('a', answer.promise)
    const rows = await pool.transaction((tx) =>
      messages.persist(tx, projectId, [draft(triggerId, 'a')], { owner: 'untimed' })
    )
    await messages.dispatch(projectId, rows, { deadline: steadyMs() + 50 })
    const leaving = pool.transaction(async (tx) => {
      await messages.release(tx, projectId, rows)
      if (fails) throw new Error('the lease was lost')
    })
    await (fails ? assert.rejects(leaving) : leaving)
    answer.resolve(retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 60_000 }))
    await eventually(async () => {
      const [found] = await sql('select state, owner, attempts from messages where trigger_id = $1', [triggerId])
      assert.deepEqual(found, { state: 'queued', owner: null, attempts: 1 })
    })
  }
})

it('a clock that jumps makes no second run dispatch a message that waits for room in the first one', async (t) => {
  const { pool, sql, sender, messages, draft } = await messagesAlone(t)
  const rows = await pool.transaction((tx) =>
    messages.persist(tx, projectId, [draft(newId(), 'a'), draft(newId(), 'b')])
  )
  sender.shut()
  const handing = messages.dispatch(projectId, rows, { deadline: steadyMs() + 20_000 })
  await eventually(async () => assert.equal((await sql(`select 1 from messages where state = 'handed'`)).length, 2))
  // Runs as the retry job of this process whose clock jumped an hour ahead.
  await sql(`update messages set due_at = (due_at at time zone 'UTC' - interval '1 hour') at time zone 'UTC'`)
  const retries = messages.jobs[0]!.run({ projectId } as never, {
    jobId: newId(),
    attempt: 1,
    last: false,
    signal: AbortSignal.timeout(20_000),
    complete: async () => {},
    freeSlot() {}
  })
  const early = retries.catch(() => {})
  await Promise.race([early, new Promise((resolve) => setTimeout(resolve, 500))])
  sender.open()
  await Promise.all([handing, early])
  const found = await sql('select state, retries from messages')
  assert.deepEqual(found, Array(2).fill({ state: 'accepted', retries: {} }), 'the retry job has taken none of them')
})
