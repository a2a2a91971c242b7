import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenMany } from '../support/campaigns.ts'
import { cluster } from '../support/cluster.ts'
import { eventually, type TestProject, type TestService } from '../support/service.ts'

// TIDINGS_LONG=1 kills twenty workers during a broadcast to 50,000 devices.
const long = process.env.TIDINGS_LONG !== undefined
const people = long ? 50_000 : 2_000
const kills = long ? 20 : 3
/** With a hundred pushes in flight from each worker, a broadcast lasts long enough for all kills. */
const answerMs = 50
const waitMs = long ? 300_000 : 75_000

it('a broadcast survives killed workers: it reaches every device, repeats no accepted message, and ends', async (t) => {
  const { start, call, sql, entries } = await cluster(t)
  const api = await start('api', answerMs).ready
  await givenMany({ sql } as unknown as TestService, { id: 'shop' } as TestProject, people, 'p')
  await call(api, 'PUT', '/campaigns/news', { name: 'News', status: 'active', message: { title: 'Hi {{ user.n }}' } })
  const workers = [start('worker', answerMs), start('worker', answerMs)]
  await Promise.all(workers.map(({ ready }) => ready))
  const beganMs = Date.now()
  const everyone = { audience: { broadcast: true } }
  const { trigger_id: id } = await call(api, 'POST', '/api/v1/campaigns/news:trigger', everyone)
  const read = async () => {
    const trigger = await call(api, 'GET', `/api/v1/triggers/${id}`)
    const { targeted, sent, failed, skipped, pending } = trigger.counts
    assert.equal(targeted, sent + failed + skipped + pending)
    return trigger
  }

  const killed = new Set<number>()
  const seen: { accepted: Set<string>; from: number }[] = []
  let underWay = 0
  for (let kill = 0; kill < kills; kill += 1) {
    // A random moment between the first push and the last ones.
    await eventually(() => assert.ok(entries().length > (people * kill) / kills), waitMs)
    await sleep(Math.random() * 150)
    const [victim] = workers.splice(0, 1)
    victim!.child.kill('SIGKILL')
    await victim!.exited
    killed.add(victim!.pid)
    if ((await read()).ended_at === null) underWay += 1
    const rows = await sql(`select device_id from messages where state = 'accepted'`)
    const inHands = new Set(entries().map(({ device }) => device)).size - rows.length
    t.diagnostic(`kill ${kill + 1}: ${inHands} pushes were handed over and their answers not yet recorded`)
    seen.push({ accepted: new Set(rows.map(({ device_id }) => device_id)), from: entries().length })
    workers.push(start('worker', answerMs))
  }

  const found = await eventually(async () => {
    const trigger = await read()
    assert.equal(trigger.state, 'completed', JSON.stringify(trigger))
    return trigger
  }, waitMs)
  assert.deepEqual([found.counts.targeted, found.counts.sent, found.counts.pending], [people, people, 0])

  const all = entries()
  const reached = Map.groupBy(all, ({ device }) => device)
  assert.equal(reached.size, people)
  const repeated = [...reached.values()].filter((pushes) => pushes.length > 1)
  t.diagnostic(
    `${all.length} pushes to ${people} devices in ${Math.round((Date.now() - beganMs) / 1000)} s, ` +
      `${repeated.length} repeated over ${kills} kills, ${underWay} of them before it had ended`
  )
  if (long) assert.ok(underWay >= kills - 1, `${underWay} kills`)
  for (const { accepted, from } of seen)
    assert.deepEqual(
      all.slice(from).filter(({ device }) => accepted.has(device)),
      [],
      'what was recorded as accepted is never handed over again'
    )
  // Only pushes that a worker had dispatched when it died are repeated, under the same id, so that a phone shows them
  // once.
  for (const pushes of repeated) {
    assert.equal(new Set(pushes.map(({ collapseId }) => collapseId)).size, 1)
    assert.deepEqual(
      pushes.slice(0, -1).filter(({ pid }) => !killed.has(pid)),
      [],
      'a worker that lives does not repeat what another one that lives has'
    )
  }
  const left = await sql(`select name from jobs where name in ('campaigns.chunk', 'campaigns.expand')`)
  assert.ok(left.length <= 1, JSON.stringify(left))
  assert.deepEqual(await sql('select number from trigger_chunks'), [])
})
