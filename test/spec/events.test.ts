import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventMonths, keepEventsJob } from '../../src/events/events.ts'
import { openPool } from '../../src/platform/db/db.ts'
import { dropPartitions, makePartitions } from '../../src/platform/db/partitions.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { silentLog } from '../support/log.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()
const dayMs = 24 * 3_600_000

const record = (project: TestProject, ...events: unknown[]) => asApp(project, 'POST', '/events', { events })
const stored = (project: TestProject): Promise<Json[]> =>
  service.sql('select * from events where project_id = $1 order by at, id', [project.id])
const list = async (project: TestProject, query = ''): Promise<Json> =>
  (await service.manage('GET', `/projects/${project.id}/events?${query}`)).json
const names = (listed: Json) => listed.items.map((event: Json) => event.name)

async function withDevices(...ids: string[]): Promise<TestProject> {
  const project = await service.project()
  const devices = ids.map((id) => ({ id, platform: 'iOS' }))
  assert.equal((await asApp(project, 'POST', '/devices', { devices })).status, 200)
  return project
}

/** Runs the recurring job now. */
async function keep(): Promise<void> {
  const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 2)
  const context = {
    jobId: 'x',
    attempt: 1,
    last: false,
    signal: new AbortController().signal,
    complete: async () => {},
    freeSlot() {}
  }
  await keepEventsJob(pool).run({}, context).finally(pool.close)
}

async function withPool<Result>(work: (pool: ReturnType<typeof openPool>) => Promise<Result>): Promise<Result> {
  const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 2)
  return work(pool).finally(pool.close)
}

describe('POST /api/v1/events does it', () => {
  for (const field of ['event_property', 'properties']) {
    it(`records properties under ${field}, and returns them under both names`, async () => {
      const project = await withDevices('phone')
      const property = {
        message_id: 'm1',
        user_journey_id: 'j',
        user_journey_node_id: 'n',
        custom_properties: { amount: 12.5, items: ['a', { b: null }] }
      }
      const reply = await record(project, {
        device_id: 'phone',
        name: 'purchase',
        [field]: property,
        source_type: 'SERVICE'
      })
      assert.equal(reply.status, 200, reply.text)
      const [event] = reply.json.events
      const { user_id, at, ...rest } = event
      assert.deepEqual(rest, { device_id: 'phone', name: 'purchase', event_property: property, properties: property })
      const [row] = await stored(project)
      assert.deepEqual([row.user_id, row.message_id, row.at.toISOString()], [user_id, 'm1', at])
      assert.deepEqual(row.properties, property.custom_properties)
      assert.deepEqual(row.details, { user_journey_id: 'j', user_journey_node_id: 'n', source_type: 'SERVICE' })
    })
  }

  it('takes custom properties that stand beside the others, or in both objects, as SDKs of others send them', async () => {
    const project = await withDevices('phone')
    const sent = (more: Json) => ({ device_id: 'phone', name: 'x', ...more })
    const reply = await record(
      project,
      sent({ properties: { a: 1, b: { c: [2] }, message_id: 'm1', user_journey_id: 'j' } }),
      sent({ properties: { a: 1, custom_properties: null } }),
      sent({ properties: { a: 1, custom_properties: { b: 2 } } }),
      sent({ event_property: { a: 1 }, properties: { b: 2 } })
    )
    assert.equal(reply.status, 200, reply.text)
    const [first, second, third, fourth] = reply.json.events.map(({ properties }: Json) => properties)
    assert.deepEqual(first, { message_id: 'm1', user_journey_id: 'j', custom_properties: { a: 1, b: { c: [2] } } })
    assert.deepEqual(
      [second, third, fourth].map(({ custom_properties }) => custom_properties),
      [{ a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2 }]
    )
  })

  it('takes a bare name, and nulls where SDKs have nothing', async () => {
    const project = await withDevices('phone')
    const bare = { device_id: 'phone', name: 'SESSION_START' }
    const nulls = {
      ...bare,
      event_property: { message_id: null, custom_properties: null },
      source_type: null,
      at: null
    }
    const reply = await record(project, bare, nulls, { ...bare, properties: null })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(reply.json.events[1].properties, { message_id: null, custom_properties: {} })
  })

  it('keeps a time of the last days and takes its own for any other', async () => {
    const project = await withDevices('phone')
    const before = Date.now()
    const ago = (days: number) => new Date(before - days * dayMs).toISOString()
    const times = [ago(2), ago(8), ago(-1), '1970-01-01T00:00:00Z', '9999-01-01T00:00:00Z']
    const reply = await record(project, ...times.map((at) => ({ device_id: 'phone', name: 'e', at })))
    const [sane, ...others] = reply.json.events.map((event: Json) => event.at)
    assert.equal(sane, times[0])
    for (const at of others) assert.ok(Date.parse(at) >= before && Date.parse(at) <= Date.now(), at)
    for (const at of ['yesterday', '2026', '2026-11-15T09:30:00', 5])
      assert.equal((await record(project, { device_id: 'phone', name: 'e', at })).json.code, 'invalid_event')
  })

  it('takes 1,000 at once, of many devices', async () => {
    const project = await withDevices('a', 'b')
    const events = Array.from({ length: 1000 }, (_, n) => ({ device_id: n % 2 ? 'a' : 'b', name: `e${n}` }))
    const reply = await record(project, ...events)
    assert.equal(reply.json.events.length, 1000)
    assert.equal(reply.json.events[7].name, 'e7')
    assert.equal((await stored(project)).length, 1000)
    assert.equal((await record(project, ...events, events[0])).status, 400)
  })

  it('counts the device and its user as seen', async () => {
    const project = await withDevices('phone')
    await service.sql(`update devices set last_seen_at = '2020-01-01' where project_id = $1`, [project.id])
    await record(project, { device_id: 'phone', name: 'e' })
    const [row] = await service.sql(
      'select d.last_seen_at as device, u.last_seen_at as person from devices d join users u on u.project_id = d.project_id and u.id = d.user_id where d.project_id = $1',
      [project.id]
    )
    for (const at of [row.device, row.person]) assert.ok(Date.now() - at.getTime() < 60_000)
  })
})

