import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign, trigger } from '../support/campaigns.ts'
import { givenUser } from '../support/messages.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project()
await givenUser(project, 'ana', 'ana-phone')
await givenCampaign(service, project)
const warning = async (method: string, path: string, json?: object): Promise<unknown> => {
  const reply = await project.call(method, `/api/v1${path}`, json ? { json } : {})
  assert.equal(reply.status, 200, reply.text)
  return reply.headers['x-service-warning']
}

describe('fields that a request does not have', () => {
  it('are named however a client writes names', async () => {
    // Clients that escape all but ASCII: such a body is read in slices, and only as far as its route wants it.
    const body = `{"project_user_id":"ana","pl\\u0061n":"x","properties":{"a":"${'x'.repeat(300)}"}}`
    const headers = { 'content-type': 'application/json' }
    const reply = await project.call('POST', '/api/v1/users', { body, headers })
    assert.deepEqual([reply.status, reply.headers['x-service-warning']], [200, 'unknown field "plan"'])
  })

  it('are ignored as before, and the header names them with their places and what was meant', async () => {
    const target = { project_user_id: 'ana' }
    assert.equal(
      await warning('PATCH', '/users/ana/preferences', { optedout: true }),
      'unknown field "optedout" (did you mean "opted_out"?)'
    )
    assert.equal(await warning('POST', '/users', { project_user_id: 'ana', plan: 'x' }), 'unknown field "plan"')
    assert.equal(
      await warning('POST', '/messages:send', { push_notifications: [{ target, title: 'a', boddy: 'b' }] }),
      'unknown field "push_notifications[].boddy" (did you mean "body"?)'
    )
    const event = { device_id: 'ana-phone', name: 'bought', propertes: {}, properties: { amount: 3 } }
    assert.match(
      String(await warning('POST', '/events', { events: [event] })),
      /^unknown field "events\[\]\.propertes"/
    )
  })

  it('4.4: of an audience are named, because the trigger reaches other users without them', async () => {
    const named = async (audience: object) => (await trigger(project, { audience })).headers['x-service-warning']
    const targets = [{ project_user_id: 'ana', propertes: { code: 'A' } }]
    assert.equal(await named({ target: [{ project_user_id: 'ana' }] }), 'unknown field "audience.target"')
    assert.equal(await named({ targets }), 'unknown field "audience.targets[].propertes"')
    const reply = await project.call('POST', '/api/v1/campaigns/news:preview', { json: { audience: { target: [] } } })
    assert.deepEqual(reply.json.warnings, ['unknown field "audience.target"'])
  })

  it('are named among the parameters of a list', async () => {
    assert.equal(await warning('GET', '/messages?user_id=a'), 'unknown parameter "user_id"')
    assert.match(String(await warning('GET', '/triggers?campagn_id=news')), /did you mean "campaign_id"/)
    const reply = await service.manage('GET', `/projects/${project.id}/users?serch=an`)
    assert.equal(reply.headers['x-service-warning'], 'unknown parameter "serch" (did you mean "search"?)')
  })

  it('are not named where every name has a meaning, all names are known, or the request is refused', async () => {
    assert.equal(await warning('POST', '/users', { project_user_id: 'ana', properties: { any: 1 } }), undefined)
    const event = { device_id: 'ana-phone', name: 'bought', properties: { amount: 3 }, event_property: null }
    assert.equal(await warning('POST', '/events', { events: [event] }), undefined)
    assert.equal(await warning('GET', '/messages?limit=5&status=FAILED'), undefined)
    const refused = await project.call('POST', '/api/v1/users', { json: { project_user_id: 5, else: 1 } })
    assert.deepEqual([refused.status, refused.headers['x-service-warning']], [400, undefined])
  })

  it('are named in printable characters, at most five of them', async () => {
    const body = Object.fromEntries(['ü', ...'abcdefg'].map((name) => [name, 1]))
    const all = await warning('POST', '/users', { project_user_id: 'ana', ...body })
    assert.equal(all, 'unknown field "?", "a", "b", "c", "d"')
  })
})
