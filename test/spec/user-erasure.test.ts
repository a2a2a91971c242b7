import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { link } from '../support/devices.ts'
import { plant, whereIs } from '../support/planted.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const receiver = await startReceiver({ secure: false })
after(() => receiver.close())

const at = ({ id }: Pick<TestProject, 'id'>) => `/projects/${id}/erasures`
const erase = async (project: TestProject, project_user_id: string) => {
  const reply = await service.manage('POST', at(project), { json: { project_user_id } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

describe('the erasure of a user', () => {
  it('leaves nothing of the person in any column of any table but what its receipt names, and others keep theirs', async () => {
    const mark = 'mk7f3q9x'
    const { project, userId, repeat } = await plant(service, `${receiver.url}/hook`, mark)
    const [{ id }] = await service.sql('select id from users where project_user_id = $1', [userId])
    const before = await whereIs(service, mark)
    for (const place of [
      'users.properties',
      'devices.facts',
      'events.properties',
      'messages.content',
      'journeys.properties',
      'trigger_skips.value',
      'triggers.audience',
      'triggers.properties',
      'webhook_calls.body',
      'a2a_tasks.content',
      'approvals.command',
      'confirmations.command',
      'idempotency_keys.answer',
      'simulator_inbox.item'
    ])
      assert.ok(before[place], `${place} holds the mark before: ${JSON.stringify(before)}`)
    const bos = await whereIs(service, 'bo-phone')

    const receipt = await erase(project, userId)
    assert.deepEqual(await whereIs(service, mark), { 'idempotency_keys.key': 3 })
    assert.deepEqual(await whereIs(service, id), {})
    for (const table of Object.keys(before).map((place) => place.split('.')[0]!))
      assert.ok(receipt.erased[table] > 0, `${table}: ${JSON.stringify(receipt.erased)}`)
    assert.deepEqual(
      receipt.remaining.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
      [['idempotency_keys', 3]]
    )
    assert.ok(Date.parse(receipt.remaining[0].until) > Date.now())
    assert.ok(!JSON.stringify(receipt).includes(mark))
    const still = await whereIs(service, 'bo-phone')
    for (const place of ['devices.id', 'messages.device_id', 'simulator_inbox.item', 'webhook_calls.body'])
      assert.equal(still[place], bos[place], place)
    assert.equal((await project.call('GET', '/api/v1/users/bo')).status, 200)
    // Repeats of requests that named the user get an answer, and do nothing again.
    await repeat()
    assert.deepEqual(await whereIs(service, id), {})
  })

  it('has a receipt that is listed, found by the id of the user, and proves itself; one that was changed does not', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana.smith' } })
    const receipt = await erase(project, 'ana.smith')
    assert.deepEqual([receipt.erased.users, receipt.remaining], [1, []])
    const again = await erase(project, 'ana.smith')
    assert.deepEqual([again.erased.users, again.subject], [0, receipt.subject], 'an absent user has nothing left')
    await erase(project, 'bo.smith')

    const list = async (query = '') => (await service.manage('GET', `${at(project)}${query}`)).json.items
    assert.equal((await list()).length, 3)
    assert.deepEqual(await list('?project_user_id=ana.smith'), [again, receipt])
    assert.deepEqual(await list('?project_user_id=nobody'), [])
    assert.deepEqual((await service.manage('GET', `${at(project)}/${receipt.erasure_id}`)).json, receipt)

    const verify = async (json: object, where = project) =>
      (await service.manage('POST', `${at(where)}:verify`, { json })).json
    assert.deepEqual(await verify({ receipt }), { valid: true, same_user: null })
    assert.deepEqual(await verify({ receipt, project_user_id: 'ana.smith' }), { valid: true, same_user: true })
    assert.deepEqual(await verify({ receipt, project_user_id: 'bo.smith' }), { valid: true, same_user: false })
    const forged = { ...receipt, erased: { ...receipt.erased, users: 2 } }
    assert.equal((await verify({ receipt: forged })).valid, false)
    assert.equal((await verify({ receipt }, other)).valid, false)

    const audit = (await service.manage('GET', `/projects/${project.id}/audit?action=user.erase`)).json.items
    assert.equal(audit.length, 3)
    assert.ok(!JSON.stringify(audit).includes('smith'))
  })

  it('is for administrators, and refuses a bad id and an unknown receipt', async () => {
    const project = await service.project()
    const bad = await service.manage('POST', at(project), { json: { project_user_id: '..' } })
    assert.deepEqual([bad.status, bad.json.code], [400, 'invalid_project_user_id'])
    for (const id of ['nonsense', '00000000-0000-7000-8000-000000000000'])
      assert.equal((await service.manage('GET', `${at(project)}/${id}`)).status, 404)
    const json = { name: 'editor', role: 'editor', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json })).json
    const headers = { authorization: `Bearer ${token}` }
    const refused = await service.manage('POST', at(project), { json: { project_user_id: 'ana' }, headers })
    assert.equal(refused.status, 403)
  })

  it('spares texts in which a short id is only a part of a word, and says so', async () => {
    const project = await service.project()
    for (const project_user_id of ['an', 'anna'])
      await project.call('POST', '/api/v1/users', { json: { project_user_id } })
    const receipt = await erase(project, 'an')
    assert.deepEqual(
      receipt.remaining.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
      [['a2a_tasks', 0]]
    )
    assert.equal((await project.call('GET', '/api/v1/users/anna')).status, 200)
  })

  it('spares what is about others if the id is an ordinary word, and finds what names the user in a field', async () => {
    const project = await service.project()
    const agent = agentOf(service, project, 'official')
    const create = (data: object) => agent.result('send', { message: agent.message({ skill: 'create-user', ...data }) })
    await create({ projectUserId: 'customer' })
    await create({ projectUserId: 'bo', properties: { kind: 'customer', device: 'phone' } })
    await project.call('POST', '/api/v1/devices', { json: { devices: [{ id: 'phone', platform: 'IOS' }] } })
    await link(project, 'phone', 'customer')
    const tasks = () => service.sql('select content::text from a2a_tasks where project_id = $1', [project.id])
    assert.equal((await tasks()).length, 2)
    await erase(project, 'customer')
    const left = await tasks()
    assert.equal(left.length, 1)
    assert.match(left[0]!.content, /"bo"/)
  })
})
