import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outage, toDevices } from '../support/outage.ts'
import { eventually } from '../support/service.ts'

// By hand: TIDINGS_LONG=1. A minute without a database, with a broadcast under way and callers that repeat what failed.
const long = process.env.TIDINGS_LONG !== undefined
const people = 5_000
const callers = 8
const perRequest = 20

it('E2: a minute without a database under load doubles no push, on two nodes', { skip: !long }, async (t) => {
  const { urls, post, sql, proxy, arrived, repeated, settled } = await outage(t, { nodes: 2, people, latencyMs: 300 })
  let requests = 0
  let over = false
  const call = async (caller: number): Promise<void> => {
    while (!over) {
      const key = `request-${requests++}`
      const body = toDevices(1 + ((requests * perRequest) % (people - perRequest)), perRequest)
      // At another node each time, until it is answered.
      for (let turn = caller; ; turn += 1) {
        const reply = await post(urls[turn % 2]!, '/messages:send', body, key).catch(() => undefined)
        if (reply?.status === 200) break
        await sleep(500)
      }
    }
  }
  const calling = Array.from({ length: callers }, (_, caller) => call(caller))
  assert.equal((await post(urls[0]!, '/campaigns/news:trigger', { audience: { broadcast: true } })).status, 200)
  await eventually(() => assert.ok(arrived().length > 1_000), 60_000)
  proxy.cut()
  const cutAt = arrived().length
  await sleep(60_000)
  const away = arrived().length
  proxy.mend()
  await sleep(10_000)
  over = true
  await Promise.all(calling)
  await settled(people + requests * perRequest, 240_000)
  const [{ n }] = (await sql('select count(*)::int as n from messages')) as [{ n: number }]
  t.diagnostic(
    `${requests} requests and a broadcast, ${n} messages: ${cutAt} had arrived when the database went, ${away} when it ` +
      `was back, ${arrived().length} in the end, ${repeated().length} twice`
  )
  assert.deepEqual(repeated(), [])
  assert.equal(arrived().length, n)
})
