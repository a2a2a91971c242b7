import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outage, toDevices } from '../support/outage.ts'
import { eventually } from '../support/service.ts'

/** Longer than any lease of a job, and longer than the recorder waited in earlier versions. */
const awayMs = 13_000
const everyone = { audience: { broadcast: true } }
const hurry = `update messages set due_at = now() where due_at is not null`

describe('while the database is away', { concurrency: 2 }, () => {
  it('a node keeps the outcomes of a request and of a broadcast, and sends nothing twice', async (t) => {
    const { urls, post, sql, proxy, arrived, repeated, settled } = await outage(t, {
      nodes: 1,
      people: 120,
      latencyMs: 1_500
    })
    const [url] = urls as [string]
    const reply = post(url, '/messages:send', toDevices(1, 24))
    assert.equal((await post(url, '/campaigns/news:trigger', everyone)).status, 200)
    await eventually(() => assert.ok(arrived().length > 30))
    await sleep(500)
    proxy.cut()
    await sleep(awayMs)
    const before = arrived().length
    // From now on a takeover would find all rows.
    await sql(hurry)
    proxy.mend()
    const results = (await reply).json.delivery_results
    assert.ok(
      results.every(({ status }: { status: string }) => /PENDING|SUCCEED/.test(status)),
      JSON.stringify(results[0])
    )
    await settled(144, 120_000)
    t.diagnostic(`${before} of 144 had arrived when the database was back`)
    assert.deepEqual(repeated(), [])
    assert.equal(arrived().length, 144)
  })

  it('neither of two nodes resumes messages that the other one owns, though leases, claims and keys expired', async (t) => {
    const { urls, post, sql, proxy, arrived, repeated, settled } = await outage(t, {
      nodes: 2,
      people: 100,
      latencyMs: 1_500
    })
    const [one, two] = urls as [string, string]
    const keyed = (url: string) => post(url, '/messages:send', toDevices(1, 24), 'once')
    const first = keyed(one)
    for (const url of [one, two]) assert.equal((await post(url, '/campaigns/news:trigger', everyone)).status, 200)
    await eventually(() => assert.ok(arrived().length > 60))
    await sleep(500)
    proxy.cut()
    await sleep(awayMs)
    await sql(hurry)
    await sql(`update idempotency_keys set held_until = now()`)
    proxy.mend()
    // A caller repeats its request at the other node as soon as that responds.
    const repeat = await eventually(async () => {
      const answer = await keyed(two)
      assert.equal(answer.status, 200, answer.text)
      return answer
    }, 80_000)
    assert.equal(repeat.json.delivery_results.length, 24)
    await first
    await settled(224, 120_000)
    assert.deepEqual(repeated(), [])
    assert.equal(arrived().length, 224)
  })
})