describe('events and their user', () => {
  it('of the anonymous time go to the user who logs in; those of a named one stay', async () => {
    const project = await withDevices('phone', 'other')
    await record(project, { device_id: 'phone', name: 'before' }, { device_id: 'other', name: 'elsewhere' })
    const login = (user: string) =>
      asApp(project, 'POST', '/devices/phone/user/project-user-id', { project_user_id: user })
    await login('ana')
    await record(project, { device_id: 'phone', name: 'during' })
    await login('bo')
    await record(project, { device_id: 'phone', name: 'after' })
    assert.deepEqual(names(await list(project, 'project_user_id=ana')), ['during', 'before'])
    assert.deepEqual(names(await list(project, 'project_user_id=bo')), ['after'])
    assert.equal((await list(project, 'name=elsewhere')).items[0].project_user_id, null)
  })

  it('go with a user who is deleted, and only theirs', async () => {
    const project = await withDevices('phone', 'other')
    await asApp(project, 'POST', '/devices/phone/user/project-user-id', { project_user_id: 'ana' })
    await record(project, { device_id: 'phone', name: 'mine' }, { device_id: 'other', name: 'elsewhere' })
    await project.call('DELETE', '/api/v1/users/ana')
    assert.deepEqual(names(await list(project)), ['elsewhere'])
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    assert.deepEqual(names(await list(project, 'project_user_id=ana')), [])
    assert.equal((await record(project, { device_id: 'phone', name: 'late' })).status, 404)
  })

  it('written while the user logs in are not lost', async () => {
    const project = await withDevices('phone')
    const calls = Array.from({ length: 40 }, (_, n) =>
      n === 20
        ? asApp(project, 'POST', '/devices/phone/user/project-user-id', { project_user_id: 'ana' })
        : record(project, { device_id: 'phone', name: `e${n}` })
    )
    for (const reply of await Promise.all(calls)) assert.equal(reply.status, 200, reply.text)
    assert.equal((await list(project, 'project_user_id=ana')).items.length, 39)
  })
})

describe('events refuse', () => {
  it('an unknown device, with nothing stored, and without disturbing others', async () => {
    const project = await withDevices('phone')
    const good = { device_id: 'phone', name: 'e' }
    const [refused, taken] = await Promise.all([
      record(project, good, { device_id: 'none', name: 'e' }),
      record(project, good)
    ])
    assert.deepEqual([refused.status, refused.json.code], [404, 'device_not_found'])
    assert.match(refused.json.error, /events\[1\]/)
    assert.equal(taken.status, 200)
    assert.equal((await stored(project)).length, 1)
  })

  it('a bad entry, telling which', async () => {
    const project = await withDevices('phone')
    let deep: unknown = 1
    for (let n = 0; n < 200; n += 1) deep = { deep }
    const good = { device_id: 'phone', name: 'e' }
    const custom = (custom_properties: unknown) => ({ ...good, event_property: { custom_properties } })
    const bad = [
      { name: 'e' },
      { device_id: 'phone' },
      { ...good, name: '' },
      { ...good, name: 'x'.repeat(257) },
      { ...good, name: 'a\u0001' },
      { ...good, name: 5 },
      { ...good, at: '2026-01-01T10:00:00' },
      { ...good, at: '2026-01-01' },
      { ...good, properties: [] },
      { ...good, properties: { message_id: 5 } },
      custom([]),
      custom({ deep }),
      custom({ text: 'x'.repeat(70_000) }),
      null
    ]
    for (const entry of bad) {
      const reply = await record(project, good, entry)
      assert.deepEqual([reply.status, reply.json.code], [400, 'invalid_event'], JSON.stringify(entry).slice(0, 80))
      assert.match(reply.json.details[0].path, /^events\[1\]/)
    }
    const large = 'x'.repeat(70_000)
    for (const [more, path] of [
      [{ event_property: { custom_properties: { large } } }, 'event_property.custom_properties'],
      [{ properties: { custom_properties: { large } } }, 'properties.custom_properties'],
      [{ properties: { large } }, 'properties']
    ] as const) {
      const { json } = await record(project, { ...good, ...more })
      assert.deepEqual(json.details, [{ path: `events[0].${path}`, message: 'must be at most 64 KiB' }])
    }
    const huge = await project.call('POST', '/api/v1/events', {
      body: '{"events":[{"device_id":"phone","name":"e","properties":{"custom_properties":{"n":1e400}}}]}',
      headers: { 'content-type': 'application/json' }
    })
    assert.equal(huge.status, 400)
    assert.equal((await record(project)).text, '{"events":[]}')
    assert.equal((await stored(project)).length, 0)
  })
})

