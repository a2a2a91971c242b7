import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { parseCampaign } from '../../src/campaigns/definition/definition.ts'
import { readyOf } from '../../src/campaigns/versions.ts'
import type { Endpoint } from '../../src/channels/channels.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createRenderer } from '../../src/templates/renderer.ts'
import { renderingOf } from '../../src/templates/rendering.ts'
import { sortRecipients } from '../../src/triggers/batches/eligibility.ts'

const renderer = createRenderer()
after(renderer.close)

const recipients = Array.from({ length: 60 }, (_, n) => ({
  device_id: `phone-${n}`,
  user_id: '00000000-0000-7000-8000-000000000001',
  project_user_id: `user-${n}`,
  properties: { n },
  platform: 'IOS' as const,
  facts: {}
}))
const targets = new Map(recipients.map(({ device_id }) => [device_id, { deviceId: device_id } as Endpoint]))
const projectId = '00000000-0000-7000-8000-000000000003' as ProjectId
const trigger = { id: '00000000-0000-7000-8000-000000000002', campaign_id: 'slow', properties: {} }

const sorted = (title: string) =>
  sortRecipients({
    trigger,
    ready: readyOf(renderer, projectId, parseCampaign({ campaign_id: 'slow', name: 'Slow', message: { title } })),
    recipients,
    targets,
    full: new Set(),
    notAfter: Date.now() + 3_600_000
  })

it('a template made to be slow for each of many devices gives others their turn in between', async () => {
  let turns = 0
  const beside = setInterval(() => {
    turns += 1
  }, 1)
  const loop = '{% for a in (1..30) %}{% for b in (1..20) %}{% if b == user.n %}.{% endif %}{% endfor %}{% endfor %}'
  const { drafts, skips, held } = await sorted(`${loop}x`)
  clearInterval(beside)
  const later = [...held.values()].flat()
  assert.equal(drafts.length + skips.length + later.length, recipients.length)
  assert.ok(drafts.length > 0, 'there is always some of it that is done')
  assert.ok(turns > 0, 'something else ran before it was done')
})

it('a template that speaks of nobody and fails is rendered once, and fails every message', async () => {
  const title = '{% for a in (1..1000000000) %}x{% endfor %}'
  const { drafts, skips } = await sorted(title)
  assert.deepEqual([drafts.length, skips.length], [0, recipients.length])
  assert.ok(skips.every(({ reason }) => reason === 'template_failed'))
  const { make } = renderingOf(parseCampaign({ campaign_id: 'slow', name: 'Slow', message: { title } })).for(trigger)
  const faults = recipients.map((recipient) => {
    try {
      return make(recipient)
    } catch (error) {
      return error
    }
  })
  assert.equal(new Set(faults).size, 1, 'it is one and the same fault')
})
