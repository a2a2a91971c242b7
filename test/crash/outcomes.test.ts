import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outage, toDevices } from '../support/outage.ts'
import { eventually } from '../support/service.ts'

const awayMs = 13_000
const everyone = { audience: { broadcast: true } }

it('after a kill during a database outage, messages are sent again, under the same collapse id, only if their node does not come back', async (t) => {
  const { running, urls, post, sql, proxy, start, arrived, repeated, settled } = await outage(t, {
    nodes: 3,
    people: 100,
    latencyMs: 1_500
  })
  const [dying, returning, living] = urls as [string, string, string]
  void post(dying, '/messages:send', toDevices(1, 30)).catch(() => undefined)
  void post(returning, '/messages:send', toDevices(31, 30)).catch(() => undefined)
  void post(living, '/messages:send', toDevices(61, 40)).catch(() => undefined)
  assert.equal((await post(dying, '/campaigns/news:trigger', everyone)).status, 200)
  await eventually(() => assert.ok(arrived().length > 60))
  proxy.cut()
  await sleep(awayMs / 2)
  const open = await sql(`select owner, collapse_id, device_id from messages where state = 'handed'`)
  const idOf = async (node: number) => (await sql('select id from nodes where pid = $1', [running[node]!.pid]))[0].id
  const [owner, back] = [await idOf(0), await idOf(1)]
  const kept = open.filter((row) => row.owner === back)
  assert.ok(kept.length > 0, 'the node that comes back had outcomes that it could not record')
  for (const node of running.slice(0, 2)) {
    process.kill(node.pid, 'SIGKILL')
    await node.exited
  }
  await sleep(awayMs / 2)
  proxy.mend()
  await (await start(running[1]!)).ready
  await sql(`update messages set due_at = now() where due_at is not null`)
  await settled(200, 120_000)
  const unrecorded = open.filter((row) => row.owner === owner)
  const tokens = new Map(
    (await sql('select device_id, token from push_tokens')).map((row) => [row.token, row.device_id])
  )
  const names = new Set(unrecorded.map((row) => `${row.collapse_id} ${row.device_id}`))
  assert.ok(repeated().length > 0, 'the killed node had outcomes that it could not record')
  for (const [name, items] of repeated()) {
    const [collapseId, token] = name.split(' ') as [string, string]
    assert.ok(
      names.has(`${collapseId} ${tokens.get(token)}`),
      `${name} was recorded, or was of a node that lives or came back`
    )
    assert.equal(items.length, 2)
  }
  assert.equal(arrived().length, 200 + repeated().length)
})
