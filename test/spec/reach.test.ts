import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { everyone, givenCampaign, givenMany, put, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })
const preview = async (project: TestProject, body: Json) => {
  const reply = await project.call('POST', '/api/v1/campaigns/news:preview', { json: body })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}
const named = (...names: string[]) => names.map((name) => `${name}-phone`)

/** Previews, sends, and compares: a preview counts what a trigger then does. */
async function compared(project: TestProject, body: Json): Promise<Json> {
  const { audience } = await preview(project, body)
  const found = await run(project, body)
  assert.deepEqual([audience.devices, audience.skipped], [found.counts.sent, found.skipped ?? {}])
  assert.equal(audience.complete, true)
  return audience
}

describe('a preview counts what a trigger then does', () => {
  it('with a holdout, for everyone and for targets', async () => {
    const project = await service.project()
    await givenMany(service, project, 200, 'hold')
    await givenCampaign(service, project, { holdout: 30 })
    const audience = await compared(project, everyone)
    assert.ok(audience.skipped.holdout > 20 && audience.devices + audience.skipped.holdout === 200)
    assert.equal(audience.users, audience.devices)
    await compared(project, users(...Array.from({ length: 50 }, (_, n) => `hold-user-${n + 1}`)))
  })

  it('with a frequency cap, a limit of the project and values that are missing', async () => {
    const project = await service.project()
    for (const name of ['ana', 'bo', 'cy']) await givenUser(project, name, ...named(name))
    await put(project, 'ana', { name: 'Ana' })
    await put(project, 'bo', { name: 'Bo' })
    const message = { title: 'Hello {{ user.name }}' }
    await givenCampaign(service, project, { message, on_missing: 'skip', frequency_cap: { count: 1, within: '1d' } })
    assert.deepEqual((await compared(project, everyone)).skipped, { missing_value: 1 })
    assert.deepEqual((await compared(project, users('ana', 'cy'))).skipped, { frequency_cap: 1, missing_value: 1 })
    await givenCampaign(service, project, { message })
    const limits = { message_limits: [{ count: 1, within: '1d' }] }
    assert.equal((await service.manage('PATCH', `/projects/${project.id}`, { json: limits })).status, 200)
    const audience = await compared(project, everyone)
    assert.deepEqual([audience.devices, audience.skipped], [1, { capped: 2 }])
    const { sample } = await preview(project, users('ana'))
    assert.equal(sample[0].reason, 'capped')
  })

  it('with steps: users who are in them do not enter again', async () => {
    const project = await service.project()
    for (const name of ['ana', 'bo']) await givenUser(project, name, ...named(name))
    const steps = [
      { id: 'first', message: { title: 'Welcome' } },
      { id: 'second', wait: '2d', message: { title: 'Still there?' } }
    ]
    await givenCampaign(service, project, { message: undefined, steps })
    assert.deepEqual((await compared(project, users('ana'))).skipped, {})
    assert.deepEqual((await compared(project, users('ana', 'bo'))).skipped, { not_entered_again: 1 })
    assert.deepEqual((await compared(project, everyone)).skipped, { not_entered_again: 2 })
  })

  it('with quiet hours: skipped ones are excluded, held ones get it later', async () => {
    const project = await service.project()
    for (const name of ['ana', 'bo']) await givenUser(project, name, ...named(name))
    await put(project, 'ana', { timezone: 'UTC' })
    await put(project, 'bo', { timezone: 'Asia/Tokyo' })
    const clock = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16)
    const quiet_hours = { from: clock(-3_600_000), to: clock(3_600_000), timezone: 'user', action: 'skip' }
    await givenCampaign(service, project, { quiet_hours })
    assert.deepEqual((await compared(project, everyone)).skipped, { quiet_hours: 1 })
    await givenCampaign(service, project, { quiet_hours: { ...quiet_hours, action: 'hold' } })
    const { audience } = await preview(project, everyone)
    assert.deepEqual([audience.devices, audience.deferred, audience.skipped], [2, 1, {}])
  })

  it('with a silent message, which browsers do not take', async () => {
    const project = await service.project()
    const web = { id: 'ana-web', platform: 'WEB', push_token: 'abc', push_token_type: 'FCM' }
    await givenUser(project, 'ana', 'ana-phone', web)
    await givenCampaign(service, project, { message: { silent: true } })
    assert.deepEqual((await compared(project, everyone)).skipped, { unsupported_platform: 1 })
  })
})
