import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, trigger, users } from '../support/campaigns.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

async function givenPeople(prefix: string): Promise<TestProject> {
  const project = await service.project()
  await givenUser(project, 'ana', `${prefix}-ana`)
  await givenUser(project, 'bo', `${prefix}-bo`)
  return project
}

describe('an idempotency key on a trigger', () => {
  it('creates one trigger, repeats the response, and responds with 409 to another body', async () => {
    const project = await givenPeople('o')
    await givenCampaign(service, project)
    const keyed = (body: unknown, name = 'idempotency-key') =>
      trigger(project, body, 'news', { headers: { [name]: 'k1' } })
    const first = await keyed(users('bo'))
    const again = await keyed(users('bo'), 'x-service-idempotency-key')
    assert.deepEqual([first.status, again.status], [200, 200])
    assert.equal(again.json.trigger_id, first.json.trigger_id)
    assert.deepEqual([first.headers['idempotent-replay'], again.headers['idempotent-replay']], [undefined, 'true'])
    const other = await keyed(users('ana'))
    assert.deepEqual([other.status, other.text], [409, 'Idempotency key was used with another body'])
    await ended(project, first.json.trigger_id)
    assert.equal(sender.to('o-bo').length, 1)
  })

  it('refuses an unknown campaign, however many ask at once: none waits for a connection that another holds', async () => {
    const project = await service.project()
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        trigger(project, users('bo'), 'unknown', { headers: { 'idempotency-key': `u${n}` } })
      )
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([400]))
  })

  it('is one trigger also for ten calls at once, and not kept for a refusal', async () => {
    const project = await givenPeople('p')
    const keyed = () => trigger(project, users('bo'), 'news', { headers: { 'idempotency-key': 'k2' } })
    assert.equal((await keyed()).status, 400)
    await givenCampaign(service, project)
    const replies = await Promise.all(Array.from({ length: 10 }, keyed))
    const ids = new Set(replies.filter(({ status }) => status === 200).map(({ json }) => json.trigger_id))
    assert.equal(ids.size, 1)
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    await ended(project, [...ids][0])
    assert.equal(sender.to('p-bo').length, 1)
  })
})
