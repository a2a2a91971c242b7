import assert from 'node:assert/strict'
import { it } from 'node:test'
import { withClient } from '../support/database.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()

it('events lock the users they belong to by id, as deletions do, so the two cannot wait for each other', async () => {
  const project = await service.project()
  const users = new Map<string, string>()
  for (const name of ['one', 'two']) {
    await project.call('POST', '/api/v1/users', { json: { project_user_id: name } })
    await project.call('POST', '/api/v1/devices', { json: { devices: [{ device_id: name, platform: 'IOS' }] } })
    const path = `/api/v1/devices/${name}/user/project-user-id`
    const linked = await project.call('POST', path, { json: { project_user_id: name } })
    assert.equal(linked.status, 200, linked.text)
    const [row] = await service.sql('select user_id from devices where project_id = $1 and id = $2', [project.id, name])
    users.set(name, row.user_id)
  }
  const [first, second] = [...users].sort(([, one], [, other]) => (one < other ? -1 : 1)) as [
    [string, string],
    [string, string]
  ]
  await withClient(service.databaseUrl, async (client) => {
    const lock = (id: string) =>
      client.query('select 1 from users where project_id = $1 and id = $2 for update nowait', [project.id, id])
    // A deletion that has locked the first of two users, whose devices it did not see yet.
    await client.query('begin')
    await lock(first[1])
    // The events name the second user first.
    const events = [second, first].map(([device_id]) => ({ device_id, name: 'opened' }))
    const recording = project.call('POST', '/api/v1/events', { json: { events } })
    await eventually(async () => {
      const waiting = await service.sql(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      )
      assert.equal(waiting.length, 1)
    })
    await lock(second[1])
    await client.query('commit')
    assert.equal((await recording).status, 200)
  })
})
