import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, everyone, givenCampaign, givenMany, triggered, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

/** A trigger renders in the same processes as a preview. TIDINGS_LONG=1 tries all attacks in both. */
const isTriggered = (name: string) => Boolean(process.env.TIDINGS_LONG) || name.startsWith('lists in a case')

const service = await startService({}, { sender: scriptedSender() })
// `hostile` attacks with its templates; `other` must not be slowed by that.
const [hostile, other] = [await service.project(), await service.project()]
await givenMany(service, hostile, 3, 'victim')
await givenMany(service, other, 2, 'other')

const list = (last: unknown) => [...Array.from({ length: 30_000 }, (_, index) => index), last]
const attacks: Record<string, { title: string; properties: Json }> = {
  'a date with a long format': { title: '{{ 0 | date: trigger.f | size }}', properties: { f: '%A'.repeat(45_000) } },
  'lists that are compared again and again': {
    title: '{% if trigger.a == trigger.b or trigger.a contains "z" %}x{% endif %}'.repeat(200),
    properties: { a: list(1), b: list(2) }
  },
  'texts that are hard to find in each other': {
    title: '{% if trigger.a contains trigger.b %}x{% endif %}',
    properties: { a: 'a'.repeat(400_000), b: `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}` }
  },
  'lists in a case, which nothing counts': {
    title: `{% case trigger.a %}{% when ${'trigger.b, '.repeat(1_000)}trigger.b %}{% endcase %}`,
    properties: { a: list(1), b: list(2) }
  }
}

/**
 * The longest turn of the thread that serves requests, in time of its processor: on a crowded machine a thread waits for
 * one without blocking anything itself.
 */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  let [longest, before] = [0, usedMs()]
  const timer = setInterval(() => {
    const now = usedMs()
    longest = Math.max(longest, now - before)
    before = now
  }, 5)
  await work().finally(() => clearInterval(timer))
  return longest
}

/** Another project's requests continue meanwhile, and the process, service and test in one, is never blocked for long. */
async function undisturbed(work: () => Promise<unknown>): Promise<void> {
  let over = false
  const longest = await longestTurnMs(async () => {
    const attack = work().finally(() => {
      over = true
    })
    while (!over) {
      assert.equal((await look(other)).status, 200)
      // The renderings take the processors; more requests would only make them take longer.
      await sleep(10)
    }
    await attack
  })
  assert.ok(longest < 600, `busy for ${Math.round(longest)} ms`)
}
const look = (project: TestProject) => project.call('GET', '/api/v1/users/other-user-1')

describe('while a project renders', () => {
  for (const [name, { title, properties }] of Object.entries(attacks)) {
    it(`${name} in a preview, other projects go on`, async () => {
      const json = { campaign: { name: 'Slow', message: { title } }, ...everyone, properties }
      await undisturbed(async () => {
        const reply = await service.manage('POST', `/projects/${hostile.id}/campaigns:preview`, { json })
        assert.equal(reply.status, 200, reply.text)
        assert.equal(reply.json.sample.length, 3)
        assert.ok(reply.json.sample.every(({ reason }: Json) => /^template_failed: /.test(reason)))
      })
    })

    if (!isTriggered(name)) continue
    it(`${name} for a trigger, other projects go on, and only its messages fail`, async () => {
      await givenCampaign(service, hostile, { campaign_id: 'slow', message: { title } })
      await undisturbed(async () => {
        const { counts, failures } = await ended(hostile, await triggered(hostile, { ...everyone, properties }, 'slow'))
        assert.deepEqual([counts.targeted, counts.failed, failures], [3, 3, { TEMPLATE_FAILED: 3 }])
      })
    })
  }

  it('the messages of the same trigger that can be made are sent', async () => {
    const { title, properties } = attacks['lists in a case, which nothing counts']!
    const message = { title: `No {{ user.n }}{% if user.n == 2 %}${title}{% endif %}` }
    await givenCampaign(service, hostile, { campaign_id: 'some', message })
    const { counts } = await ended(hostile, await triggered(hostile, { ...everyone, properties }, 'some'))
    assert.deepEqual([counts.targeted, counts.sent, counts.failed], [3, 2, 1])
  })

  it('a trigger of another project, accepted meanwhile, is sent before it ends', async () => {
    const { title, properties } = attacks['lists in a case, which nothing counts']!
    await givenCampaign(service, hostile, { campaign_id: 'slow', message: { title } })
    await givenCampaign(service, other, { message: { title: 'Hello {{ user.n }}' } })
    const slow = ended(hostile, await triggered(hostile, { ...everyone, properties }, 'slow'))
    let over = false
    void slow.finally(() => {
      over = true
    })
    const { counts } = await ended(other, await triggered(other, users('other-user-1')))
    assert.deepEqual([counts.sent, over], [1, false])
    await slow
  })
})

describe('a preview of a campaign that is not saved', () => {
  it('needs the role editor', async () => {
    const tokenOf = async (role: string) =>
      (await service.manage('POST', '/tokens', { json: { name: role, role, project_id: hostile.id } })).json.token
    const json = { campaign: { name: 'Draft', message: { title: 'Hello' } }, ...everyone }
    const preview = async (role: string) =>
      service.ask('POST', `/manage/v1/projects/${hostile.id}/campaigns:preview`, {
        json,
        headers: { authorization: `Bearer ${await tokenOf(role)}` }
      })
    const { status, json: refused } = await preview('viewer')
    assert.deepEqual([status, refused.code], [403, 'forbidden'])
    assert.match(refused.error ?? refused.message, /needs the role editor/)
    assert.equal((await preview('editor')).status, 200)
  })
})

it('a service that renders without end stops in time', async () => {
  const node = await service.another({ SHUTDOWN_SECONDS: '1' })
  const { title, properties } = attacks['lists in a case, which nothing counts']!
  const json = { campaign: { name: 'Slow', message: { title } }, ...everyone, properties }
  const asked = node.manage('POST', `/projects/${hostile.id}/campaigns:preview`, { json }).catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 300))
  await node.close()
  await asked
})
