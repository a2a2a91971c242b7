import assert from 'node:assert/strict'
import { it } from 'node:test'
import { cluster } from '../support/cluster.ts'
import { eventually } from '../support/service.ts'

/** Longer than any test: a node that is killed with these requests has received no response. */
const neverMs = 600_000
const withinMs = 16_000
const path = '/api/v1/live-activity-channels'

it('a kill -9 loses no change of a channel, and repeats none after a newer one', async (t) => {
  const { start, call, sql, entries } = await cluster(t)
  const first = start('all', 1)
  const url = await first.ready
  await sql(`update projects set mode = 'simulator'`)
  const wanted = { attributes_type: 'Match', storage: 'most_recent' }
  const { channel_id: alone } = await call(url, 'POST', path, wanted)
  const { channel_id: followed } = await call(url, 'POST', path, wanted)
  first.child.kill('SIGTERM')
  await first.exited

  const dying = start('all', neverMs)
  const dyingUrl = await dying.ready
  const sent = (id: string) => entries().flatMap(({ device, collapseId }) => (device === id ? collapseId : []))
  const changes = (id: string) => sent(id).filter((one) => !one.startsWith('channel-'))
  const states = (id: string) => changes(id).map((one) => one.replace(/^\d+:/, ''))
  const update = (to: string, id: string, state: number) =>
    call(to, 'POST', `${path}/${id}:update`, { content_state: { state } })
  const unanswered = [update(dyingUrl, alone, 1), update(dyingUrl, followed, 1)].map((one) => one.catch(() => {}))
  await eventually(() => assert.deepEqual([...states(alone), ...states(followed)], ['{"state":1}', '{"state":1}']))
  dying.child.kill('SIGKILL')
  await dying.exited
  await Promise.all(unanswered)

  const other = await start('all', 1).ready
  // It waits behind the job of the dead node.
  const newer = update(other, followed, 2)
  await eventually(() => assert.equal(changes(alone).length, 2), withinMs)
  await eventually(() => assert.equal(changes(followed).length, 2), withinMs)
  assert.equal(changes(alone)[0], changes(alone)[1], 'the same state with the same time')
  assert.deepEqual(states(followed), ['{"state":1}', '{"state":2}'])
  const [one, two] = changes(followed).map((change) => Number(change.split(':')[0]))
  assert.ok(two! > one!, 'the time rises')
  await newer
  await eventually(async () => {
    const rows = await sql('select state from live_activity_changes order by channel_id, number')
    assert.deepEqual(rows.map(({ state }) => state).toSorted(), ['accepted', 'accepted', 'superseded'])
  })
})
