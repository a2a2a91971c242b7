import assert from 'node:assert/strict'
import { it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { underLoad } from '../support/failover.ts'
import { replicated } from '../support/replicated.ts'

it('a primary that dies under load loses no acknowledged write and doubles no push, once its standby is promoted', async (t) => {
  const { primary, url, promote } = await replicated(t, { synchronous: true })
  const run = await underLoad(t, { database: url, clients: 8, people: 30, pauseMs: 20 })
  await eventually(() => assert.ok(run.acknowledged() > 60), 60_000)
  await primary.kill()
  await promote()
  const tookMs = await run.firstWrite()
  const before = run.acknowledged()
  await eventually(() => assert.ok(run.acknowledged() > before + 60), 60_000)
  const { acknowledged, arrived, doubled, statuses } = await run.verdict(60_000)
  assert.equal(doubled, 0)
  t.diagnostic(
    `writes back ${tookMs} ms after the promotion; ${acknowledged} requests acknowledged, ${arrived} pushes arrived, ` +
      `${statuses.get(503) ?? 0} responses of 503`
  )
})
