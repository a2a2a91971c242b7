import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { ask } from '../support/http.ts'
import { eventually, startService } from '../support/service.ts'
import { agentKey, none, setPolicy } from './keys.ts'

const service = await startService()
const keysOf = (id: string) => `/projects/${id}/keys`
const listed = async (id: string, keyId: string): Promise<Json> =>
  (await service.manage('GET', keysOf(id))).json.items.find((key: Json) => key.id === keyId)
const audit = async (id: string): Promise<Json[]> => (await service.manage('GET', `/projects/${id}/audit`)).json.items

describe('the policy of a key (B.5)', () => {
  it('is set on creation, shown in lists, changed and taken away, each with an audit entry', async () => {
    const project = await service.project()
    const policy = { skills: ['create-user'], max_recipients: 5, quiet_hours: { from: '22:00', to: '08:00' } }
    const { keyId } = await agentKey(service, project, policy)
    const whole = { ...none, ...policy, quiet_hours: { ...policy.quiet_hours, timezone: 'UTC' } }
    assert.deepEqual((await listed(project.id, keyId)).policy, whole)
    const changed = await setPolicy(service, { id: project.id, keyId }, { dry_run: true })
    assert.deepEqual([changed.status, changed.json.policy], [200, { ...whole, dry_run: true }])
    const taken = await setPolicy(service, { id: project.id, keyId }, null)
    assert.deepEqual([taken.status, taken.json.policy], [200, null])
    const entries = (await audit(project.id)).filter(({ target }) => target === keyId)
    assert.deepEqual(
      entries.map(({ action, details }) => [action, details.policy]),
      [
        ['key.policy', null],
        ['key.policy', { ...whole, dry_run: true }],
        ['key.create', whole]
      ]
    )
  })

  it('keeps the limits that a change leaves out; null takes one away', async () => {
    const project = await service.project()
    const quiet_hours = { from: '22:00', to: '08:00', timezone: 'UTC' }
    const key = await agentKey(service, project, { max_recipients: 7, approval_above: 2, dry_run: true, quiet_hours })
    const kept = await setPolicy(service, key, { dry_run: false })
    assert.deepEqual(kept.json.policy, { ...none, max_recipients: 7, approval_above: 2, quiet_hours })
    const less = await setPolicy(service, key, { approval_above: null, quiet_hours: null })
    assert.deepEqual(less.json.policy, { ...none, max_recipients: 7 })
  })

  it('is one for a key and its rotations: a change by either holds for both', async () => {
    const project = await service.project()
    const old = await agentKey(service, project, { max_recipients: 7 })
    const rotate = async (id: string) => (await service.manage('POST', `${keysOf(project.id)}/${id}:rotate`)).json
    const second = await rotate(old.keyId)
    const third = await rotate(second.id)
    const stranger = await agentKey(service, project, { max_recipients: 7 })
    const node = await service.another()
    const creates = (key: string) =>
      ask(node.url, 'POST', '/api/v1/users', {
        json: { project_user_id: 'ana' },
        headers: { 'x-service-project-id': project.id, 'x-service-api-key': key }
      })
    const chain = [old.secretKey, second.key, third.key]
    for (const key of chain) assert.equal((await creates(key)).status, 200)
    await setPolicy(service, { id: project.id, keyId: third.id }, { dry_run: true })
    for (const key of chain) await eventually(async () => assert.equal((await creates(key)).status, 403), 1_000)
    assert.equal((await creates(stranger.secretKey)).status, 200)
    await setPolicy(service, old, { dry_run: false })
    for (const id of [old.keyId, second.id, third.id])
      assert.deepEqual((await listed(project.id, id)).policy, { ...none, max_recipients: 7 })
  })

  it('survives a rotation', async () => {
    const project = await service.project()
    const { keyId } = await agentKey(service, project, { max_recipients: 7 })
    const rotated = await service.manage('POST', `${keysOf(project.id)}/${keyId}:rotate`)
    assert.deepEqual([rotated.status, rotated.json.policy], [201, { ...none, max_recipients: 7 }])
  })

  it('takes effect on every node like a revocation does', async () => {
    const project = await service.project()
    const node = await service.another()
    const agent = await agentKey(service, project, null)
    const creates = () =>
      ask(node.url, 'POST', '/api/v1/users', {
        json: { project_user_id: 'ana' },
        headers: { 'x-service-project-id': project.id, 'x-service-api-key': agent.secretKey }
      })
    assert.equal((await creates()).status, 200)
    await setPolicy(service, agent, { dry_run: true })
    await eventually(async () => assert.equal((await creates()).status, 403), 1_000)
  })

  for (const [policy, path] of [
    [{ max_recipient: 5 }, 'policy.max_recipient'],
    [{ max_recipients: -1 }, 'policy.max_recipients'],
    [{ max_recipients_per_day: 1.5 }, 'policy.max_recipients_per_day'],
    [{ approval_above: '10' }, 'policy.approval_above'],
    [{ dry_run: 'yes' }, 'policy.dry_run'],
    [{ confirm_broadcasts: 1 }, 'policy.confirm_broadcasts'],
    [{ skills: 'create-user' }, 'policy.skills'],
    [{ skills: ['create-user', 'fly'] }, 'policy.skills[1]'],
    [{ quiet_hours: { from: '25:00', to: '08:00' } }, 'policy.quiet_hours.from'],
    [{ quiet_hours: { from: '08:00', to: '08:00' } }, 'policy.quiet_hours.to'],
    [{ quiet_hours: { from: '22:00', to: '08:00', timezone: 'Mars' } }, 'policy.quiet_hours.timezone'],
    [[], 'policy']
  ] as const)
    it(`refuses ${JSON.stringify(policy)} and says where`, async () => {
      const project = await service.project()
      const json = { kind: 'secret', name: 'agent', policy }
      const made = await service.manage('POST', keysOf(project.id), { json })
      assert.deepEqual([made.status, made.json.details?.[0]?.path], [400, path], made.text)
      const { keyId } = await agentKey(service, project, { max_recipients: 1 })
      const changed = await setPolicy(service, { id: project.id, keyId }, policy as Json)
      assert.deepEqual([changed.status, changed.json.details?.[0]?.path], [400, path], changed.text)
      assert.equal((await listed(project.id, keyId)).policy.max_recipients, 1, 'nothing changed')
    })

  it('names all faults at once', async () => {
    const project = await service.project()
    const json = { kind: 'secret', name: 'x', policy: { dry_run: 1, skills: ['fly'], limit: 1 } }
    const made = await service.manage('POST', keysOf(project.id), { json })
    const paths = made.json.details.map(({ path }: Json) => path).sort()
    assert.deepEqual(paths, ['policy.dry_run', 'policy.limit', 'policy.skills[0]'])
  })

  it('is refused for a public key', async () => {
    const project = await service.project()
    const json = { kind: 'public', name: 'app', policy: { dry_run: true } }
    const made = await service.manage('POST', keysOf(project.id), { json })
    assert.deepEqual([made.status, made.json.details[0].path], [400, 'policy'])
    const { items } = (await service.manage('GET', keysOf(project.id))).json
    const { id: keyId } = items.find(({ kind }: Json) => kind === 'public')
    assert.equal((await setPolicy(service, { id: project.id, keyId }, { dry_run: true })).status, 400)
  })

  it('is set by admins only, and only in their own project', async () => {
    const [project, other] = [await service.project(), await service.project()]
    const { keyId } = await agentKey(service, project, null)
    assert.equal((await setPolicy(service, { id: other.id, keyId }, { dry_run: true })).status, 404)
    const editor = await service.manage('POST', '/tokens', { json: { name: 'e', role: 'editor' } })
    const reply = await service.manage('PATCH', `${keysOf(project.id)}/${keyId}`, {
      json: { policy: null },
      headers: { authorization: `Bearer ${editor.json.token}` }
    })
    assert.equal(reply.status, 403)
    assert.equal((await service.manage('PATCH', `${keysOf(project.id)}/${keyId}`, { json: {} })).status, 400)
  })
})
