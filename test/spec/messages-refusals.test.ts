import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenUser, send, to } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

describe('POST /api/v1/messages:send refuses', () => {
  const text = 'Invalid push notification parameters'
  const at = (item: unknown) => ({ push_notifications: [to('ana'), item] })
  const cases: [what: string, body: unknown, detail: string][] = [
    ['an array as the body', [], 'body: must be an object'],
    ['no items', {}, 'push_notifications: must be given'],
    ['items that are no array', { push_notifications: {} }, 'push_notifications: must be an array'],
    ['an empty list', { push_notifications: [] }, 'push_notifications: must not be empty'],
    ['null items', { push_notifications: null }, 'push_notifications: must be an array'],
    ['an item that is no object', at('a'), 'push_notifications[1]: must be an object'],
    ['an item without a target', at({ title: 'a' }), 'push_notifications[1].target: must be given'],
    ['a target that is null', at({ target: null, title: 'a' }), 'push_notifications[1].target: must be an object'],
    [
      'a target without a field',
      at({ target: {}, title: 'a' }),
      'push_notifications[1].target: must have exactly one of project_user_id, device_id and user_id'
    ],
    [
      'a target with two',
      at({ target: { project_user_id: 'a', device_id: 'b' }, title: 'a' }),
      'push_notifications[1].target: must have exactly one of project_user_id, device_id and user_id'
    ],
    [
      'an id that is a number',
      at({ target: { project_user_id: 1 }, title: 'a' }),
      'push_notifications[1].target.project_user_id: must be a string'
    ],
    [
      'an empty id',
      at({ target: { device_id: '' }, title: 'a' }),
      'push_notifications[1].target.device_id: must not be empty'
    ],
    [
      'neither title nor body',
      at(to('ana', { title: undefined })),
      'push_notifications[1]: must have a title or a body'
    ],
    ['an empty title alone', at(to('ana', { title: '' })), 'push_notifications[1]: must have a title or a body'],
    ['a title that is a number', at(to('ana', { title: 1 })), 'push_notifications[1].title: must be a string'],
    ['a body that is a number', at(to('ana', { body: 5 })), 'push_notifications[1].body: must be a string'],
    [
      'an image by ftp',
      at(to('ana', { image_url: 'ftp://a/b' })),
      'push_notifications[1].image_url: must begin with http:// or https://'
    ],
    [
      'a relative landing url',
      at(to('ana', { landing_url: '/a' })),
      'push_notifications[1].landing_url: must be an absolute address'
    ],
    [
      'an unknown priority',
      at(to('ana', { priority: 'urgent' })),
      'push_notifications[1].priority: must be high or normal'
    ],
    [
      'a fractional ttl',
      at(to('ana', { ttl_seconds: 1.5 })),
      'push_notifications[1].ttl_seconds: must be a whole number from 0 to 2419200'
    ],
    [
      'a negative badge',
      at(to('ana', { badge: -1 })),
      'push_notifications[1].badge: must be a whole number from 0 to 2147483647'
    ],
    ['data that is no map', at(to('ana', { data: ['a'] })), 'push_notifications[1].data: must be an object'],
    ['data that is no text', at(to('ana', { data: { a: 1 } })), 'push_notifications[1].data.a: must be a string'],
    [
      'several faults, told together',
      { push_notifications: [{ title: 'a' }, to('ana'), to('ana', { title: 5 })] },
      'push_notifications[0].target: must be given; push_notifications[2].title: must be a string'
    ]
  ]
  for (const [what, body, detail] of cases) {
    it(`${what}, and sends nothing`, async () => {
      const project = await service.project()
      await givenUser(project, 'ana', 'refused-1')
      const reply = await project.call('POST', '/api/v1/messages:send', { json: body })
      assert.equal(reply.status, 400)
      assert.equal(reply.text, text)
      assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
      assert.equal(reply.headers['x-service-error-code'], 'invalid_push_notification')
      assert.equal(reply.headers['x-service-error-detail'], detail)
      assert.deepEqual(sender.to('refused-1'), [])
    })
  }

  it('1,001 items, a body that is not JSON, empty, of a wrong type or too deep: always the fixed text', async () => {
    const project = await service.project()
    const deep = `{"push_notifications":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const json = { 'content-type': 'application/json' }
    const asked = [
      { json: { push_notifications: Array.from({ length: 1_001 }, () => to('ana')) } },
      { body: '{', headers: json },
      { body: '', headers: json },
      {},
      { body: JSON.stringify({ push_notifications: [to('ana')] }), headers: { 'content-type': 'text/html' } },
      { body: deep, headers: json },
      { body: '{"push_notifications":[{"target":{"project_user_id":"a"},"title":"\\u0000"}]}', headers: json },
      { body: '{"push_notifications":[{"target":{"project_user_id":"a"},"title":"\\ud800"}]}', headers: json }
    ]
    for (const one of asked) {
      const reply = await project.call('POST', '/api/v1/messages:send', one)
      assert.deepEqual([reply.status, reply.text], [400, text], JSON.stringify(one).slice(0, 100))
      assert.ok(reply.headers['x-service-error-code'])
    }
  })

  it('a public key, and an unknown one, before it reads anything', async () => {
    const project = await service.project()
    const reply = await send(project, 'nonsense', { headers: { 'x-service-api-key': project.publicKey } })
    assert.deepEqual([reply.status, reply.text], [401, 'Invalid API key'])
  })
})
