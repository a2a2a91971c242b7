import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { outage, toDevices } from '../support/outage.ts'
import { eventually } from '../support/service.ts'

const preload = join(import.meta.dirname, '../support/shifted-clock.ts')

it('a node whose clock jumps two hours and back continues with one provider token and repeats nothing', async (t) => {
  const { running, urls, post, sql, arrived, repeated, settled } = await outage(
    t,
    { nodes: 1, people: 100, latencyMs: 800 },
    { TOKEN: '', NODE_OPTIONS: `--import=${preload}` }
  )
  const [url] = urls as [string]
  const { pid } = running[0]!
  const tokens = () => sql('select name, issued_at from provider_tokens order by name')
  let token: Awaited<ReturnType<typeof tokens>> | undefined
  let sent = 0
  for (const jumps of [true, true, false]) {
    const before = arrived().length
    const reply = post(url, '/messages:send', toDevices(1 + sent, 20))
    await eventually(() => assert.ok(arrived().length > before))
    token ??= await tokens()
    assert.equal(token.length, 1)
    // In the middle of the broadcast, with some messages at the gateway.
    if (jumps) process.kill(pid, 'SIGUSR2')
    const { delivery_results } = (await reply).json
    assert.deepEqual(
      delivery_results.filter(({ status }: { status: string }) => !status.endsWith('SUCCEED')),
      []
    )
    sent += 20
    await sleep(200)
  }
  await settled(sent, 20_000)
  assert.deepEqual(repeated(), [])
  assert.deepEqual(await tokens(), token, 'no refresh')
  assert.deepEqual(
    arrived().filter(({ answer }) => answer.status !== 200),
    []
  )
})
