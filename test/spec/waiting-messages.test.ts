import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, readTrigger, triggered } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { accepted, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

/** Beyond the deadline of a batch, so that the retry belongs to the job. */
const retryMs = 15_000

/** Users whose gateway asks for a later attempt. Returns the number of pushes to each. */
async function givenPostponed(project: TestProject, prefix: string, names: string[]) {
  for (const name of names) {
    await givenUser(project, name, prefix + name)
    sender.script(
      prefix + name,
      retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + retryMs + names.length * 100 }),
      accepted()
    )
  }
  return () => Object.fromEntries(names.map((name) => [name, sender.to(prefix + name).length]))
}

const choose = (project: TestProject, user: string, json: Json) =>
  project.call('PATCH', `/api/v1/users/${user}/preferences`, { json })

const quietNow = (action: string) => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
  return { from: at(-1), to: at(2), timezone: 'UTC', action }
}

const allOnce = (pushes: Record<string, number>) => Object.values(pushes).every((count) => count === 1)

// The tests wait for the retry together.
describe('a message that waits for another attempt', { concurrency: true }, () => {
  it('B.3: is skipped where its user opted out of everything or of its topic meanwhile', async () => {
    const project = await service.project()
    await service.manage('PUT', `/projects/${project.id}/topics/offers`, { json: { name: 'Offers' } })
    const pushes = await givenPostponed(project, 'out-', ['ana', 'bo', 'cy'])
    await givenCampaign(service, project, { topic: 'offers' })
    const id = await triggered(project, everyone)
    await eventually(() => assert.ok(allOnce(pushes())))
    await choose(project, 'ana', { opted_out: true })
    await choose(project, 'bo', { topics: { offers: false } })
    const { counts, skipped } = await ended(project, id, 40_000)
    assert.deepEqual(pushes(), { ana: 1, bo: 1, cy: 2 })
    assert.deepEqual([counts.sent, skipped], [1, { opted_out: 1, topic_opted_out: 1 }])
    const why = await project.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`)
    assert.deepEqual([why.json.devices[0].state, why.json.devices[0].gates[1].reason], ['skipped', 'OPTED_OUT'])
  })

  it('B.3: is sent all the same if it is transactional', async () => {
    const project = await service.project()
    const pushes = await givenPostponed(project, 'receipt-', ['ana'])
    await givenCampaign(service, project, { transactional: true })
    const id = await triggered(project, everyone)
    await eventually(() => assert.ok(allOnce(pushes())))
    await choose(project, 'ana', { opted_out: true })
    await service.manage('PATCH', `/projects/${project.id}`, { json: { quiet_hours: quietNow('skip') } })
    assert.equal((await ended(project, id, 40_000)).counts.sent, 1)
    assert.deepEqual(pushes(), { ana: 2 })
  })

  it('B.3: waits for the end of quiet hours that have begun meanwhile, unless they skip or end after its time to live', async () => {
    const cases = [
      { action: 'hold', ttl: 86_400, skipped: {}, pending: 1 },
      { action: 'skip', ttl: 86_400, skipped: { quiet_hours: 1 }, pending: 0 },
      { action: 'hold', ttl: 3_600, skipped: { quiet_hours: 1 }, pending: 0 }
    ]
    const seen = cases.map(async ({ action, ttl, ...expected }, place) => {
      const project = await service.project()
      const pushes = await givenPostponed(project, `quiet-${place}-`, ['ana'])
      await givenCampaign(service, project, { ttl_seconds: ttl })
      const id = await triggered(project, everyone)
      await eventually(() => assert.ok(allOnce(pushes())))
      const quiet_hours = quietNow(action)
      await service.manage('PATCH', `/projects/${project.id}`, { json: { quiet_hours } })
      await eventually(async () => {
        const [row] = await service.sql('select state, due_at from messages where trigger_id = $1', [id])
        if (expected.pending === 0) assert.equal(row!.state, 'skipped')
        else assert.equal((row!.due_at as Date).toISOString().slice(11, 16), quiet_hours.to)
      }, 40_000)
      const { counts, skipped } = await readTrigger(project, id)
      assert.deepEqual({ skipped, pending: counts.pending }, expected, JSON.stringify({ action, ttl }))
      assert.deepEqual(pushes(), { ana: 1 })
    })
    await Promise.all(seen)
  })

  it('delays the next step of its campaign where quiet hours hold it', async () => {
    const project = await service.project()
    const pushes = await givenPostponed(project, 'step-', ['ana'])
    const steps = [
      { id: 'first', message: { title: 'One' } },
      { id: 'second', wait: '1h', message: { title: 'Two' } }
    ]
    await givenCampaign(service, project, { message: undefined, steps })
    const id = await triggered(project, everyone)
    await eventually(() => assert.ok(allOnce(pushes())))
    await service.manage('PATCH', `/projects/${project.id}`, { json: { quiet_hours: quietNow('hold') } })
    await eventually(async () => {
      const [row] = await service.sql('select due_at from messages where trigger_id = $1', [id])
      const [journey] = await service.sql('select due_at from journeys where project_id = $1', [project.id])
      assert.ok(journey!.due_at - row!.due_at >= 3_600_000 && row!.due_at > Date.now() + 60_000)
    }, 20_000)
  })
})
