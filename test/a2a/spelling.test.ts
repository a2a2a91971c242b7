import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { agentOf, names } from './agent.ts'

const service = await startService()
const create = { skill: 'create-user', projectUserId: 'a' }
const three = async () => {
  const project = await service.project()
  const [plain, official, legacy] = names.map((name) => agentOf(service, project, name))
  return { plain: plain!, official: official!, legacy: legacy!, project }
}

describe('the spelling of an answer', () => {
  it('is that of the request: by its role, or by the state it filters for', async () => {
    const { plain } = await three()
    const sent = async (role: Json) =>
      (await plain.result('send', { message: { ...plain.message(create), role } })).task.status.state
    assert.equal(await sent('user'), 'completed')
    assert.equal(await sent('ROLE_USER'), 'TASK_STATE_COMPLETED')
    assert.equal(await sent(1), 'TASK_STATE_COMPLETED')
    assert.equal(await sent(undefined), 'completed', 'without a sign it is the contract’s')
    const listed = async (status: Json) =>
      (await plain.result('list', { status })).tasks.map((task: Json) => task.status.state)
    assert.deepEqual(new Set(await listed('completed')), new Set(['completed']))
    assert.deepEqual(new Set(await listed('TASK_STATE_COMPLETED')), new Set(['TASK_STATE_COMPLETED']))
    assert.deepEqual(new Set(await listed(3)), new Set(['TASK_STATE_COMPLETED']))
    assert.equal((await listed('completed')).length, 4)
  })

  it('is else the one last used to write to the task', async () => {
    const { plain, official, legacy } = await three()
    const task = await official.send({ skill: 'create-user' })
    assert.equal((await plain.get(task.id)).status.state, 'TASK_STATE_INPUT_REQUIRED')
    await plain.send({ other: 1 }, { taskId: task.id })
    assert.equal((await plain.get(task.id)).status.state, 'input-required')
    await official.send({ other: 2 }, { taskId: task.id })
    assert.equal((await plain.result('cancel', { id: task.id })).status.state, 'TASK_STATE_CANCELED')
    assert.equal((await legacy.get(task.id)).status.state, 'canceled')
    assert.equal((await legacy.get(task.id)).kind, 'task', 'the version comes first')
  })

  it('never mixes versions: a task of 0.3 is read in the contract’s spelling by 1.0', async () => {
    const { plain, legacy } = await three()
    const task = await legacy.send(create)
    const read = await plain.get(task.id)
    assert.deepEqual(
      [read.kind, read.status.state, read.artifacts[0].parts[0].kind],
      [undefined, 'completed', undefined]
    )
  })

  it('of a list without a sign is each task’s own, and the mark turns all of it', async () => {
    const { plain, official } = await three()
    await plain.send(create)
    await official.send(create)
    const states = async (params: Json) =>
      (await plain.result('list', params)).tasks.map((task: Json) => task.status.state)
    assert.deepEqual(await states({}), ['TASK_STATE_COMPLETED', 'completed'])
    assert.deepEqual(await states({ tenant: 'a2a' }), ['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED'])
    assert.deepEqual(await states({ tenant: 'other' }), ['TASK_STATE_COMPLETED', 'completed'])
  })

  it('travels in the page token, and with it whether later pages count', async () => {
    const { plain } = await three()
    for (let index = 0; index < 3; index += 1) await plain.send(create)
    const pages = async (first: Json) => {
      const page = await plain.result('list', { pageSize: 2, ...first })
      const next = await plain.result('list', { pageSize: 2, pageToken: page.nextPageToken })
      return [page.totalSize, next.totalSize, next.tasks[0].status.state, next.nextPageToken]
    }
    assert.deepEqual(await pages({ status: 'TASK_STATE_COMPLETED' }), [3, 3, 'TASK_STATE_COMPLETED', ''])
    assert.deepEqual(await pages({ status: 'completed' }), [3, 0, 'completed', ''])
    assert.deepEqual(await pages({}), [3, 0, 'completed', ''])
  })

  it('B.9: of a list without a sign is official where all of its first page is, else the contract’s; each task keeps its own', async () => {
    const walked = async (turns: ('plain' | 'official' | 'legacy')[], pageSize = 1) => {
      const agents = await three()
      for (const turn of turns.toReversed()) await agents[turn].send(create)
      const pages: Json[] = []
      let pageToken = ''
      do {
        const page = await agents.plain.result('list', { pageSize, ...(pageToken && { pageToken }) })
        for (const task of page.tasks) pages.push([page.totalSize, task.status.state, 'artifacts' in task])
        pageToken = page.nextPageToken
      } while (pageToken)
      return pages
    }
    assert.deepEqual(await walked(['plain', 'official', 'plain', 'official']), [
      [4, 'completed', true],
      [0, 'TASK_STATE_COMPLETED', true],
      [0, 'completed', true],
      [0, 'TASK_STATE_COMPLETED', true]
    ])
    assert.deepEqual(await walked(['official', 'plain', 'official']), [
      [3, 'TASK_STATE_COMPLETED', false],
      [3, 'completed', false],
      [3, 'TASK_STATE_COMPLETED', false]
    ])
    assert.deepEqual(await walked(['official', 'plain', 'official'], 2), [
      [3, 'TASK_STATE_COMPLETED', true],
      [3, 'completed', true],
      [0, 'TASK_STATE_COMPLETED', true]
    ])
    assert.deepEqual(await walked(['official', 'legacy', 'official'], 2), [
      [3, 'TASK_STATE_COMPLETED', true],
      [3, 'completed', true],
      [0, 'TASK_STATE_COMPLETED', true]
    ])
    assert.deepEqual(await walked(['official', 'official', 'plain'], 2), [
      [3, 'TASK_STATE_COMPLETED', false],
      [3, 'TASK_STATE_COMPLETED', false],
      [3, 'completed', false]
    ])
  })

  it('holds nothing that official 1.0 lacks, and always what 0.3 needs', async () => {
    const { official, legacy } = await three()
    const text = JSON.stringify(await official.send({ skill: 'create-user', projectUserId: 'x' }))
    assert.doesNotMatch(text, /"(kind|final|log|revision|dialect|at)"/)
    const old = await legacy.send({ skill: 'create-user' })
    assert.deepEqual(
      [old.kind, old.history[0].kind, old.status.message.kind, old.history[0].parts[0].kind],
      ['task', 'message', 'message', 'data']
    )
  })

  it('does not matter for what is read: every spelling is understood everywhere', async () => {
    const { plain, legacy } = await three()
    const parts = [{ kind: 'data', data: create }]
    const odd = await plain.result('send', {
      message: { messageId: randomUUID(), role: 'user', kind: 'message', parts, unknown: 1 },
      extra: null
    })
    assert.equal(odd.task.status.state, 'completed')
    const old = await legacy.result('send', {
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: create }] }
    })
    assert.equal(old.status.state, 'completed')
    const underscored = {
      message_id: randomUUID(),
      context_id: 'under',
      role: 'ROLE_USER',
      parts: [{ data: { skill: 'create-user' }, media_type: 'application/json' }]
    }
    const { task } = await plain.result('send', { message: underscored, configuration: { history_length: 0 } })
    assert.deepEqual([task.contextId, 'history' in task], ['under', false])
    assert.equal((await plain.result('list', { context_id: 'none' })).totalSize, 0)
    const listed = await plain.result('list', { context_id: 'under', page_size: 7, include_artifacts: false })
    assert.deepEqual([listed.totalSize, listed.pageSize, 'artifacts' in listed.tasks[0]], [1, 7, false])
    const made = await plain.result('createConfig', { task_id: task.id, url: 'https://example.com/' })
    assert.equal(made.taskId, task.id)
    assert.equal((await plain.result('get', { id: task.id, history_length: 1 })).history.length, 1)
    const nulls = {
      messageId: randomUUID(),
      role: 'user',
      parts,
      contextId: null,
      taskId: '',
      metadata: null,
      extensions: null
    }
    assert.equal((await plain.result('send', { message: nulls, configuration: null })).task.status.state, 'completed')
  })
})

