import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messageMonths, type OutcomeChange } from '../../src/messages/messages.ts'
import { openPool, type Pool } from '../../src/platform/db/db.ts'
import { dropPartitions, makePartitions } from '../../src/platform/db/partitions.ts'
import { firstIdAt } from '../../src/platform/ids.ts'
import { asApp, link, lookInto } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { silentLog } from '../support/log.ts'
import { givenUser, read, results, to } from '../support/messages.ts'
import { rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const told: OutcomeChange[] = []
let outcomesFail = 0
const service = await startService(
  {},
  {
    sender,
    onSettled: [
      async (_tx, _projectId, changes) => {
        if (outcomesFail-- > 0) throw Object.assign(new Error('a deadlock'), { code: '40P01' })
        told.push(...changes)
      }
    ]
  }
)
const { count } = lookInto(service)
const toldOf = (messageId: string) => told.filter((change) => change.messageId === messageId)

const list = async (project: TestProject, query = '') => {
  const reply = await project.call('GET', `/api/v1/messages${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

async function withPool<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result> {
  const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 2)
  return work(pool).finally(() => pool.close())
}

describe('GET /api/v1/messages', () => {
  it('reads one message with all its fields', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'r-1', 'r-2')
    sender.script('r-1', rejected('TOKEN_MISMATCH'))
    const [sent] = await results(project, [to('ana', { body: 'Body' })])
    const { json } = await read(project, sent.message_id)
    const { devices, created_at, ...whole } = json
    assert.deepEqual(whole, { ...sent, trigger_id: null, campaign_id: null })
    assert.ok(created_at)
    assert.deepEqual(
      devices.map(({ device_id, state, gateway, gateway_code, attempts, title, body, project_user_id }: Json) => [
        device_id,
        state,
        gateway,
        gateway_code,
        attempts,
        title,
        body,
        project_user_id
      ]),
      [
        ['r-2', 'accepted', 'apns', null, 1, 'Hello', 'Body', 'ana'],
        ['r-1', 'failed', 'apns', 'RawTOKEN_MISMATCH', 1, 'Hello', 'Body', 'ana']
      ]
    )
    for (const { handed_at, settled_at, delivered_at, tapped_at, expires_at } of devices) {
      assert.ok(handed_at && settled_at && expires_at)
      assert.deepEqual([delivered_at, tapped_at], [null, null])
    }
  })

  it('lists newest first by pages, and finds by user, device, trigger, campaign and status', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'l-1')
    await givenUser(project, 'bo', 'l-2')
    sender.script('l-2', rejected('TOKEN_INVALID'))
    const sent: string[] = []
    for (let n = 0; n < 3; n += 1)
      for (const user of ['ana', 'bo']) sent.unshift((await results(project, [to(user)]))[0].message_id)
    const ids = ({ items }: Json) => items.map(({ message_id }: Json) => message_id)
    assert.deepEqual(ids(await list(project)), sent)
    const pages: string[] = []
    for (let cursor = ''; ; ) {
      const page = await list(project, `?limit=4${cursor}`)
      pages.push(...ids(page))
      if (page.next_cursor === null) break
      cursor = `&cursor=${page.next_cursor}`
    }
    assert.deepEqual(pages, sent)
    const ofBo = sent.filter((_, index) => index % 2 === 0)
    const ofAna = sent.filter((_, index) => index % 2 === 1)
    assert.deepEqual(ids(await list(project, '?project_user_id=bo')), ofBo)
    assert.deepEqual(ids(await list(project, '?device_id=l-1')), ofAna)
    assert.deepEqual(ids(await list(project, '?device_id=l-1&project_user_id=bo')), [])
    assert.deepEqual(ids(await list(project, '?status=SUCCEED')), ofAna)
    assert.deepEqual(ids(await list(project, '?status=DELIVERY_RESULT_STATUS_FAILED&limit=2')), ofBo.slice(0, 2))
    assert.deepEqual(ids(await list(project, `?trigger_id=${sent[2]}`)), [sent[2]])
    assert.deepEqual(ids(await list(project, `?trigger_id=${sent[2]}&project_user_id=bo`)), [sent[2]])
    assert.deepEqual(ids(await list(project, '?campaign_id=welcome')), [])
    await service.sql(`update messages set campaign_id = 'welcome' where message_id = $1`, [sent[0]])
    assert.deepEqual(ids(await list(project, '?campaign_id=welcome')), [sent[0]])
    for (const query of ['?project_user_id=nobody', '?trigger_id=none', '?device_id=none'])
      assert.deepEqual(await list(project, query), { items: [], next_cursor: null })
    const managed = await service.manage('GET', `/projects/${project.id}/messages?project_user_id=bo&limit=2`)
    assert.deepEqual(ids(managed.json), ofBo.slice(0, 2))
  })

  it('lists messages of a time in the management API, page by page, and ends where no older one can be', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'p-1')
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) ids.unshift((await results(project, [to('ana')]))[0].message_id)
    const hour = async (id: string, hours: number) =>
      service.sql(`update messages set created_at = now() + $2 * interval '1 hour' where message_id = $1`, [id, hours])
    // Messages are created after their ids, and quiet hours or limits delay some more than others.
    for (const [index, hours] of [4, 3, 6, 1, 0.5].entries()) await hour(ids[index]!, hours)
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const listed = async (query: string) => {
      const found: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const path = `/projects/${project.id}/messages?limit=1${query}${cursor && `&cursor=${cursor}`}`
        const { status, text, json } = await service.manage('GET', path)
        assert.equal(status, 200, text)
        found.push(...json.items.map(({ message_id }: Json) => message_id))
        cursor = json.next_cursor
      }
      return found
    }
    assert.deepEqual(await listed(`&from=${at(2)}`), [ids[0], ids[1], ids[2]])
    assert.deepEqual(await listed(`&from=${at(0.75)}&to=${at(3.5)}&project_user_id=ana`), [ids[1], ids[3]])
    assert.deepEqual(await listed(`&trigger_id=${ids[2]}&from=${at(5)}&to=${at(7)}`), [ids[2]])
    assert.deepEqual(await listed(`&to=${at(-24)}`), [])
    assert.deepEqual(await listed('&from=9999-12-31T23:59:59Z'), [])
    assert.deepEqual(await listed('&to=0001-01-01T00:00:00Z&from=0001-01-01T00:00:00Z'), [])
    for (const query of ['from=yesterday', 'to=2026-13-01', 'from=-1']) {
      const reply = await service.manage('GET', `/projects/${project.id}/messages?${query}`)
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_parameter'], query)
    }
  })

  it('refuses a foreign cursor, an unknown status and a message that does not exist', async () => {
    const project = await service.project()
    const own = Buffer.from('["x","y"]').toString('base64url')
    for (const query of [`?cursor=${own}`, '?cursor=a', '?status=DONE', '?limit=0']) {
      const reply = await project.call('GET', `/api/v1/messages${query}`)
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_parameter'])
    }
    for (const id of ['0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17', 'none', '%00']) {
      const reply = await read(project, id)
      assert.ok([400, 404].includes(reply.status), reply.text)
    }
    assert.equal((await read(project, 'none')).json.code, 'message_not_found')
  })
})

describe('what devices report', () => {
  it('sets delivered and tapped once for each device, and subscribers get it', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'e-1', 'e-2')
    const [{ message_id }] = await results(project, [to('ana')])
    const report = (device_id: string, name: string, id = message_id) =>
      asApp(project, 'POST', '/events', { events: [{ device_id, name, event_property: { message_id: id } }] })
    assert.equal((await report('e-1', 'PUSH_NOTIFICATION_RECEIVED')).status, 200)
    assert.equal((await report('e-1', 'PUSH_NOTIFICATION_RECEIVED')).status, 200)
    assert.equal((await report('e-1', 'PUSH_NOTIFICATION_TAPPED')).status, 200)
    assert.equal((await report('e-2', 'PUSH_NOTIFICATION_TAPPED')).status, 200)
    assert.equal((await report('e-2', 'something_else')).status, 200)
    assert.equal((await report('e-2', 'PUSH_NOTIFICATION_RECEIVED', 'no uuid')).status, 200)
    const { devices } = (await read(project, message_id)).json
    for (const { delivered_at, tapped_at } of devices) assert.ok(delivered_at && tapped_at)
    assert.deepEqual(
      toldOf(message_id)
        .map(({ deviceId, kind }) => `${deviceId} ${kind}`)
        .sort(),
      ['e-1 delivered', 'e-1 state', 'e-1 tapped', 'e-2 delivered', 'e-2 state', 'e-2 tapped']
    )
  })

  it('about the messages of others, or to other devices, changes nothing', async () => {
    const [mine, other] = [await service.project(), await service.project()]
    await givenUser(mine, 'ana', 'x-1')
    await givenUser(other, 'eve', 'x-1', 'x-2')
    const [{ message_id }] = await results(mine, [to('ana')])
    for (const device_id of ['x-1', 'x-2'])
      await asApp(other, 'POST', '/events', {
        events: [{ device_id, name: 'PUSH_NOTIFICATION_TAPPED', event_property: { message_id } }]
      })
    assert.equal((await read(mine, message_id)).json.devices[0].tapped_at, null)
  })
})

describe('outcomes', () => {
  it('reach subscribers once, when a message is settled', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'o-1', 'o-2')
    sender.script('o-1', rejected('TOKEN_INVALID'))
    sender.script('o-2', retry('GATEWAY_UNAVAILABLE'), rejected('PAYLOAD_INVALID'))
    const [{ message_id }] = await results(project, [to('ana')])
    const changes = toldOf(message_id).map(({ deviceId, to, reason, triggerId, campaignId }) => {
      assert.deepEqual([triggerId, campaignId], [message_id, null])
      return [deviceId, to, reason]
    })
    assert.deepEqual(changes.sort(), [
      ['o-1', 'failed', 'TOKEN_INVALID'],
      ['o-2', 'failed', 'PAYLOAD_INVALID']
    ])
  })

  it('are written and published together, or not at all', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'w-1')
    outcomesFail = 2
    const [{ message_id, status }] = await results(project, [to('ana')])
    assert.equal(status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    assert.equal(toldOf(message_id).length, 1)
    assert.equal(sender.to('w-1').length, 1)
  })
})

describe('messages and their user', () => {
  const later = () => retry('PROJECT_RATE_LIMITED', { notBefore: Date.now() + 3_600_000 })

  it('are deleted with their user; open ones are published as canceled, and not sent', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'g-1', 'g-2')
    await givenUser(project, 'bo', 'g-3')
    sender.script('g-1', later())
    const [{ message_id }] = await results(project, [to('ana'), to('bo')])
    assert.equal(await count('messages', project), 3)
    assert.equal((await project.call('DELETE', '/api/v1/users/ana')).status, 200)
    assert.equal(await count('messages', project), 1)
    assert.equal((await read(project, message_id)).status, 404)
    assert.deepEqual(
      toldOf(message_id).map(({ deviceId, to, reason }) => [deviceId, to, reason]),
      [
        ['g-2', 'accepted', null],
        ['g-1', 'skipped', 'CANCELED']
      ]
    )
  })

  it('that are deleted while a gateway has them end without an error', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'm-1')
    const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rejected>>()
    sender.script('m-1', promise)
    const sending = results(project, [to('ana')])
    await eventually(() => assert.equal(sender.to('m-1').length, 1))
    assert.equal((await project.call('DELETE', '/api/v1/users/ana')).status, 200)
    resolve(rejected('TOKEN_INVALID'))
    const [result] = await sending
    assert.equal(result.status, 'DELIVERY_RESULT_STATUS_FAILED')
    assert.deepEqual(
      toldOf(result.message_id).map(({ to }) => to),
      ['skipped']
    )
  })

  it('move to the user that an anonymous user logs in as', async () => {
    const project = await service.project()
    await asApp(project, 'POST', '/devices', { devices: [{ id: 'v-1', platform: 'IOS', push_token: 'aa' }] })
    const [{ message_id }] = await results(project, [{ target: { device_id: 'v-1' }, title: 'a' }])
    assert.equal((await read(project, message_id)).json.devices[0].project_user_id, null)
    assert.equal((await link(project, 'v-1', 'ana')).status, 200)
    assert.equal((await read(project, message_id)).json.devices[0].project_user_id, 'ana')
    assert.equal((await list(project, '?project_user_id=ana')).items.length, 1)
  })

  it('of a deleted project are erased', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'p-1')
    sender.script('p-1', later())
    await results(project, [to('ana')])
    assert.equal((await service.manage('DELETE', `/projects/${project.id}`)).status, 200)
    await eventually(async () => assert.equal(await count('messages', project), 0))
    await eventually(async () => assert.equal(await count('projects', project), 0))
  })
})

describe('the months of messages', () => {
  const partitions = async () =>
    (
      await service.sql(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'messages'::regclass order by 1`
      )
    ).map(({ name }) => name)

  it('exist at the start, and are made on demand where they are missing', async () => {
    assert.equal((await partitions()).length, 6)
    const project = await service.project()
    await givenUser(project, 'ana', 'n-1')
    for (const name of await partitions()) await service.sql(`drop table ${name}`)
    assert.equal((await results(project, [to('ana')]))[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    assert.equal((await partitions()).length, 6)
  })

  it('are dropped when no project keeps them; a project that keeps fewer days loses its messages sooner', async () => {
    await withPool((pool) => makePartitions(pool, messageMonths, new Date('2020-06-15T00:00:00Z')))
    assert.ok((await partitions()).includes('messages_2020_06'))
    const [short, long] = [await service.project({ retention: { messages_days: 2 } }), await service.project()]
    for (const project of [short, long]) {
      await givenUser(project, 'ana', 'k-1')
      await results(project, [to('ana'), to('ana')])
      const old = firstIdAt(Date.now() - 3 * 86_400_000)
      const [{ message_id }] = await service.sql('select message_id from messages where project_id = $1 limit 1', [
        project.id
      ])
      await service.sql('update messages set trigger_id = $1, created_at = $3 where message_id = $2', [
        old,
        message_id,
        new Date(Date.now() - 3 * 86_400_000)
      ])
    }
    await service.sql(`update idempotency_keys set expires_at = now()`)
    await service.sql(`update jobs set ready = true, run_at = now() where name = 'messages.keep'`)
    await eventually(async () => assert.equal(await count('messages', short), 1))
    assert.equal(await count('messages', long), 2)
    await eventually(async () => assert.ok(!(await partitions()).includes('messages_2020_06')))
    assert.deepEqual(await service.sql('select 1 from idempotency_keys'), [])
    await withPool((pool) => dropPartitions(pool, messageMonths, new Date('2020-01-01T00:00:00Z')))
  })
})
