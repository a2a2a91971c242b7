import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outage, toDevices } from '../support/outage.ts'
import { eventually } from '../support/service.ts'

// Run by hand with TIDINGS_LONG=1: a minute without a database, with a broadcast in progress and callers that repeat
// failed requests.
const long = process.env.TIDINGS_LONG !== undefined
const people = 5_000
const callers = 8
const perRequest = 20

if (long) it('a minute without a database under load doubles no push, on two nodes', underLoad)

async function underLoad(t: TestContext): Promise<void> {
  const { running, urls, post, sql, proxy, arrived, repeated, settled } = await outage(t, {
    nodes: 2,
    people,
    latencyMs: 300
  })
  let requests = 0
  let over = false
  const call = async (caller: number): Promise<void> => {
    while (!over) {
      const key = `request-${requests++}`
      const body = toDevices(1 + ((requests * perRequest) % (people - perRequest)), perRequest)
      // Repeats at another node each time, until one responds.
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
  const cutMs = Date.now()
  await sleep(60_000)
  const away = arrived().length
  proxy.mend()
  const mendedMs = Date.now()
  await sleep(10_000)
  over = true
  await Promise.all(calling)
  await settled(people + requests * perRequest, 240_000)
  const [{ n }] = (await sql('select count(*)::int as n from messages')) as [{ n: number }]
  t.diagnostic(
    `${requests} requests and a broadcast, ${n} messages: ${cutAt} had arrived when the database went, ${away} when it ` +
      `was back, ${arrived().length} in the end, ${repeated().length} twice`
  )
  if (repeated().length > 0) {
    const since = (at: string) => ((Date.parse(at) - mendedMs) / 1000).toFixed(1)
    for (const [, items] of repeated().filter((_, n) => n % 25 === 0))
      t.diagnostic(
        `seconds after it was back: ${items.map(({ received_at, answer }) => `${since(received_at)} (${answer.status} ${answer.reason ?? ''})`).join(', ')}`
      )
    for (const [n, { stderr }] of running.entries()) {
      const said = Map.groupBy(stderr().split('\n').filter(Boolean), (line) => {
        const { msg, error } = JSON.parse(line)
        return `${msg} ${error?.message ?? error ?? ''}`.slice(0, 300)
      })
      for (const [words, lines] of said)
        t.diagnostic(
          `node ${n}: ${lines.length} times ${words}, first ${since(JSON.parse(lines[0]!).time)} last ${since(JSON.parse(lines.at(-1)!).time)}`
        )
    }
    const ids = repeated().map(([name]) => name.split(' ')[0])
    for (const row of await sql(
      `select campaign_id, attempts, retries, reason, gateway_code, count(*)::int as n, min(handed_at) as first, min(settled_at) as settled, max(settled_at) as last
         from messages where collapse_id = any($1) group by 1, 2, 3, 4, 5`,
      [ids]
    ))
      t.diagnostic(JSON.stringify(row))
    t.diagnostic(JSON.stringify({ cut: new Date(cutMs), mended: new Date(mendedMs) }))
    t.diagnostic(JSON.stringify(await sql('select id, pid, started_at, seen_at, steady_since from nodes')))
  }
  assert.equal(repeated().length, 0)
  assert.equal(arrived().length, n)
}