describe('events keep tenants apart', () => {
  it('a device of another project is unknown, and lists show their own', async () => {
    const [one, two] = [await withDevices('phone', 'mine'), await withDevices('phone')]
    assert.equal((await record(two, { device_id: 'mine', name: 'e' })).status, 404)
    await record(one, { device_id: 'phone', name: 'one' })
    await record(two, { device_id: 'phone', name: 'two' })
    assert.deepEqual(names(await list(one)), ['one'])
    assert.deepEqual(names(await list(two)), ['two'])
  })
})

describe('GET /manage/v1/projects/{id}/events', () => {
  it('lists newest first by pages, and finds by device and name', async () => {
    const project = await withDevices('a', 'b')
    for (let n = 0; n < 5; n += 1) await record(project, { device_id: n % 2 ? 'a' : 'b', name: `e${n}` })
    const first = await list(project, 'limit=3')
    const second = await list(project, `limit=3&cursor=${first.next_cursor}`)
    assert.deepEqual(
      [names(first), names(second)],
      [
        ['e4', 'e3', 'e2'],
        ['e1', 'e0']
      ]
    )
    assert.equal(second.next_cursor, null)
    assert.deepEqual(names(await list(project, 'device_id=a')), ['e3', 'e1'])
    const one = await list(project, 'device_id=b&limit=2')
    assert.deepEqual(names(one), ['e4', 'e2'])
    assert.deepEqual(names(await list(project, `device_id=b&limit=2&cursor=${one.next_cursor}`)), ['e0'])
    assert.deepEqual(names(await list(project, 'name=e2')), ['e2'])
    assert.deepEqual(names(await list(project, 'name=e')), [])
    for (const query of ['cursor=x', 'limit=0', `cursor=${Buffer.from('["x","y"]').toString('base64url')}`])
      assert.equal((await service.manage('GET', `/projects/${project.id}/events?${query}`)).status, 400)
  })
})

describe('the months of events', () => {
  const partitions = async () =>
    (
      await service.sql(
        `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'events'::regclass order by 1`
      )
    ).map(({ name }) => name)

  it('are there at the start: the last, this and two more', async () => {
    const month = (offset: number) => {
      const now = new Date()
      const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1))
      return `events_${start.toISOString().slice(0, 7).replace('-', '_')}`
    }
    for (const offset of [-1, 0, 1, 2]) assert.ok((await partitions()).includes(month(offset)), month(offset))
  })

  it('are made on demand where they are missing, by many requests at once', async () => {
    const project = await withDevices('phone')
    for (const name of await partitions()) await service.sql(`drop table ${name}`)
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => record(project, { device_id: 'phone', name: 'e' }))
    )
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    assert.equal((await partitions()).length, 4)
    await withPool((pool) =>
      Promise.all([makePartitions(pool, eventMonths, new Date()), makePartitions(pool, eventMonths, new Date())])
    )
  })

  it('go when no project keeps them; a project that keeps less loses its own sooner', async () => {
    const long = await withDevices('phone')
    const short = await service.project({ retention: { events_days: 1 } })
    await asApp(short, 'POST', '/devices', { devices: [{ id: 'phone', platform: 'iOS' }] })
    const at = new Date(Date.now() - 3 * dayMs).toISOString()
    for (const project of [long, short])
      await record(project, { device_id: 'phone', name: 'old', at }, { device_id: 'phone', name: 'new' })
    await withPool((pool) => makePartitions(pool, eventMonths, new Date('2020-06-15T00:00:00Z')))
    assert.ok((await partitions()).includes('events_2020_06'))
    await keep()
    assert.ok(!(await partitions()).some((name) => name < 'events_2021'))
    assert.deepEqual(names(await list(long)), ['new', 'old'])
    assert.deepEqual(names(await list(short)), ['new'])
    await withPool((pool) => dropPartitions(pool, eventMonths, new Date('2020-01-01T00:00:00Z')))
    assert.equal((await partitions()).length, 4)
  })
})
