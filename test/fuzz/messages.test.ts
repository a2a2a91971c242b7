import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { asApp, link, put } from '../support/devices.ts'
import fc from '../support/fuzz.ts'
import type { Json } from '../support/http.ts'
import { send, to } from '../support/messages.ts'
import { accepted, lost, rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const sender = scriptedSender()
/** Counts in a table, as real subscribers do: a repeated transaction must not count twice. */
const tell = {
  name: 'test.tell',
  text: `insert into told select * from json_to_recordset($1::json) as t(message_id uuid, device_id text, kind text)`,
  acrossProjects: ''
}
const service = await startService(
  { DATABASE_POOL_SIZE: '20' },
  {
    sender,
    onSettled: [
      async (tx, _projectId, changes) => {
        const rows = changes.map(({ messageId, deviceId, kind }) => ({
          message_id: messageId,
          device_id: deviceId,
          kind
        }))
        await tx.run(tell, [JSON.stringify(rows)])
      }
    ]
  }
)
await service.sql('create table told (message_id uuid, device_id text, kind text)')

describe('any request to messages:send', () => {
  it('gets 200 or the fixed 400, never a 5xx', async () => {
    const project = await service.project({ limits: { requests_per_second: 0 } })
    const leaf = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.double(), fc.boolean(), fc.constant(null))
    const value = fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.object({ maxDepth: 2 }))
    const fields = [
      'title',
      'body',
      'image_url',
      'landing_url',
      'data',
      'badge',
      'ttl_seconds',
      'priority',
      '__proto__'
    ]
    const names = fc.constantFrom(...fields, 'collapse_key', 'constructor', 'attributes', 'content_state', 'alert')
    const target = fc.oneof(
      value,
      fc.record({ project_user_id: leaf }, { requiredKeys: [] }),
      fc.record({ device_id: leaf, user_id: leaf }, { requiredKeys: [] })
    )
    const item = fc
      .tuple(fc.dictionary(names, value), target)
      .map(([given, aim]) => ({ ...given, target: aim, title: 'a', attributes_type: 'A', activity_id: 'b' }))
    const paths = ['messages:send', 'live-activities:start', 'live-activities:update', 'live-activities:end']
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        fc.oneof(value, fc.array(item, { maxLength: 3 })),
        async (path, items) => {
          const name = path.startsWith('messages') ? 'push_notifications' : 'live_activities'
          const reply = await project.call('POST', `/api/v1/${path}`, { json: { [name]: items } })
          assert.ok(reply.status === 200 || reply.status === 400, `${reply.status} ${reply.text}`)
          if (reply.status === 400) assert.match(reply.text, /^Invalid (push notification|live activity) parameters$/)
          else assert.equal(reply.json.delivery_results.length, (items as Json[]).length)
        }
      ),
      { numRuns: 300 }
    )
  })
})

describe('sending while users are created, linked, reported and deleted', () => {
  it('responds to every call, reports each outcome once, and leaves nothing behind', async () => {
    const project = await service.project({ limits: { requests_per_second: 0, client_requests_per_second: 0 } })
    const pick = (most: number) => Math.floor(Math.random() * most)
    const [users, phones] = [4, 8]
    for (let n = 0; n < phones; n += 1) {
      sender.script(
        `s-${n}`,
        ...Array.from(
          { length: 400 },
          () =>
            [accepted(), accepted(), lost(), retry('GATEWAY_UNAVAILABLE'), rejected('TOKEN_INVALID', new Date())].at(
              pick(5)
            )!
        ),
        accepted()
      )
    }
    const seen: [messageId: string, deviceId: string][] = []
    const statuses = new Map<string, number>()
    const count = (what: string, { status }: { status: number }) =>
      statuses.set(`${what} ${status}`, (statuses.get(`${what} ${status}`) ?? 0) + 1)
    const steps: (() => Promise<void>)[] = [
      async () => {
        const reply = await send(project, [
          to(`u${pick(users)}`),
          { target: { device_id: `s-${pick(phones)}` }, body: 'b' }
        ])
        count('send', reply)
        for (const { message_id, additional_params } of reply.status === 200 ? reply.json.delivery_results : [])
          if (additional_params.device_id) seen.push([message_id, additional_params.device_id])
      },
      async () => {
        const id = `s-${pick(phones)}`
        await put(project, { id, platform: 'IOS', push_token: `${id}-token` })
        count('link', await link(project, id, `u${pick(users)}`))
      },
      async () => {
        count('delete', await project.call('DELETE', `/api/v1/users/u${pick(users)}`))
      },
      async () => {
        const [message_id, device_id] = seen[pick(seen.length)] ?? [null, 's-0']
        const name = ['PUSH_NOTIFICATION_RECEIVED', 'PUSH_NOTIFICATION_TAPPED'][pick(2)]
        const event = { device_id, name, event_property: { message_id } }
        const events = [event, event]
        count('event', await asApp(project, 'POST', '/events', { events }))
      }
    ]
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let n = 0; n < 40; n += 1) await steps[[0, 0, 1, 1, 2, 3][pick(6)]!]!()
      })
    )
    const wrong = [...statuses.keys()].filter((key) => !/ 200$|^(event|link) 404$/.test(key))
    assert.deepEqual(wrong, [])
    const open = () =>
      service.sql(`select 1 from messages where project_id = $1 and state in ('queued', 'handed', 'unknown')`, [
        project.id
      ])
    await eventually(async () => assert.deepEqual(await open(), []), 50_000)
    const told = await service.sql('select message_id, device_id, kind from told')
    for (const kind of ['state', 'delivered', 'tapped']) {
      const keys = told.filter((row) => row.kind === kind).map((row) => row.message_id + row.device_id)
      // Chance decides whether a report meets a message that still exists.
      if (kind === 'state') assert.ok(keys.length > 0)
      assert.equal(new Set(keys).size, keys.length, `${kind} is told once`)
    }
    const known = new Set(told.filter((row) => row.kind === 'state').map((row) => row.message_id + row.device_id))
    const settled = await service.sql(
      `select message_id, device_id from messages where project_id = $1 and gateway is not null`,
      [project.id]
    )
    for (const { message_id, device_id } of settled) assert.ok(known.has(message_id + device_id), 'each end was told')
    const orphans = await service.sql(
      `select 1 from messages m where m.project_id = $1 and m.user_id is not null
          and not exists (select 1 from users u where u.project_id = $1 and u.id = m.user_id)`,
      [project.id]
    )
    assert.deepEqual(orphans, [])
  })
})
