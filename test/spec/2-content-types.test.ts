import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })
const project = await service.project()
await givenCampaign(service, project)
await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })

const target = { project_user_id: 'ana' }
const activity = { target, attributes_type: 'Ride', attributes: {}, content_state: {} }
/** The endpoints of the contract that take a body, with a valid body and the text of the refusal. */
const contract = [
  ['4.1', 'POST', '/api/v1/users', { project_user_id: 'bo' }, 'Project User Id must be provided'],
  ['4.2', 'PATCH', '/api/v1/users/ana', { properties: { a: 1 } }, 'Project User Id must be provided'],
  ['4.4', 'POST', '/api/v1/campaigns/news:trigger', { audience: { targets: [] } }, 'Campaign Id must be provided'],
  [
    '4.5',
    'POST',
    '/api/v1/messages:send',
    { push_notifications: [{ target, title: 'Hi' }] },
    'Invalid push notification parameters'
  ],
  ['4.6', 'POST', '/api/v1/live-activities:start', { live_activities: [activity] }, 'Invalid live activity parameters']
] as const

/** The types that clients send by default: `curl -d`, `fetch` with a text, a client that sets none. */
const unasked = [
  undefined,
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'APPLICATION/X-WWW-FORM-URLENCODED; charset="utf-8"'
]
const others = ['text/html', 'application/xml', 'text/plain; charset=utf-16', 'multipart/form-data; boundary=x', 'x']

describe('A.2: content types', () => {
  for (const [clause, method, path, json, text] of contract) {
    it(`${clause}: a JSON body is read as JSON where the client chose no type`, async () => {
      for (const type of unasked) {
        const reply = await project.call(method, path, {
          body: JSON.stringify(json),
          headers: { 'content-type': type }
        })
        assert.equal(reply.status, 200, `${type}: ${reply.text}`)
        const broken = await project.call(method, path, { body: 'a=b&c', headers: { 'content-type': type } })
        assert.deepEqual([broken.status, broken.text], [400, text], type)
        assert.equal(broken.headers['x-service-error-code'], 'malformed_body')
      }
    })

    it(`${clause}: any other type is the fixed 400`, async () => {
      for (const type of others) {
        const reply = await project.call(method, path, {
          body: JSON.stringify(json),
          headers: { 'content-type': type }
        })
        assert.deepEqual([reply.status, reply.text], [400, text], type)
        assert.equal(reply.headers['x-service-error-code'], 'unsupported_media_type')
      }
    })
  }

  it('JSON is UTF-8, in either spelling; another charset is named as the fault', async () => {
    const register = (type: string) =>
      project.call('POST', '/api/v1/devices', {
        body: '{"devices":[{"id":"d","platform":"IOS"}]}',
        headers: { 'content-type': type }
      })
    for (const type of ['application/json; charset=utf8', 'application/json;charset="UTF-8"'])
      assert.equal((await register(type)).status, 200, type)
    const refused = await register('application/json; charset=ISO-8859-1')
    assert.equal(refused.status, 415)
    assert.match(refused.json.error, /UTF-8/)
  })

  it('additive endpoints answer 415 to every type but JSON', async () => {
    for (const type of [...unasked, ...others]) {
      const headers = { 'content-type': type }
      for (const [path, body] of [
        ['/api/v1/devices', '{"devices":[{"id":"d","platform":"IOS"}]}'],
        ['/api/v1/campaigns/news:preview', '{}']
      ] as const) {
        const reply = await project.call('POST', path, { body, headers })
        assert.deepEqual([reply.status, reply.json.code], [415, 'unsupported_media_type'], `${path} ${type}`)
      }
    }
  })

  it('/a2a answers 415 with the JSON-RPC error -32005', async () => {
    for (const type of [...unasked, ...others, '']) {
      const reply = await service.ask('POST', '/a2a', {
        body: '{"jsonrpc":"2.0","id":"1","method":"ListTasks","params":{}}',
        headers: { 'x-api-key': project.secretKey, 'a2a-version': '1.0', 'content-type': type }
      })
      assert.deepEqual([reply.status, reply.json.jsonrpc, reply.json.error?.code], [415, '2.0', -32005], type)
    }
  })
})