describe('ListTasks', () => {
  it('shows artifacts as each spelling wants them, and history on request', async () => {
    const { plain, official, legacy } = await three()
    await plain.send(create)
    const first = async (params: Json) => (await plain.result('list', params)).tasks[0]
    assert.equal((await first({ status: 'completed' })).artifacts.length, 1)
    assert.equal('artifacts' in (await first({ status: 'completed', includeArtifacts: false })), false)
    assert.equal('artifacts' in (await first({ status: 'TASK_STATE_COMPLETED' })), false)
    assert.equal((await first({ status: 'TASK_STATE_COMPLETED', includeArtifacts: true })).artifacts.length, 1)
    assert.equal('history' in (await first({})), false)
    assert.equal((await first({ historyLength: 5 })).history.length, 1)
    const [old] = await legacy.result('list')
    assert.deepEqual([old.kind, old.artifacts.length], ['task', 1])
    void official
  })

  it('takes pages of 1 to 100, of 50 where nothing is said, and refuses others and bad tokens', async () => {
    const { plain, legacy } = await three()
    assert.equal((await plain.result('list', {})).pageSize, 50)
    for (const params of [
      { pageSize: 0 },
      { pageSize: 101 },
      { pageSize: 1.5 },
      { pageSize: '5' },
      { pageToken: 'x' },
      { pageToken: 'WzEsMl0' },
      { status: 'x' },
      { historyLength: -1 },
      { statusTimestampAfter: 'now' },
      { statusTimestampAfter: '2026-11-15T09:30:00' }
    ])
      assert.equal((await plain.error('list', params)).code, -32602, JSON.stringify(params))
    for (const params of [{ limit: 0 }, { limit: 101 }, { offset: -1 }])
      assert.equal((await legacy.error('list', params)).code, -32602)
  })

  it('filters by context, state and time', async () => {
    const { plain, legacy } = await three()
    const one = await plain.send(create, { contextId: 'one' })
    await plain.send({ skill: 'create-user' }, { contextId: 'two' })
    const ids = async (params: Json) => (await plain.result('list', params)).tasks.map((task: Json) => task.id)
    assert.deepEqual(await ids({ contextId: 'one' }), [one.id])
    assert.deepEqual(await ids({ status: 'completed' }), [one.id])
    assert.deepEqual(await ids({ status: 'completed', contextId: 'two' }), [])
    assert.equal((await ids({ statusTimestampAfter: one.status.timestamp })).length, 2)
    assert.deepEqual(await ids({ statusTimestampAfter: '2099-01-01T00:00:00Z' }), [])
    assert.equal((await legacy.result('list', { contextId: 'one' })).length, 1)
  })

  it('over 1,000 tasks while more arrive: none is missed, none comes twice', async () => {
    const { plain, official, legacy } = await three()
    const send = () => plain.send(create)
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 50 }, send))
    const before = new Set<string>()
    for (let offset = 0; offset < 1000; offset += 100)
      for (const { id } of await legacy.result('list', { limit: 100, offset })) before.add(id)
    assert.equal(before.size, 1000)
    let stop = false
    const arriving = (async () => {
      while (!stop) await official.send(create)
    })()
    const seen: string[] = []
    let pageToken: string | undefined
    do {
      const page = await plain.result('list', { pageSize: 37, ...(pageToken && { pageToken }) })
      if (!pageToken) assert.ok(page.totalSize >= 1000)
      seen.push(...page.tasks.map((task: Json) => task.id))
      pageToken = page.nextPageToken
    } while (pageToken)
    stop = true
    await arriving
    assert.equal(new Set(seen).size, seen.length, 'none twice')
    assert.deepEqual(
      [...before].filter((id) => !seen.includes(id)),
      [],
      'none missed'
    )
    assert.deepEqual(seen, [...seen].sort().reverse(), 'newest first')
  })
})
