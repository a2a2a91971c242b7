import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { put } from '../support/devices.ts'
import { eventually, startService } from '../support/service.ts'
import { agentOf, doubles } from './agent.ts'

const service = await startService({}, { agents: { messages: doubles.messages } })
const project = await service.project()
const agent = agentOf(service, project, 'plain')
const set = (id: string, columns: string) => service.sql(`update a2a_tasks set ${columns} where id = $1`, [id])
const lapsed = `now() - interval '1 second'`

/** The rows of a node that died in the middle of a task. */
async function left(
  data: { skill: string; [field: string]: unknown },
  state: 'submitted' | 'working'
): Promise<string> {
  const { skill, ...fields } = data
  const { id } = await agent.send(data)
  const [{ content }] = await service.sql('select content from a2a_tasks where id = $1', [id])
  const log = content.log.slice(0, state === 'working' ? 2 : 1)
  await service.sql(`update a2a_tasks set state = $2, content = $3, due_at = ${lapsed} where id = $1`, [
    id,
    state,
    JSON.stringify({ ...content, log, artifacts: [], request: { skill, fields } })
  ])
  return id
}
const ended = (id: string, state: string, words: RegExp) =>
  eventually(async () => {
    await service.hurry('a2a.look_after')
    const task = await agent.get(id)
    assert.equal(task.status.state, state)
    assert.match(task.status.message?.parts[0].text ?? '', words)
    return task
  }, 15_000)

describe('a task whose node died', () => {
  it('is taken over where doing it twice is doing it once', async () => {
    const id = await left({ skill: 'create-user', projectUserId: 'taken' }, 'working')
    const task = await ended(id, 'completed', /^$/)
    assert.equal(task.artifacts[0].name, 'user-result')
  })

  it('goes on under the same name of its run, so that a push is sent once', async () => {
    const before = doubles.sent.length
    const id = await left({ skill: 'send-push-notification', projectUserId: 'once', title: 'a' }, 'working')
    const task = await ended(id, 'completed', /^$/)
    assert.equal(task.artifacts[0].parts[0].data.totalSent, 1)
    assert.equal(doubles.sent.length, before + 1, 'the first time only')
  })

  it('has its event stored once, whether or not the dead one had come to it', async () => {
    const { artifacts } = await agent.send({ skill: 'create-user', projectUserId: 'eve' })
    const { userId } = artifacts[0].parts[0].data
    await put(project, { id: 'eve-phone', platform: 'IOS' })
    const events = async (name: string) =>
      (
        await service.sql('select count(*)::int as n from events where project_id = $1 and name = $2', [
          project.id,
          name
        ])
      )[0].n
    for (const [name, who] of [
      ['of-user', { projectUserId: 'eve' }],
      ['of-service-id', { userId }],
      ['of-device', { deviceId: 'eve-phone' }]
    ] as const) {
      const done = await left({ skill: 'track-event', eventName: name, ...who }, 'working')
      await ended(done, 'completed', /^$/)
      assert.equal(await events(name), 1, 'it was there, and is not doubled')
      const notDone = await left({ skill: 'track-event', eventName: `${name}-lost`, ...who }, 'working')
      await service.sql('delete from events where project_id = $1 and name = $2', [project.id, `${name}-lost`])
      await ended(notDone, 'completed', /^$/)
      assert.equal(await events(`${name}-lost`), 1, 'it was not there, and is now')
    }
  })

  it('stores its event once, also when the phone has another user meanwhile', async () => {
    await put(project, { id: 'sold-phone', platform: 'IOS' })
    const link = (user: string) =>
      project.call('POST', '/api/v1/devices/sold-phone/user/project-user-id', { json: { project_user_id: user } })
    assert.equal((await link('seller')).status, 200)
    const id = await left({ skill: 'track-event', eventName: 'sold', deviceId: 'sold-phone' }, 'working')
    assert.equal((await link('buyer')).status, 200)
    await ended(id, 'completed', /^$/)
    const rows = await service.sql(`select 1 from events where project_id = $1 and name = 'sold'`, [project.id])
    assert.equal(rows.length, 1)
  })

  it('is given up with the reason when those who take it over die too', async () => {
    const id = await left({ skill: 'create-user', projectUserId: 'cursed' }, 'working')
    const [{ content }] = await service.sql('select content from a2a_tasks where id = $1', [id])
    await service.sql('update a2a_tasks set content = $2 where id = $1', [
      id,
      JSON.stringify({ ...content, takeovers: 3 })
    ])
    await ended(id, 'failed', /stopped before it was finished/)
  })

  it('is done where nothing of it had begun', async () => {
    const id = await left({ skill: 'track-event', eventName: 'sell', projectUserId: 'eve' }, 'submitted')
    await ended(id, 'completed', /^$/)
  })

  it('is not given up while its node lives, however long it takes', async () => {
    const sending = agent.send(
      { skill: 'send-push-notification', projectUserId: 'slow', title: 'a' },
      { contextId: 'long' }
    )
    await eventually(async () => {
      const [row] = await service.sql(`select id, due_at from a2a_tasks where context_id = 'long'`)
      await set(row.id, `due_at = ${lapsed}`)
    })
    await service.hurry('a2a.look_after')
    await eventually(async () => {
      const waits = `name = 'a2a.look_after' and not ready and claim is null`
      assert.equal((await service.sql(`select 1 from jobs where ${waits}`)).length, 1, 'it has looked')
    })
    doubles.finish()
    assert.equal((await sending).status.state, 'completed')
  })
})

describe('a task that waits', () => {
  it('is failed after 24 hours without an answer, and not before', async () => {
    const [old, young] = [await agent.send({ skill: 'create-user' }), await agent.send({ skill: 'create-user' })]
    const due = await service.sql('select due_at from a2a_tasks where id = $1', [young.id])
    assert.ok(Math.abs(due[0].due_at.getTime() - Date.now() - 24 * 3_600_000) < 60_000)
    await set(old.id, `due_at = ${lapsed}`)
    await ended(old.id, 'failed', /No reply came for 24 hours/)
    assert.equal((await agent.get(young.id)).status.state, 'input-required')
    assert.equal(
      (await agent.error('send', { message: agent.message({ projectUserId: 'x' }, { taskId: old.id }) })).code,
      -32004
    )
  })
})

describe('tasks', () => {
  it('that ended are kept for TASK_RETENTION_DAYS, those that wait are not swept', async () => {
    const kept = await service.project()
    const theirs = agentOf(service, kept, 'plain')
    const [done, waits, fresh] = [
      await theirs.send({ skill: 'create-user', projectUserId: 'a' }),
      await theirs.send({ skill: 'create-user' }),
      await theirs.send({ skill: 'create-user', projectUserId: 'b' })
    ]
    const ancient = (id: string) => `0190${id.slice(4)}`
    for (const { id } of [done, waits])
      await service.sql('update a2a_tasks set id = $2 where id = $1', [id, ancient(id)])
    await eventually(async () => {
      await service.hurry('a2a.keep')
      const rows = await service.sql('select id from a2a_tasks where project_id = $1 order by id', [kept.id])
      assert.deepEqual(
        rows.map(({ id }) => id),
        [ancient(waits.id), fresh.id]
      )
    }, 20_000)
  })

  it('go with their project', async () => {
    const gone = await service.project()
    await agentOf(service, gone, 'plain').send({ skill: 'create-user' })
    assert.equal((await service.manage('DELETE', `/projects/${gone.id}`)).status < 300, true)
    await eventually(async () => {
      assert.deepEqual(await service.sql('select id from a2a_tasks where project_id = $1', [gone.id]), [])
    })
  })
})
