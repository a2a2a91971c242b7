import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { readyOf } from '../../src/campaigns/versions.ts'
import type { Endpoint } from '../../src/channels/channels.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createRenderer } from '../../src/templates/renderer.ts'
import { renderingOf } from '../../src/templates/rendering.ts'
import { draftMessages } from '../../src/triggers/batches/draft.ts'

const renderer = createRenderer()
after(renderer.close)

const recipients = Array.from({ length: 60 }, (_, n) => ({
  device_id: `phone-${n}`,
  user_id: '00000000-0000-7000-8000-000000000001',
  project_user_id: `user-${n}`,
  properties: { n },
  platform: 'IOS' as const,
  facts: {},
  choices: null
}))
const endpoints = new Map(recipients.map(({ device_id }) => [device_id, { deviceId: device_id } as Endpoint]))
const projectId = '00000000-0000-7000-8000-000000000003' as ProjectId
const trigger = { id: '00000000-0000-7000-8000-000000000002', campaign_id: 'slow', properties: {} }

const drafted = (title: string) =>
  draftMessages({
    trigger,
    ready: readyOf(renderer, projectId, parseCampaign({ campaign_id: 'slow', name: 'Slow', message: { title } })),
    recipients,
    endpoints,
    topics: new Map(),
    capped: new Set(),
    notAfter: Date.now() + 3_600_000
  })

it('a template that is slow for each of many devices lets other work run in between', async () => {
  let turns = 0
  const beside = setInterval(() => {
    turns += 1
  }, 1)
  const loop = '{% for a in (1..30) %}{% for b in (1..20) %}{% if b == user.n %}.{% endif %}{% endfor %}{% endfor %}'
  const { messages, skips, deferred } = await drafted(`${loop}x`)
  clearInterval(beside)
  const later = [...deferred.values()].flat()
  assert.equal(messages.length + skips.length + later.length, recipients.length)
  assert.ok(messages.length > 0, 'some messages are always drafted')
  assert.ok(turns > 0, 'other work ran meanwhile')
})

it('a failing template without user data is rendered once and fails every message', async () => {
  const title = '{% for a in (1..1000000000) %}x{% endfor %}'
  const { messages, skips } = await drafted(title)
  assert.deepEqual([messages.length, skips.length], [0, recipients.length])
  assert.ok(skips.every(({ reason }) => reason === 'template_failed'))
  const { make } = renderingOf(parseCampaign({ campaign_id: 'slow', name: 'Slow', message: { title } })).for(trigger)
  const faults = recipients.map((recipient) => {
    try {
      return make(recipient)
    } catch (error) {
      return error
    }
  })
  assert.equal(new Set(faults).size, 1, 'all recipients share one fault')
})
