import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, readTrigger, triggered, users } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

const messageOf = async (id: string) =>
  (await service.sql('select state, due_at is not null as timed from messages where trigger_id = $1', [id]))[0]!

/** A trigger for one user whose message a process had given to a gateway when it was killed. */
async function leftBehind(name: string): Promise<{ project: TestProject; id: string }> {
  const project = await service.project()
  await givenUser(project, 'ana', name)
  await givenCampaign(service, project)
  const id = await triggered(project, users('ana'))
  await ended(project, id)
  await service.sql(`update triggers set state = 'running', ended_at = null, sent = 0 where id = $1`, [id])
  await service.sql(
    `update messages set state = 'handed', attempts = 0, settled_at = null, gateway_message_id = null,
            owner = gen_random_uuid() where trigger_id = $1`,
    [id]
  )
  assert.deepEqual(await messageOf(id), { state: 'handed', timed: false })
  return { project, id }
}

/** The job of that process, after so many attempts. */
const jobAgain = (project: TestProject, id: string, attempts: number) =>
  service.sql(
    `insert into jobs (id, name, queue, project_id, payload, ready, run_at, attempts, created_at)
     values (gen_random_uuid(), 'campaigns.begin', 'triggers', $1, $2, true, now(), $3, now())`,
    [project.id, JSON.stringify({ projectId: project.id, triggerIds: [id] }), attempts]
  )

describe('the message of a small trigger', () => {
  it('has no time while its job waits for the gateway, and gets one when the job ends', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'silent')
    await givenCampaign(service, project)
    sender.script('silent', 'silence')
    const id = await triggered(project, users('ana'))
    await eventually(async () => assert.deepEqual(await messageOf(id), { state: 'handed', timed: false }))
    await eventually(async () => assert.deepEqual(await messageOf(id), { state: 'handed', timed: true }), 30_000)
  })

  for (const [how, attempts] of [
    ['was killed', 1],
    ['stopped before the gateway responded, which counts no attempt', 0]
  ] as const)
    it(`is sent by the job of a process that ${how}, when it runs again`, async () => {
      const { project, id } = await leftBehind(`again-${attempts}`)
      await jobAgain(project, id, attempts)
      const { counts } = await ended(project, id)
      assert.deepEqual([counts.targeted, counts.sent], [1, 1])
    })

  it('gets a time in a paused project, and is sent after the resume', async () => {
    const { project, id } = await leftBehind('paused')
    await service.manage('POST', `/projects/${project.id}:pause`)
    await jobAgain(project, id, 1)
    await eventually(async () => assert.deepEqual(await messageOf(id), { state: 'handed', timed: true }))
    await service.sql('update messages set due_at = now() where trigger_id = $1', [id])
    await service.manage('POST', `/projects/${project.id}:resume`)
    assert.equal((await ended(project, id)).counts.sent, 1)
  })

  it('gets a time where its job has brought down every worker', async () => {
    const { project, id } = await leftBehind('poison')
    await jobAgain(project, id, 15)
    await eventually(async () => assert.deepEqual(await messageOf(id), { state: 'handed', timed: true }))
  })

  it('gets a time where its job is gone, as a node of an older version ends it in a paused project', async () => {
    const { project, id } = await leftBehind('gone')
    const other = await leftBehind('gone-too')
    await service.sql('update triggers set wake_at = now() where id = any($1)', [[id, other.id]])
    await service.manage('POST', `/projects/${project.id}:pause`)
    await service.hurry('campaigns.sweep')
    await eventually(async () => assert.equal((await messageOf(other.id)).timed, true))
    assert.deepEqual(await messageOf(id), { state: 'handed', timed: false })
    await service.manage('POST', `/projects/${project.id}:resume`)
    await service.sql('update triggers set wake_at = now() where id = $1', [id])
    await service.hurry('campaigns.sweep')
    await eventually(async () => assert.equal((await messageOf(id)).timed, true))
  })

  it('is skipped where its trigger was canceled meanwhile', async () => {
    const { project, id } = await leftBehind('canceled')
    await service.sql(`update triggers set state = 'canceling', outcome = 'canceled' where id = $1`, [id])
    await jobAgain(project, id, 1)
    await eventually(async () => assert.equal((await messageOf(id)).timed, true))
    await service.sql('update messages set due_at = now() where trigger_id = $1 and due_at is not null', [id])
    await service.hurry('delivery.find_lost')
    await eventually(async () => {
      const { state, counts } = await readTrigger(project, id)
      assert.deepEqual([state, counts.skipped, counts.sent], ['canceled', 1, 0])
    }, 20_000)
  })
})

it('a small trigger is running from its acceptance on, so that its start changes no index', async () => {
  const project = await service.project()
  await givenUser(project, 'ana', 'running')
  await givenCampaign(service, project)
  const id = await withClient(service.databaseUrl, async (client) => {
    await client.query('begin')
    // The messages of the trigger wait for the user.
    await client.query('select 1 from users where project_id = $1 for update', [project.id])
    const id = await triggered(project, users('ana'))
    const [row] = await service.sql('select state, cursor from triggers where id = $1', [id])
    assert.deepEqual(row, { state: 'running', cursor: '' })
    await client.query('commit')
    return id
  })
  assert.equal((await ended(project, id)).counts.sent, 1)
})
