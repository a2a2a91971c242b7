import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { failed, givenUser, pending, read, results, succeed, to } from '../support/messages.ts'
import { accepted, lost, rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
/** Another project, whose gateway is full for a while. */
const full = scriptedSender()
const crowded = await startService({}, { sender: full })

const settled = (project: TestProject, messageId: string, status: string): Promise<Json> =>
  eventually(async () => {
    const { json } = await read(project, messageId)
    assert.equal(json.status, status)
    return json
  }, 30_000)

/** One id for all repeats, by which a phone recognises them. */
const identities = (device: string) => new Set(sender.to(device).map(({ pushId, collapseId }) => pushId + collapseId))

// The tests wait for the deadline of a request together.
describe('sending', { concurrency: true }, () => {
  describe('a message that no gateway accepts at once', { concurrency: true }, () => {
    it('is repeated within the request, as the same push', async () => {
      const project = await service.project()
      await givenUser(project, 'a', 'a-1')
      sender.script('a-1', retry('GATEWAY_UNAVAILABLE'), retry('GATEWAY_UNAVAILABLE'), accepted())
      const [result] = await results(project, [to('a')])
      assert.equal(result.status, succeed)
      assert.equal(result.additional_params.failure_reason, '')
      assert.equal(sender.to('a-1').length, 3)
      assert.equal(identities('a-1').size, 1)
      assert.equal((await read(project, result.message_id)).json.devices[0].attempts, 3)
    })

    it('whose response was lost is repeated under the same collapse id', async () => {
      const project = await service.project()
      await givenUser(project, 'b', 'b-1')
      sender.script('b-1', lost(), accepted())
      const [result] = await results(project, [to('b')])
      assert.equal(result.status, succeed)
      assert.equal(sender.to('b-1').length, 2)
      assert.equal(identities('b-1').size, 1)
    })

    it('fails when its response is lost three times', async () => {
      const project = await service.project()
      await givenUser(project, 'c', 'c-1')
      sender.script('c-1', lost('GATEWAY_TIMEOUT'))
      const [result] = await results(project, [to('c')])
      assert.equal(result.status, failed)
      assert.equal(result.additional_params.failure_reason, '[GATEWAY_TIMEOUT] Lost: GATEWAY_TIMEOUT.')
      assert.equal(sender.to('c-1').length, 3)
    })

    it('is not charged for repeats that cost no attempt', async () => {
      const project = await service.project()
      await givenUser(project, 'd', 'd-1')
      const free = retry('GATEWAY_UNAVAILABLE', { free: true })
      sender.script('d-1', free, free, free, free, free, free, free, accepted())
      const [result] = await results(project, [to('d')])
      assert.equal(result.status, succeed)
      assert.equal((await read(project, result.message_id)).json.devices[0].attempts, 1)
    })

    it('expires when its time to live ends before the retry', async () => {
      const project = await service.project()
      await givenUser(project, 'e', 'e-1')
      sender.script('e-1', retry('PROJECT_RATE_LIMITED', { notBefore: Date.now() + 60_000 }))
      const [result] = await results(project, [to('e', { ttl_seconds: 20 })])
      assert.equal(result.status, failed)
      assert.equal(
        result.additional_params.failure_reason,
        '[EXPIRED] Its time to live was over before it could be handed over.'
      )
    })

    it('is pending when its retry lies behind the deadline, and is settled later', async () => {
      const project = await service.project()
      await givenUser(project, 'f', 'f-1')
      sender.script('f-1', retry('PROJECT_RATE_LIMITED', { notBefore: Date.now() + 11_500 }), accepted())
      const [result] = await results(project, [to('f')])
      assert.equal(result.status, pending)
      assert.deepEqual(result.additional_params, { device_id: 'f-1', gateway_message_id: '', failure_reason: '' })
      const { json } = await project.call('GET', '/api/v1/messages?status=PENDING')
      assert.deepEqual(
        json.items.map((item: Json) => [item.message_id, item.state]),
        [[result.message_id, 'queued']]
      )
      const shown = await settled(project, result.message_id, succeed)
      assert.match(shown.additional_params.gateway_message_id, /^gateway-/)
      assert.equal(sender.to('f-1').length, 2)
      assert.equal(identities('f-1').size, 1)
    })

    it('is pending when no gateway responds within 10 s, and a late response settles it without a repeat', async () => {
      const project = await service.project()
      await givenUser(project, 'g', 'g-1', 'g-2')
      const { promise, resolve } = Promise.withResolvers<ReturnType<typeof accepted>>()
      sender.script('g-1', promise)
      sender.script('g-2', rejected('TOKEN_INVALID'))
      const [result] = await results(project, [to('g')], '?expand=devices')
      assert.equal(result.status, pending)
      assert.equal(result.additional_params.device_id, 'g-1')
      assert.deepEqual(
        result.additional_params.devices.map(({ status }: Json) => status),
        [failed, pending]
      )
      resolve(accepted())
      await settled(project, result.message_id, succeed)
      assert.equal(sender.to('g-1').length, 1)
    })

    it('of a dead process is found, and repeated as the same push', async () => {
      const project = await service.project()
      await givenUser(project, 'h', 'h-1')
      const [result] = await results(project, [to('h')])
      // The state after kill -9.
      await service.sql(
        `update messages set state = 'handed', settled_at = null, attempts = 0, gateway_message_id = null,
                due_at = now() - interval '1 minute', owner = $2 where project_id = $1`,
        [project.id, randomUUID()]
      )
      await eventually(async () => {
        const { status } = (await read(project, result.message_id)).json
        assert.equal(status, succeed)
        assert.equal(sender.to('h-1').length, 2)
      }, 15_000)
      assert.equal(identities('h-1').size, 1)
    })

    it('that this process follows is not repeated, however late the response and whatever its time', async () => {
      const project = await service.project()
      await givenUser(project, 'h', 'h-2')
      const { promise, resolve } = Promise.withResolvers<ReturnType<typeof accepted>>()
      sender.script('h-2', promise)
      const sending = results(project, [to('h')])
      await eventually(() => assert.equal(sender.to('h-2').length, 1))
      await service.sql(`update messages set due_at = now() - interval '1 minute' where project_id = $1`, [project.id])
      for (let turn = 0; turn < 3; turn += 1) {
        await service.hurry('delivery.find_lost')
        await service.app.idle()
      }
      resolve(accepted())
      const [result] = await sending
      assert.equal(result.status, succeed)
      assert.equal(sender.to('h-2').length, 1)
    })

    it('goes to the token that the phone has by then, and fails if the token was turned off', async () => {
      const project = await service.project()
      await givenUser(project, 'i', 'i-1', 'i-2')
      for (const device of ['i-1', 'i-2'])
        sender.script(device, retry('PROJECT_RATE_LIMITED', { notBefore: Date.now() + 11_000 }), accepted())
      const [result] = await results(project, [to('i')])
      assert.equal(result.status, pending)
      await givenUser(project, 'i', { id: 'i-1', push_token: 'new' }, { id: 'i-2', is_push_permission_granted: false })
      const shown = await settled(project, result.message_id, succeed)
      assert.deepEqual(
        sender.to('i-1').map(({ token }) => token),
        ['i-1-token', 'new']
      )
      await eventually(async () => {
        const { devices } = (await read(project, shown.message_id)).json
        const off = devices.find(({ device_id }: Json) => device_id === 'i-2')
        assert.match(off.failure_reason, /^\[NO_PUSH_TOKEN\]/)
      })
      assert.equal(sender.to('i-2').length, 1)
    })

    it('does not go to a phone whose user has logged out, and goes with one who has logged in', async () => {
      const project = await service.project()
      await givenUser(project, 'ana', 'out-1', 'out-2')
      const user = (device: string) => `/api/v1/devices/${device}/user/project-user-id`
      await project.call('DELETE', user('out-2'))
      for (const device of ['out-1', 'out-2'])
        sender.script(device, retry('PROJECT_RATE_LIMITED', { notBefore: Date.now() + 11_000 }), accepted())
      const [left, entered] = await results(project, [to('ana'), { target: { device_id: 'out-2' }, title: 'Hello' }])
      assert.deepEqual([left.status, entered.status], [pending, pending])
      await project.call('DELETE', user('out-1'))
      await project.call('POST', user('out-2'), { json: { project_user_id: 'bob' } })
      await settled(project, entered.message_id, succeed)
      const { additional_params } = await settled(project, left.message_id, failed)
      assert.match(additional_params.failure_reason, /^\[NO_DEVICE\]/)
      assert.deepEqual([sender.to('out-1').length, sender.to('out-2').length], [1, 2])
    })
  })

  describe('a gateway without room', () => {
    it('makes items wait, and those that found no room in time are retried later', async () => {
      const project = await crowded.project()
      const devices = Array.from({ length: 1_000 }, (_, n) => ({ id: `j-${n}`, platform: 'IOS', push_token: `${n}` }))
      await project.call('POST', '/api/v1/devices', { json: { devices } })
      full.shut()
      const found = await results(
        project,
        devices.map(({ id }) => ({ target: { device_id: id }, title: 'a' }))
      )
      assert.ok(found.every(({ status }) => status === pending))
      full.open()
      await eventually(async () => {
        const [{ n }] = await crowded.sql(
          `select count(*)::int as n from messages where project_id = $1 and state = 'accepted'`,
          [project.id]
        )
        assert.equal(n, 1_000)
      }, 30_000)
      assert.equal(new Set(full.pushes.map(({ deviceId }) => deviceId).filter((id) => id.startsWith('j-'))).size, 1_000)
      assert.equal(full.pushes.filter(({ deviceId }) => deviceId.startsWith('j-')).length, 1_000, 'each once')
    })
  })
})
