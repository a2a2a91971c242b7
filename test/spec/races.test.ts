import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import pg from 'pg'
import { link, put } from '../support/devices.ts'
import { send } from '../support/messages.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()

describe('a device whose anonymous user turns out to be somebody', () => {
  it('brings along a message that is being written at that moment', async (t) => {
    const project = await service.project({ mode: 'simulator' })
    await put(project, { id: 'phone', platform: 'IOS', push_token: 'ab'.repeat(32), push_token_type: 'APNS' })
    const sent = await send(project, [{ target: { device_id: 'phone' }, title: 'first' }])
    assert.equal(sent.status, 200)
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    t.after(() => client.end())
    // Somebody writes a message to the same device and has not committed yet.
    const later = '01890000-0000-7000-8000-0000000000aa'
    await client.query('begin')
    const { rowCount } = await client.query(
      `insert into messages
       select (jsonb_populate_record(m, jsonb_build_object('message_id', $2::text, 'device_id', 'another'))).*
         from messages m where project_id = $1`,
      [project.id, later]
    )
    assert.equal(rowCount, 1)
    const linking = link(project, 'phone', 'ana')
    await eventually(async () => {
      const waiting = await service.sql(
        `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      )
      assert.equal(waiting.length, 1, 'it waits for who writes')
    })
    await client.query('commit')
    assert.equal((await linking).status, 200)
    const rows = await service.sql(
      `select u.project_user_id as name from messages m join users u on u.project_id = m.project_id and u.id = m.user_id
        where m.project_id = $1`,
      [project.id]
    )
    assert.deepEqual(rows, [{ name: 'ana' }, { name: 'ana' }])
  })
})
