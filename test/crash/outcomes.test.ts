import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outage, toDevices } from '../support/outage.ts'
import { eventually } from '../support/service.ts'

const awayMs = 13_000
const everyone = { audience: { broadcast: true } }

it('after a kill during a database outage, only unrecorded messages are sent again, under the same collapse id', async (t) => {
  const { running, urls, post, sql, proxy, arrived, repeated, settled } = await outage(t, {
    nodes: 2,
    people: 100,
    latencyMs: 1_500
  })
  const [dying, living] = urls as [string, string]
  void post(dying, '/messages:send', toDevices(1, 50)).catch(() => undefined)
  void post(living, '/messages:send', toDevices(51, 50)).catch(() => undefined)
  assert.equal((await post(dying, '/campaigns/news:trigger', everyone)).status, 200)
  await eventually(() => assert.ok(arrived().length > 60))
  proxy.cut()
  await sleep(awayMs / 2)
  const open = await sql(`select owner, collapse_id, device_id from messages where state = 'handed'`)
  const [{ id: owner }] = (await sql('select id from nodes where pid = $1', [running[0]!.pid])) as [{ id: string }]
  process.kill(running[0]!.pid, 'SIGKILL')
  await running[0]!.exited
  await sleep(awayMs / 2)
  proxy.mend()
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
    assert.ok(names.has(`${collapseId} ${tokens.get(token)}`), `${name} was recorded, or was of the node that lives`)
    assert.equal(items.length, 2)
  }
  assert.equal(arrived().length, 200 + repeated().length)
})
