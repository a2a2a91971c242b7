import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import type { ProjectId } from '../platform/ids.ts'
import { createRenderer } from '../templates/templates.ts'
import type { StoredTarget } from './audience/request.ts'
import { parseCampaign } from './definition/definition.ts'
import { readyOf } from './versions.ts'

const renderer = createRenderer()
after(renderer.close)

it('the properties of a trigger are not copied for each of its targets, however many they are', () => {
  let copies = 0
  const properties = new Proxy<Record<string, unknown>>(
    { city: 'Rome', plan: 'free' },
    {
      ownKeys(all) {
        copies += 1
        return Reflect.ownKeys(all)
      }
    }
  )
  const segment = {
    all: [
      { attribute: 'user.city', operator: 'equals', value: '{{ trigger.city }}' },
      {
        event: 'bought',
        operator: 'at_least',
        count: 1,
        where: [{ attribute: 'event.plan', operator: 'in', value: ['{{ trigger.plan }}', 'x'] }]
      }
    ]
  }
  const campaign = parseCampaign({ name: 'News', message: { title: 'Hello' }, segment })
  const ready = readyOf(renderer, 'p' as ProjectId, campaign)
  const segmentOf = ready.segmentsFor({ properties, started_at: new Date() })
  const filled = (target: StoredTarget) => {
    const [city, , , , plans] = segmentOf(target)(2).values
    return [city, plans]
  }
  assert.deepEqual(filled(['device_id', 'a']), ['{"city":"Rome"}', ['free', 'x']])
  assert.deepEqual(filled(['device_id', 'b', { city: 'Oslo' }]), ['{"city":"Oslo"}', ['free', 'x']])
  assert.deepEqual(filled(['device_id', 'c', { plan: 'pro', city: 7 }]), ['{"city":7}', ['pro', 'x']])
  assert.equal(copies, 0)
  assert.equal(segmentOf(['device_id', 'd', { other: 1 }]), segmentOf(['device_id', 'e']))
})

it('targets share what is made of a list that the trigger gave them', () => {
  const segment = {
    all: [
      { attribute: 'user.city', operator: 'in', value: '{{ trigger.cities }}' },
      { attribute: 'user.plan', operator: 'equals', value: '{{ trigger.plan }}' }
    ]
  }
  const campaign = parseCampaign({ name: 'News', message: { title: 'Hello' }, segment })
  const properties = { cities: ['Rome', 'Oslo'] }
  const segmentOf = readyOf(renderer, 'p' as ProjectId, campaign).segmentsFor({ properties, started_at: new Date() })
  const listOf = (plan: string) => segmentOf(['device_id', plan, { plan }])(2).values.find(Array.isArray)
  assert.deepEqual(listOf('free'), ['Rome', 'Oslo'])
  assert.equal(listOf('free'), listOf('pro'))
})
