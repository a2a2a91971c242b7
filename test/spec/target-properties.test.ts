import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, givenMany, put, run, trigger, triggered } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const titlesTo = (device: string) => sender.to(device).map(({ content }) => (content as Json).notification.title)
const user = (project_user_id: string, properties?: unknown) => ({ project_user_id, properties })
const to = (targets: Json[], properties: Json = {}) => ({ audience: { targets }, properties })

describe('properties of a target (contract B.2)', () => {
  it('are merged over those of the trigger, for that target', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'own-ana')
    await givenUser(project, 'bo', 'own-bo')
    await givenUser(project, 'cy', 'own-cy')
    await givenCampaign(service, project, { message: { title: '{{ trigger.code }} in {{ trigger.shop }}' } })
    const targets = [user('ana', { code: 'A1' }), user('bo', { code: 'B2', shop: 'Rome' }), user('cy', null)]
    assert.equal((await run(project, to(targets, { code: 'none', shop: 'Oslo' }))).counts.sent, 3)
    assert.deepEqual(['own-ana', 'own-bo', 'own-cy'].flatMap(titlesTo), ['A1 in Oslo', 'B2 in Rome', 'none in Oslo'])
  })

  it('count in conditions: each target is compared with its own values', async () => {
    const project = await service.project()
    for (const [name, city] of [
      ['ana', 'Rome'],
      ['bo', 'Oslo'],
      ['cy', 'Lima']
    ] as const) {
      await givenUser(project, name, `where-${name}`)
      await put(project, name, { city })
    }
    const segment = { attribute: 'user.city', operator: 'equals', value: '{{ trigger.city }}' }
    await givenCampaign(service, project, { segment, message: { title: '{{ trigger.city }}' } })
    const body = to([user('ana', { city: 'Rome' }), user('bo', { city: 'Rome' }), user('cy')])
    const found = await run(project, body)
    assert.deepEqual(found.skipped, { not_in_segment: 1, missing_trigger_property: 1 })
    assert.deepEqual(['where-ana', 'where-bo', 'where-cy'].flatMap(titlesTo), ['Rome'])
    const preview = await project.call('POST', '/api/v1/campaigns/news:preview', { json: body })
    assert.deepEqual([preview.json.audience.devices, preview.json.audience.skipped], [1, found.skipped])
    assert.equal(preview.json.sample[0].content.notification.title, 'Rome')
    const explained = async (name: string) => {
      const reply = await project.call('GET', `/api/v1/triggers/${found.trigger_id}/explain?project_user_id=${name}`)
      return reply.json.gates.find((gate: Json) => !gate.passed)?.reason
    }
    assert.deepEqual(
      [await explained('ana'), await explained('bo'), await explained('cy')],
      [undefined, 'not_in_segment', 'missing_trigger_property']
    )
  })

  it('of the first target that reaches a device win', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'first-ana')
    await givenCampaign(service, project, { message: { title: '{{ trigger.code }}' } })
    const device = { device_id: 'first-ana', properties: { code: 'by device' } }
    await run(project, to([user('ana', { code: 'one' }), device, user('ana', { code: 'two' })]))
    await run(project, to([device, user('ana', { code: 'one' })]))
    assert.deepEqual(titlesTo('first-ana'), ['one', 'by device'])
  })

  it('survive in batches, also where a later batch names the same devices', async () => {
    const project = await service.project()
    await givenMany(service, project, 450, 'many')
    await givenCampaign(service, project, { message: { title: '{{ trigger.code }}' } })
    const numbers = Array.from({ length: 450 }, (_, n) => n + 1)
    const named = numbers.map((n) => user(`many-user-${n}`, { code: `code ${n}` }))
    const again = numbers.map((n) => ({ device_id: `many-${n}`, properties: { code: 'late' } }))
    assert.equal((await run(project, to([...named, ...again]))).counts.sent, 450)
    assert.ok(numbers.every((n) => titlesTo(`many-${n}`).join() === `code ${n}`))
  })

  it('survive quiet hours, and the deletion of another user meanwhile', async () => {
    const project = await service.project()
    for (const name of ['ana', 'bo', 'cy']) await givenUser(project, name, `held-${name}`)
    const clock = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16)
    const quiet_hours = { from: clock(-3_600_000), to: clock(3_600_000), timezone: 'user' }
    await givenCampaign(service, project, { quiet_hours, message: { title: '{{ trigger.code }}' } })
    const id = await triggered(project, to(['ana', 'bo', 'cy'].map((name) => user(name, { code: `for ${name}` }))))
    await eventually(async () =>
      assert.deepEqual(
        await service.sql('select cardinality(places) as places from trigger_chunks where trigger_id = $1 and held', [
          id
        ]),
        [{ places: 3 }]
      )
    )
    assert.equal((await project.call('DELETE', '/api/v1/users/bo')).status, 200)
    // Elsewhere the night is over; the stored times are moved, because the clock cannot be set.
    for (const name of ['ana', 'cy']) await put(project, name, { timezone: 'Asia/Tokyo' })
    await service.sql('update trigger_chunks set due_at = now() where trigger_id = $1', [id])
    await service.sql(`update jobs set run_at = now(), ready = true where payload ->> 'triggerId' = $1`, [id])
    assert.equal((await ended(project, id)).counts.sent, 2)
    assert.deepEqual([...titlesTo('held-ana'), ...titlesTo('held-cy')], ['for ana', 'for cy'])
  })

  it('are malformed beyond 8 MiB in all, or where they are no object', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'large-ana')
    await givenCampaign(service, project, { message: { title: '{{ trigger.text | size }}' } })
    const text = (kib: number) => ({ text: 'x'.repeat(kib * 1024) })
    const many = (count: number) => Array.from({ length: count }, (_, n) => user(`none-${n}`, text(1_023)))
    const large = await trigger(project, to([user('ana', { text: 'mine' }), ...many(9)]))
    assert.deepEqual([large.status, large.text], [400, 'Campaign Id must be provided'])
    assert.equal((await trigger(project, to([user('ana', 'text')]))).status, 400)
    assert.equal((await run(project, to([user('ana', { text: 'mine' }), ...many(7)]))).counts.sent, 1)
    assert.deepEqual(titlesTo('large-ana'), ['4'])
  })

  it('belong to the request of an idempotency key', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'once-ana')
    await givenCampaign(service, project, { message: { title: '{{ trigger.code }}' } })
    const asked = { headers: { 'idempotency-key': 'one' } }
    const send = (code: string) => trigger(project, to([user('ana', { code })]), 'news', asked)
    assert.deepEqual([(await send('A')).status, (await send('A')).status, (await send('B')).status], [200, 200, 409])
  })
})
