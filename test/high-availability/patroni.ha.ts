import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../support/database.ts'
import { underLoad } from '../support/failover.ts'
import { patroniCluster } from './patroni.ts'

// `npm run test:patroni`: needs Debian's packages of Patroni, etcd and PostgreSQL, and root. It takes some minutes.

/** How long the load runs before and after each fault. */
const calmMs = 8_000

it('a cluster of three under Patroni loses no acknowledged write and doubles no push, whatever happens to its servers', async (t) => {
  const cluster = await patroniCluster(t)
  await cluster.whole()
  const run = await underLoad(t, { database: cluster.url, clients: 10, people: 50, pauseMs: 50 })
  const say = (text: string) => console.log(`    ${text}`)
  const faults = [
    ['primary killed', (node: Primary) => node.kill(), (node: Primary) => node.start()],
    ['primary cut off', (node: Primary) => node.place.cut(), (node: Primary) => node.place.mend()],
    ['switchover', (node: Primary) => cluster.switchover(node), () => {}]
  ] as const
  for (const [name, break_, mend] of faults) {
    await sleep(calmMs)
    const before = (await cluster.primary())!
    const beganAt = performance.now()
    await break_(before)
    const next = await cluster.promoted(before)
    const promotedMs = Math.round(performance.now() - beganAt)
    // A plain client, to know how long the cluster itself takes no commits.
    const [plainMs, tookMs] = await Promise.all([plainWrite(next.host.url), run.firstWrite()])
    say(
      `${name}: ${next.name} promoted after ${promotedMs} ms; first write of a plain client ${plainMs} ms later, of both nodes ${tookMs} ms later`
    )
    await sleep(calmMs)
    await mend(before)
    await cluster.whole()
    say(`${name}: all servers are back`)
  }
  const standby = await cluster.synchronous()
  standby.kill()
  say(`synchronous standby killed: first write of both nodes ${await run.firstWrite()} ms later`)
  await sleep(calmMs)
  standby.start()
  await cluster.whole()
  await sleep(calmMs)
  const { acknowledged, arrived, doubled, statuses } = await run.verdict(120_000)
  say(`${acknowledged} requests acknowledged, lost 0, stuck 0; ${arrived} pushes arrived, ${doubled} of them twice`)
  say(`responses by status: ${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}`)
  assert.equal(doubled, 0)
})

type Primary = NonNullable<Awaited<ReturnType<Awaited<ReturnType<typeof patroniCluster>>['primary']>>>

async function plainWrite(url: string): Promise<number> {
  const beganAt = performance.now()
  await withClient(url, (client) => client.query('create table if not exists plain_write (at timestamptz)'))
  await withClient(url, (client) => client.query('insert into plain_write values (now())'))
  return Math.round(performance.now() - beganAt)
}
