import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign, put, run, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { failed, givenUser, results, send, succeed, to } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const browser = {
  id: 'rich-web',
  platform: 'WEB',
  push_token: { endpoint: 'https://fcm.googleapis.com/x', keys: { p256dh: 'a', auth: 'b' } },
  push_token_type: 'WEBPUSH'
}
const contentTo = (device: string) => (sender.to(device).at(-1)!.content as Json).notification

describe('rich push by messages:send', () => {
  it('carries category, buttons, level, relevance and silence', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'rich-ana')
    const actions = [{ id: 'call', title: 'Call', landing_url: 'app://call' }]
    const rich = { category: 'ride', interruption_level: 'passive', relevance_score: 1 }
    const [result] = await results(project, [to('ana', { ...rich, actions })])
    assert.equal(result!.status, succeed)
    const sent = contentTo('rich-ana')
    assert.deepEqual(sent.actions, [{ id: 'call', title: 'Call', landingUrl: 'app://call' }])
    assert.deepEqual([sent.category, sent.interruptionLevel, sent.relevanceScore], ['ride', 'passive', 1])
    const [silent] = await results(project, [
      { target: { project_user_id: 'ana' }, silent: true, data: { sync: 'inbox' } }
    ])
    assert.equal(silent!.status, succeed)
    assert.deepEqual(contentTo('rich-ana'), { silent: true, data: { sync: 'inbox' } })
  })

  it('is refused where it makes no sense, with the place', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'sense-ana')
    for (const wrong of [
      { silent: true },
      { silent: 'yes' },
      { interruption_level: 'loud' },
      { relevance_score: 2 },
      { badge: '+1' },
      { actions: [] },
      {
        actions: [
          { id: 'a', title: 'A' },
          { id: 'a', title: 'B' }
        ]
      },
      { actions: [{ id: 'a', title: 'A', landing_url: 'nowhere' }] }
    ]) {
      const reply = await send(project, [to('ana', wrong)])
      assert.deepEqual([reply.status, reply.text], [400, 'Invalid push notification parameters'], JSON.stringify(wrong))
    }
  })

  it('fails for a browser where it is silent: browsers show every push', async () => {
    const project = await service.project()
    await givenUser(project, 'web', browser)
    const [result] = await results(project, [{ target: { project_user_id: 'web' }, silent: true }])
    assert.equal(result!.status, failed)
    assert.match(result!.additional_params.failure_reason, /^\[UNSUPPORTED_PLATFORM\]/)
  })
})

describe('rich push by a campaign', () => {
  it('fills the templates of buttons, data and badge', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'filled-ana')
    await givenCampaign(service, project, {
      message: {
        title: 'Ride {{ trigger.ride }}',
        sound: 'default',
        badge: '{{ trigger.unread }}',
        thread_id: 'ride-{{ trigger.ride }}',
        category: 'ride',
        interruption_level: 'time-sensitive',
        actions: [{ id: 'call', title: 'Call {{ trigger.driver }}', landing_url: 'app://call/{{ trigger.ride }}' }],
        data: { ride: '{{ trigger.ride }}' }
      }
    })
    const properties = { ride: 7, driver: 'Bo', unread: 3 }
    assert.equal((await run(project, { ...users('ana'), properties })).counts.sent, 1)
    assert.deepEqual(contentTo('filled-ana'), {
      title: 'Ride 7',
      threadId: 'ride-7',
      sound: 'default',
      category: 'ride',
      interruptionLevel: 'time-sensitive',
      badge: 3,
      data: { ride: '7' },
      actions: [{ id: 'call', title: 'Call Bo', landingUrl: 'app://call/7' }]
    })
    const lost = await run(project, { ...users('ana'), properties: { ...properties, unread: 'many' } })
    assert.equal(lost.counts.failed, 1)
  })

  it('has the titles of buttons in each language', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'tongue-ana')
    await put(project, 'ana', { language: 'de' })
    const message = {
      title: 'Ride',
      language: 'en',
      actions: [
        { id: 'call', title: 'Call' },
        { id: 'stop', title: 'Stop' }
      ],
      translations: { de: { title: 'Fahrt', actions: { call: '{{ user.id }} anrufen' } } }
    }
    const saved = await givenCampaign(service, project, { message })
    assert.match(saved.warnings.join(), /message\.actions: iPhones show buttons only with a category/)
    assert.equal((await run(project, users('ana'))).counts.sent, 1)
    assert.deepEqual(
      contentTo('tongue-ana').actions.map(({ title }: Json) => title),
      ['ana anrufen', 'Stop']
    )
    const json = { name: 'x', message: { ...message, translations: { de: { actions: { call: 'A', gone: 'B' } } } } }
    const refused = await service.manage('PUT', `/projects/${project.id}/campaigns/x`, { json })
    assert.equal(refused.json.details[0].path, 'message.translations.de.actions.gone')
  })

  it('may be silent, and skips browsers then', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'quiet-ana', { ...browser, id: 'quiet-web' })
    await givenCampaign(service, project, { message: { silent: true, data: { sync: 'inbox' } } })
    const found = await run(project, users('ana'))
    assert.deepEqual([found.counts.sent, found.skipped], [1, { unsupported_platform: 1 }])
    assert.deepEqual(contentTo('quiet-ana'), { silent: true, data: { sync: 'inbox' } })
  })

  it('is refused with all faults at once where it makes no sense', async () => {
    const project = await service.project()
    const message = {
      silent: true,
      title: 'Hello',
      badge: '+1',
      actions: [
        { id: 'a', title: 'A', landing_url: 'nowhere' },
        { id: 'a', title: 'B' }
      ]
    }
    const reply = await service.manage('PUT', `/projects/${project.id}/campaigns/news`, {
      json: { name: 'News', message }
    })
    assert.deepEqual(
      [reply.status, reply.json.details.map(({ path }: Json) => path)],
      [
        400,
        [
          'message.title',
          'message.badge',
          'message.actions',
          'message.badge',
          'message.actions[0].landing_url',
          'message.actions[1].id'
        ]
      ]
    )
  })
})
