import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()

async function send(project: TestProject, message: Record<string, unknown>) {
  const reply = await service.ask('POST', '/a2a', {
    headers: { 'x-api-key': project.secretKey, 'a2a-version': '1.0', 'user-agent': 'shop-agent/2.1 node' },
    json: {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: crypto.randomUUID(), role: 'user', ...message } }
    }
  })
  return reply.json.result.task
}

const create = { parts: [{ data: { skill: 'create-user', projectUserId: 'ana' } }] }
const recordsOf = (project: TestProject, path = '') =>
  service.manage('GET', `/projects/${project.id}/agent-tasks${path}`)

describe('the record of an agent’s task', () => {
  it('says who asked, and what was done', async () => {
    const project = await service.project()
    const { id } = await send(project, create)
    const { status, json } = await recordsOf(project, `/${id}`)
    assert.equal(status, 200)
    assert.deepEqual([json.state, json.request, json.asked_by.agent], ['completed', 'create-user', 'shop-agent/2.1'])
    assert.ok(json.asked_by.key_id)
    const steps = json.steps.map(
      ({ kind, state, name }: { kind: string; state: string; name: string }) => state ?? name ?? kind
    )
    assert.deepEqual([steps[0], steps.at(-2), steps.at(-1)], ['message', 'user-result', 'completed'])
    assert.equal(json.steps.at(-2).data[0].projectUserId, 'ana')
  })

  it('has each answer behind the question that it answers', async () => {
    const project = await service.project()
    const task = await send(project, { parts: [{ data: { skill: 'create-user' } }] })
    await send(project, { taskId: task.id, parts: [{ data: { projectUserId: 'bo' } }] })
    const { json } = await recordsOf(project, `/${task.id}`)
    const kinds = json.steps.map(({ kind, state }: { kind: string; state: string }) => state ?? kind)
    assert.equal(kinds[kinds.indexOf('input-required') + 1], 'message')
    assert.equal(kinds.at(-1), 'completed')
  })

  it('is in a list, whatever its size: a page ends early where its tasks are large', async () => {
    const project = await service.project()
    const ids: string[] = []
    for (let index = 0; index < 2; index += 1)
      ids.unshift((await send(project, { parts: [{ data: { note: 'x'.repeat(4_500_000) } }] })).id)
    const listed: string[] = []
    const sizes: number[] = []
    for (let query = '?limit=200'; query; ) {
      const { json } = await recordsOf(project, query)
      sizes.push(json.items.length)
      listed.push(...json.items.map(({ id }: { id: string }) => id))
      query = json.next_cursor && `?limit=200&cursor=${json.next_cursor}`
    }
    assert.deepEqual([sizes, listed], [[1, 1], ids])

    const list = async (method: string, params: object, version: string) =>
      (
        await service.ask('POST', '/a2a', {
          headers: { 'x-api-key': project.secretKey, 'a2a-version': version },
          json: { jsonrpc: '2.0', id: 1, method, params }
        })
      ).json.result
    const first = await list('ListTasks', { historyLength: 2 }, '1.0')
    assert.deepEqual([first.tasks.length, first.totalSize], [1, 2])
    const second = await list('ListTasks', { historyLength: 2, pageToken: first.nextPageToken }, '1.0')
    assert.equal(second.tasks[0].id, ids[1])
    const whole = await list('tasks/list', { historyLength: 2 }, '0.3')
    assert.deepEqual(
      whole.map(({ history }: { history: object[] }) => history.length),
      [2, 0]
    )
  })

  it('is listed newest first, page by page, and by state', async () => {
    const project = await service.project()
    const first = await send(project, create)
    const second = await send(project, { parts: [{ data: { skill: 'create-user' } }] })
    const page = (await recordsOf(project, '?limit=1')).json
    const rest = (await recordsOf(project, `?limit=1&cursor=${page.next_cursor}`)).json
    assert.deepEqual([page.items[0].id, rest.items[0].id, rest.next_cursor], [second.id, first.id, null])
    const open = (await recordsOf(project, '?state=input-required')).json
    assert.deepEqual(
      open.items.map(({ id }: { id: string }) => id),
      [second.id]
    )
    assert.equal((await recordsOf(project, '?state=done')).status, 400)
  })

  it('is exported one to a line by an admin, and the audit log says so', async () => {
    const project = await service.project()
    const ids = [(await send(project, create)).id, (await send(project, create)).id]
    const { text } = await recordsOf(project, ':export')
    assert.deepEqual(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
      ids.reverse()
    )
    const audit = (await service.manage('GET', `/projects/${project.id}/audit`)).json.items
    assert.ok(audit.some(({ action }: { action: string }) => action === 'agent_tasks.export'))
    const viewer = (
      await service.manage('POST', '/tokens', { json: { name: 'v', role: 'viewer', project_id: project.id } })
    ).json
    const asViewer = { headers: { authorization: `Bearer ${viewer.token}` } }
    const path = `/manage/v1/projects/${project.id}/agent-tasks`
    assert.equal((await service.ask('GET', `${path}:export`, asViewer)).status, 403)
    assert.equal((await service.ask('GET', path, asViewer)).status, 200)
  })

  it('is found by an id in capitals, and its request is not cut within a character', async () => {
    const project = await service.project()
    const { id } = await send(project, { parts: [{ text: `${'x'.repeat(199)}😀 and more` }] })
    const { status, json } = await recordsOf(project, `/${id.toUpperCase()}`)
    assert.equal(status, 200)
    assert.ok(json.request.isWellFormed())
    assert.equal(json.request.length, 200)
  })

  it('stays in its project', async () => {
    const [mine, other] = [await service.project(), await service.project()]
    const { id } = await send(mine, create)
    assert.equal((await recordsOf(other, `/${id}`)).status, 404)
    assert.deepEqual((await recordsOf(other)).json.items, [])
    assert.equal((await recordsOf(other, '/nonsense')).status, 404)
    assert.equal((await recordsOf(other, ':export')).text, '')
  })
})
