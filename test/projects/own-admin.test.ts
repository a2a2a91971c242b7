import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from '../support/service.ts'

const service = await startService()
const project = await service.project({ limits: { requests_per_second: 500 } })
const token = async (role: string, projectId?: string) =>
  (await service.manage('POST', '/tokens', { json: { name: role, role, ...(projectId && { project_id: projectId }) } }))
    .json.token as string
const own = await token('admin', project.id)
const as = (bearer: string, method: string, path: string, json?: unknown) =>
  service.ask(method, `/manage/v1${path}`, {
    headers: { authorization: `Bearer ${bearer}` },
    ...(json !== undefined && { json })
  })

describe("a project's own admin", () => {
  const path = `/projects/${project.id}`
  const wishes: [string, Record<string, unknown>, string[]][] = [
    ['plan', { plan: 'unlimited' }, ['plan']],
    ['limits', { limits: { requests_per_second: 0 } }, ['limits.requests_per_second']],
    ['limits, by taking them back', { limits: { triggers_per_second: null } }, ['limits.triggers_per_second']],
    [
      'plan and limits beside a name',
      { name: 'Mine', plan: 'free', limits: { client_requests_per_second: 1 } },
      ['plan', 'limits.client_requests_per_second']
    ]
  ]
  for (const [what, wish, named] of wishes) {
    it(`cannot change its ${what}: 403 names the fields, and nothing changes`, async () => {
      const before = (await service.manage('GET', path)).json
      const reply = await as(own, 'PATCH', path, wish)
      assert.deepEqual([reply.status, reply.json.code], [403, 'forbidden'])
      assert.match(reply.json.error, /token for the whole installation/)
      assert.deepEqual(
        reply.json.details.map((fault: { path: string }) => fault.path),
        named
      )
      assert.deepEqual((await service.manage('GET', path)).json, before)
    })
  }

  it('changes its name, mode and retention', async () => {
    const wish = { name: 'Ours', mode: 'simulator', limits: {}, retention: { events_days: 30, messages_days: null } }
    const reply = await as(own, 'PATCH', path, wish)
    assert.equal(reply.status, 200)
    const { name, mode, retention, limits } = reply.json
    assert.deepEqual([name, mode, retention.events_days, limits.requests_per_second], ['Ours', 'simulator', 30, 500])
  })

  it('cannot make a token that could', async () => {
    assert.equal((await as(own, 'POST', '/tokens', { name: 'wide', role: 'admin' })).status, 403)
  })

  it('an admin of the whole installation changes both', async () => {
    const reply = await service.manage('PATCH', path, { json: { plan: 'free', limits: { requests_per_second: 700 } } })
    assert.deepEqual([reply.status, reply.json.plan, reply.json.limits.requests_per_second], [200, 'free', 700])
  })
})

describe('nodes', () => {
  it('show host and pid to editors and admins of the whole installation, and to no other token', async () => {
    for (const [bearer, seen] of [
      [service.adminToken, true],
      [await token('editor'), true],
      [await token('viewer'), false],
      [own, false],
      [await token('viewer', project.id), false]
    ] as const) {
      const [node] = (await as(bearer, 'GET', '/nodes')).json.items
      assert.deepEqual(['host' in node, 'pid' in node], [seen, seen])
      assert.ok(node.id && node.role && node.version && node.seen_at)
    }
  })
})

describe('refusals', () => {
  it('a valid public key where a secret one is wanted gets the same body, and a header that says so', async () => {
    const ask = (key: string, id = project.id) =>
      service.ask('GET', '/api/v1/users/x', { headers: { 'x-service-project-id': id, 'x-service-api-key': key } })
    const detailOf = async (reply: ReturnType<typeof ask>) => {
      const { status, text, headers } = await reply
      assert.deepEqual([status, text, headers['x-service-error-code']], [401, 'Invalid API key', 'invalid_api_key'])
      return headers['x-service-error-detail']
    }
    assert.equal(
      await detailOf(ask(project.publicKey)),
      'X-Service-API-Key: a public key was given; this endpoint needs a secret key'
    )
    const other = await service.project()
    for (const [key, id] of [
      [other.publicKey, project.id],
      ['svc_pk_guess', project.id],
      [project.publicKey, 'nowhere']
    ] as const)
      assert.equal(await detailOf(ask(key, id)), 'Invalid API key')
  })

  it('the error of an unknown project names it and the next step', async () => {
    const absent = await service.manage('GET', '/projects/shop')
    assert.deepEqual(
      [absent.status, absent.json.error],
      [404, 'There is no project shop. GET /manage/v1/projects (tidings project list) lists them.']
    )
    const { json } = await service.manage('POST', '/tokens', {
      json: { name: 'x', role: 'viewer', project_id: 'shop' }
    })
    assert.match(json.error, /^There is no project shop\./)
  })

  it('to a token of one project another project and one that does not exist look alike', async () => {
    const other = await service.project()
    const refusalOf = async (id: string) => {
      const { status, json } = await as(own, 'GET', `/projects/${id}`)
      return [status, json.error]
    }
    assert.deepEqual(await refusalOf(other.id), await refusalOf('shop'))
    const told = `There is no such project for this token, which is for the project ${project.id}.`
    assert.deepEqual(await refusalOf('shop'), [404, told])
  })
})
