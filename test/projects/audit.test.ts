import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { givenCampaign } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

const audit = async (project: TestProject, query = ''): Promise<Json[]> => {
  const reply = await service.manage('GET', `/projects/${project.id}/audit?${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.items
}

async function tokenOf(project: TestProject, name: string, role: string) {
  const { json } = await service.manage('POST', '/tokens', { json: { name, role, project_id: project.id } })
  return { id: json.id as string, headers: { authorization: `Bearer ${json.token}` } }
}

const sentence = ({ actor_name, phrase, target_name }: Json) => `${actor_name} ${phrase} ${target_name}`

describe('the audit log', () => {
  it('names people and things in sentences, with the old and the new value of what changed', async () => {
    const project = await service.project()
    const { headers } = await tokenOf(project, 'Ada', 'admin')
    await givenCampaign(service, project, { name: 'Welcome', status: 'draft' })
    const path = `/projects/${project.id}`
    const { json: campaign } = await service.manage('GET', `${path}/campaigns/news`)
    const { version: _, created_at: __, updated_at: ___, ...definition } = campaign
    const put = await service.manage('PUT', `${path}/campaigns/news`, {
      json: { ...definition, status: 'active' },
      headers
    })
    assert.equal(put.status, 200, put.text)
    await service.manage('PATCH', path, { json: { retention: { events_days: 7 } }, headers })
    const key = (await service.manage('POST', `${path}/keys`, { json: { kind: 'secret', name: 'bot' }, headers })).json
    await service.manage('PATCH', `${path}/keys/${key.id}`, { json: { policy: { dry_run: true } }, headers })
    await service.manage('DELETE', `${path}/keys/${key.id}`, { headers })
    const [revoked, policy, created, changed, activated] = await audit(project)
    assert.deepEqual([revoked, policy, created, activated].map(sentence), [
      'Ada revoked the key bot',
      'Ada added a policy to the key bot',
      'Ada created the key bot',
      'Ada activated the campaign Welcome'
    ])
    assert.deepEqual([activated.details.status, activated.details.before], ['active', { status: 'draft' }])
    assert.equal(activated.actor_role, 'admin')
    assert.deepEqual(changed.details.before, { retention: { events_days: 365 } })
  })

  it('keeps the names of tokens and keys that were deleted, in versions of campaigns too', async () => {
    const project = await service.project()
    const ada = await tokenOf(project, 'Ada', 'editor')
    const path = `/projects/${project.id}`
    const json = { name: 'Welcome', message: { title: 'Hi' }, campaign_id: 'news' }
    assert.equal((await service.manage('POST', `${path}/campaigns`, { json, headers: ada.headers })).status, 201)
    assert.equal((await service.manage('DELETE', `/tokens/${ada.id}`)).status, 200)
    const made = (await audit(project, 'action=campaign'))[0]
    assert.deepEqual([made.actor, made.actor_name, made.actor_role], [`token ${ada.id}`, 'Ada', 'editor'])
    const [version] = (await service.manage('GET', `${path}/campaigns/news/versions`)).json.items
    assert.equal(version.actor_name, 'Ada')
    const { items } = (await service.manage('GET', `${path}/actors`)).json
    assert.deepEqual(
      items.find(({ name }: Json) => name === 'Ada'),
      { actor: `token ${ada.id}`, name: 'Ada', role: 'editor' }
    )
  })

  it('is narrowed to an author, a kind of action and a time', async () => {
    const project = await service.project()
    const path = `/projects/${project.id}`
    const { id, headers } = await tokenOf(project, 'Ada', 'admin')
    await service.manage('POST', `${path}/keys`, { json: { kind: 'public', name: 'app' }, headers })
    await service.manage('POST', `${path}:pause`, { headers })
    const actions = async (query: string) => (await audit(project, query)).map(({ action }) => action)
    assert.deepEqual(await actions(`actor=token%20${id}`), ['project.pause', 'key.create'])
    assert.deepEqual(await actions(`actor=token%20${id}&action=key`), ['key.create'])
    assert.deepEqual(await actions(`from=${new Date(Date.now() + 60_000).toISOString()}`), [])
    const wrong = await service.manage('GET', `${path}/audit?from=x&to=y`)
    assert.deepEqual([wrong.status, wrong.json.details.length], [400, 2])
    for (const name of ['actor', 'action'])
      assert.equal((await service.manage('GET', `${path}/audit?${name}=%00`)).status, 400, name)
  })

  it('names nothing of another project, and is for admins', async () => {
    const project = await service.project()
    const other = await service.project()
    const stranger = await tokenOf(other, 'Stranger', 'admin')
    await service.manage('DELETE', `/tokens/${stranger.id}`)
    await service.sql(
      `insert into audit_log (project_id, id, at, actor, action, target, details)
       values ($1, gen_random_uuid(), now(), $2, 'project.update', 'x', '{}')`,
      [project.id, `token ${stranger.id}`]
    )
    const forged = (await audit(project)).find(({ actor }) => actor === `token ${stranger.id}`)
    assert.equal(forged!.actor_name, null)
    const { headers } = await tokenOf(project, 'Ed', 'editor')
    for (const path of ['audit', 'actors'])
      assert.equal((await service.manage('GET', `/projects/${project.id}/${path}`, { headers })).status, 403)
  })

  it('forgets the names of a project with the project', async () => {
    const project = await service.project()
    const { id } = await tokenOf(project, 'Ada', 'editor')
    await service.manage('DELETE', `/tokens/${id}`)
    await service.manage('DELETE', `/projects/${project.id}`)
    assert.deepEqual(await service.sql('select 1 from former_names where project_id = $1', [project.id]), [])
  })
})

describe('the audit log of the installation', () => {
  const entries = async (query = '') => {
    const reply = await service.manage('GET', `/audit?${query}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.json.items as Json[]
  }

  it('has sign-ins and the changes of projects, tokens and members, and outlives the projects', async () => {
    const [newest] = await entries('limit=1')
    const ops = (await service.manage('POST', '/tokens', { json: { name: 'Ops', role: 'admin' } })).json
    const headers = { authorization: `Bearer ${ops.token}` }
    for (let times = 0; times < 2; times++)
      assert.equal((await service.ask('POST', '/console/session', { json: { token: ops.token } })).status, 200)
    const { id } = (await service.manage('POST', '/projects', { json: { name: 'Shop' }, headers })).json
    await service.manage('POST', '/members', { json: { email: 'ada@example.com', role: 'viewer' }, headers })
    await service.manage('DELETE', `/projects/${id}`, { headers })
    await service.manage('DELETE', `/tokens/${ops.id}`)
    const all = await entries()
    const fresh = all.slice(
      0,
      all.findIndex((entry) => entry.id === newest.id)
    )
    assert.deepEqual(fresh.map(sentence), [
      'bootstrap revoked the management token Ops',
      'Ops deleted the project Shop',
      'Ops invited ada@example.com',
      'Ops created the project Shop',
      'Ops signed a browser in with the management token Ops',
      'bootstrap created the management token Ops'
    ])
    assert.deepEqual([fresh[1].target, fresh[1].actor_role], [id, 'admin'])
    assert.deepEqual((await entries(`actor=token%20${ops.id}&action=project&limit=1`)).map(sentence), [
      'Ops deleted the project Shop'
    ])
    assert.deepEqual(await entries(`from=${new Date(Date.now() + 60_000).toISOString()}`), [])
    // Its authors are listed by name, also those that were deleted.
    const authors: Json[] = (await service.manage('GET', '/actors')).json.items
    assert.deepEqual(
      authors.filter(({ actor }) => actor === `token ${ops.id}`),
      [{ actor: `token ${ops.id}`, name: 'Ops', role: 'admin' }]
    )
  })

  it('is for admins of the whole installation alone', async () => {
    const project = await service.project()
    const own = await tokenOf(project, 'Owner', 'admin')
    const editor = (await service.manage('POST', '/tokens', { json: { name: 'Ed', role: 'editor' } })).json
    for (const headers of [own.headers, { authorization: `Bearer ${editor.token}` }])
      for (const path of ['/audit', '/actors'])
        assert.equal((await service.manage('GET', path, { headers })).status, 403)
    // A token of one project is a matter of that project.
    assert.ok(!(await entries('action=token')).some(({ target }) => target === own.id))
  })

  it('is kept for AUDIT_RETENTION_DAYS', async () => {
    const old = '00000000-0000-7000-8000-000000000001'
    await service.sql(
      `insert into installation_audit (id, at, actor, action, target, details)
       values ($1, '1970-01-01', 'service', 'project.create', 'old', '{}')`,
      [old]
    )
    await service.hurry('platform.sweep')
    await eventually(async () =>
      assert.deepEqual(await service.sql('select 1 from installation_audit where id = $1', [old]), [])
    )
    assert.notDeepEqual(await entries(), [])
  })
})
