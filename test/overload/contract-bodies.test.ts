import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign, invalid, readTrigger, trigger } from '../support/campaigns.ts'
import { eventually, startService } from '../support/service.ts'
import { longestTurn } from '../support/turns.ts'

const service = await startService()
const json = { 'content-type': 'application/json' }
const MiB = 1024 * 1024
const filled = (entry: string, bytes: number) => entry.repeat(Math.floor(bytes / entry.length)).slice(0, -1)
const targets = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ device_id: `none-${index}` })))

describe('no bound refuses a body that contract 4.4 allows, and none blocks the process for long', () => {
  const ignored = filled('[{}],', 10 * MiB - 200)
  const cases: [name: string, body: string, status: number][] = [
    ['4.4: 10 MiB of targets that a broadcast ignores', `{"audience":{"targets":[${ignored}],"broadcast":true}}`, 200],
    ['4.4: the same in another order, broken', `{"audience":{"broadcast":true,"targets":[${ignored},]}}`, 400],
    ['4.4: the same without a broadcast', `{"audience":{"broadcast":false,"targets":[${ignored}]}}`, 400],
    ['4.4: 10 MiB of unknown fields', `{"else":[${ignored}],"audience":{"else":1}}`, 200],
    ['4.4: 1 MiB of properties: 524,280 numbers', `{"properties":{"a":[${filled('0,', MiB - 10)}]}}`, 200],
    ['4.4: 1 MiB and a byte of them', `{"properties":{"a":[${filled('0,', MiB - 6)}0]}}`, 400],
    [
      '4.4: 20,000 targets and 1 MiB',
      `{"audience":{"targets":${targets}},"properties":{"a":[${filled('{},', MiB - 10)}]}}`,
      200
    ],
    ['4.4: 3 million values of properties', `{"properties":{"a":[${filled('{},', 10 * MiB - 200)}]}}`, 400]
  ]
  const given = (async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    return project
  })()
  for (const [name, body, status] of cases) {
    it(`${name}: ${status}`, async () => {
      const project = await given
      const reply = await eventually(async () => {
        const { result, turnMs } = await longestTurn(() => trigger(project, undefined, 'news', { body, headers: json }))
        assert.ok(turnMs < 400, `one turn took ${turnMs} ms`)
        return result
      })
      assert.equal(reply.status, status, String(reply.headers['x-service-error-detail']))
      if (status === 400) assert.equal(reply.text, invalid)
      else if (name.includes('unknown')) assert.equal(reply.headers['x-service-warning'], 'unknown field "else"')
      else assert.ok(await readTrigger(project, reply.json.trigger_id))
    })
  }
})

describe('no bound refuses a body that contract 4.5 and 4.6 allow', () => {
  const target = '{"device_id":"none"}'
  it('1,000 items with 10 MiB of data and unknown fields: a result for each', async () => {
    const project = await service.project()
    const item = `{"target":${target},"title":"x","data":{"a":"${'x'.repeat(5_000)}"},"else":[${filled('{},', 5_000)}]}`
    const body = `{"push_notifications":[${Array(1_000).fill(item).join(',')}]}`
    const result = await project.call('POST', '/api/v1/messages:send', { body, headers: json })
    assert.equal(result.status, 200)
    assert.equal(result.json.delivery_results.length, 1_000)
  })

  it('1,000 Live Activities with 200 values each: a result for each', async () => {
    const project = await service.project()
    const state = JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`name${index}`, index])))
    const item = `{"target":${target},"attributes_type":"A","attributes":${state},"content_state":${state}}`
    const body = `{"live_activities":[${Array(1_000).fill(item).join(',')}]}`
    const result = await project.call('POST', '/api/v1/live-activities:start', { body, headers: json })
    assert.equal(result.status, 200)
    assert.equal(result.json.delivery_results.length, 1_000)
  })
})

describe('text that the database cannot store is refused, also behind a long body', () => {
  it('4.5: a number out of range in an unknown field hides no NUL and no lone surrogate', async () => {
    const project = await service.project()
    for (const bad of ['\\u0000', '\\ud800']) {
      const body = `{"else":1e999,"push_notifications":[{"target":{"device_id":"none"},"title":"a${bad}"}]}`
      const { status, text } = await project.call('POST', '/api/v1/messages:send', { body, headers: json })
      assert.deepEqual([status, text], [400, 'Invalid push notification parameters'])
    }
  })
})
