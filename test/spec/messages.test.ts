import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../support/http.ts'
import { failed, givenUser, read, results, send, succeed, to } from '../support/messages.ts'
import { rejected, scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

describe('POST /api/v1/messages:send does it', () => {
  it('returns one result for each item, in order, with the ids of device and gateway', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'ana-1')
    await givenUser(project, 'bo', 'bo-1')
    const items = [
      to('bo', { body: 'Body', image_url: 'https://example.com/a.png', landing_url: 'shop://orders/1' }),
      { target: { device_id: 'ana-1' }, body: 'Only a body' }
    ]
    const found = await results(project, items)
    assert.deepEqual(
      found.map(({ status, additional_params }) => [status, additional_params.device_id]),
      [
        [succeed, 'bo-1'],
        [succeed, 'ana-1']
      ]
    )
    for (const { message_id, additional_params } of found) {
      assert.match(message_id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
      assert.deepEqual(Object.keys(additional_params).sort(), ['device_id', 'failure_reason', 'gateway_message_id'])
      assert.match(additional_params.gateway_message_id, /^gateway-/)
      assert.equal(additional_params.failure_reason, '')
    }
    const [push] = sender.to('bo-1')
    assert.equal(push!.messageId, found[0].message_id)
    assert.equal(push!.collapseId, found[0].message_id)
    assert.deepEqual([push!.gateway, push!.environment, push!.token], ['apns', 'production', 'bo-1-token'])
    assert.deepEqual(push!.content, {
      kind: 'alert',
      notification: {
        title: 'Hello',
        body: 'Body',
        imageUrl: 'https://example.com/a.png',
        landingUrl: 'shop://orders/1'
      }
    })
  })

  it('reaches all reachable devices of a user, the last seen first, and lists each on request', async () => {
    const project = await service.project()
    await givenUser(
      project,
      'cy',
      'cy-old',
      { id: 'cy-mid', platform: 'ANDROID', push_token_type: 'FCM' },
      { id: 'cy-new', push_environment: 'sandbox', app_identifier: 'com.example.app' },
      { id: 'cy-off', is_push_permission_granted: false },
      { id: 'cy-bare', push_token: null }
    )
    const [result] = await results(project, [to('cy')], '?expand=devices')
    const { devices, ...first } = result.additional_params
    assert.deepEqual(
      devices.map(({ device_id, status }: Json) => [device_id, status]),
      [
        ['cy-new', succeed],
        ['cy-mid', succeed],
        ['cy-old', succeed]
      ]
    )
    assert.equal(first.device_id, 'cy-new')
    assert.equal(first.gateway_message_id, devices[0].gateway_message_id)
    const [push] = sender.to('cy-new')
    assert.deepEqual([push!.environment, push!.app], ['sandbox', 'com.example.app'])
    assert.equal(sender.to('cy-mid')[0]!.gateway, 'fcm')
    assert.deepEqual([sender.to('cy-off'), sender.to('cy-bare')], [[], []])
  })

  it('succeeds if one device got it, with the first that did; otherwise fails with the reason that a caller can mend', async () => {
    const project = await service.project()
    await givenUser(project, 'di', 'di-1', 'di-2', 'di-3')
    sender.script('di-3', rejected('TOKEN_INVALID'))
    const [one] = await results(project, [to('di')], '?expand=devices')
    assert.equal(one.status, succeed)
    assert.equal(one.additional_params.device_id, 'di-2')
    assert.equal(one.additional_params.failure_reason, '')
    assert.equal(one.additional_params.devices[0].failure_reason, '[TOKEN_INVALID] Refused: TOKEN_INVALID.')
    sender.script('di-1', rejected('TOKEN_UNREGISTERED'))
    sender.script('di-2', rejected('CREDENTIALS_INVALID'))
    const [none] = await results(project, [to('di')], '?expand=devices')
    assert.equal(none.status, failed)
    assert.deepEqual(
      { ...none.additional_params, devices: none.additional_params.devices.length },
      {
        device_id: 'di-2',
        gateway_message_id: '',
        failure_reason: '[CREDENTIALS_INVALID] Refused: CREDENTIALS_INVALID.',
        devices: 3,
        simulated: false
      }
    )
  })

  it('responds with 200 and the reason where no device can be reached, and keeps that result too', async () => {
    const project = await service.project()
    await givenUser(project, 'lonely')
    await givenUser(
      project,
      'deaf',
      { id: 'deaf-1', is_push_permission_granted: false },
      { id: 'deaf-2', push_token: '' }
    )
    const found = await results(project, [
      to('nobody'),
      to('lonely'),
      to('deaf'),
      { target: { device_id: 'no-such' }, title: 'a' },
      { target: { device_id: 'deaf-1' }, title: 'a' },
      { target: { user_id: '0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17' }, title: 'a' },
      { target: { user_id: 'no uuid' }, title: 'a' }
    ])
    const why = found.map(({ status, additional_params: { device_id, gateway_message_id, failure_reason } }) => {
      assert.deepEqual([status, gateway_message_id], [failed, ''])
      return [failure_reason.replace(/ .*/, ''), device_id]
    })
    assert.deepEqual(why, [
      ['[USER_NOT_FOUND]', ''],
      ['[NO_DEVICE]', ''],
      ['[NO_PUSH_TOKEN]', ''],
      ['[NO_DEVICE]', ''],
      ['[NO_PUSH_TOKEN]', 'deaf-1'],
      ['[USER_NOT_FOUND]', ''],
      ['[USER_NOT_FOUND]', '']
    ])
    assert.equal(found[0].additional_params.failure_reason, '[USER_NOT_FOUND] No user of this id is in the project.')
    for (const { message_id } of found) {
      const reply = await read(project, message_id)
      assert.equal(reply.status, 200)
      assert.equal(reply.json.status, failed)
      assert.equal(reply.json.devices.length, 1)
    }
  })

  it('takes user_id for a user, anonymous ones too', async () => {
    const project = await service.project()
    await givenUser(project, 'eve', 'eve-1')
    const shown = (await service.manage('GET', `/projects/${project.id}/devices/eve-1`)).json
    const [result] = await results(project, [{ target: { user_id: shown.user_id.toUpperCase() }, title: 'a' }])
    assert.deepEqual([result.status, result.additional_params.device_id], [succeed, 'eve-1'])
  })

  it('carries the additive fields, and the collapse key under which repeats replace each other', async () => {
    const project = await service.project()
    await givenUser(project, 'flo', 'flo-1')
    const before = Date.now()
    const more = {
      collapse_key: 'score',
      ttl_seconds: 3600,
      priority: 'normal',
      data: { a: '1', ['__proto__']: 'x', constructor: 'y' },
      sound: 'ping',
      badge: 3,
      channel_id: 'news',
      thread_id: 't',
      image_url: '',
      unknown_field: [1]
    }
    await results(project, [to('flo', more), to('flo', { collapse_key: 'ä'.repeat(40) })])
    const [push, long] = sender.to('flo-1')
    assert.equal(push!.collapseId, 'score')
    assert.equal(push!.priority, 'normal')
    assert.ok(push!.notAfter >= before + 3_600_000 && push!.notAfter <= Date.now() + 3_600_000)
    assert.ok(push!.content.kind === 'alert')
    const { data, ...rest } = push!.content.notification
    assert.deepEqual(Object.entries(data!), [
      ['a', '1'],
      ['__proto__', 'x'],
      ['constructor', 'y']
    ])
    assert.deepEqual(rest, {
      title: 'Hello',
      sound: 'ping',
      badge: 3,
      channelId: 'news',
      threadId: 't',
      collapseKey: 'score'
    })
    assert.match(long!.collapseId, /^[0-9a-f]{64}$/)
  })

  it('takes 1,000 items, and returns their results in order', async () => {
    const project = await service.project()
    const devices = Array.from({ length: 1_000 }, (_, n) => ({ id: `many-${n}`, platform: 'IOS', push_token: `${n}` }))
    assert.equal((await project.call('POST', '/api/v1/devices', { json: { devices } })).status, 200)
    const found = await results(
      project,
      devices.map(({ id }) => ({ target: { device_id: id }, title: id }))
    )
    assert.deepEqual(
      found.map(({ status, additional_params }) => `${status} ${additional_params.device_id}`),
      devices.map(({ id }) => `${succeed} ${id}`)
    )
    assert.equal(new Set(found.map(({ message_id }) => message_id)).size, 1_000)
    const [{ n, open }] = await service.sql(
      'select count(*)::int as n, count(due_at)::int as open from messages where project_id = $1',
      [project.id]
    )
    assert.deepEqual([n, open], [1_000, 0])
  })

  it('sends an item that is twice in one request twice', async () => {
    const project = await service.project()
    await givenUser(project, 'gus', 'gus-1')
    const found = await results(project, [to('gus'), to('gus')])
    assert.equal(sender.to('gus-1').length, 2)
    assert.notEqual(found[0].message_id, found[1].message_id)
  })

  it('settled 5: additional_params has its three keys and no others, with ?expand=devices also devices and simulated', async () => {
    const three = ['device_id', 'failure_reason', 'gateway_message_id']
    const all = [...three, 'devices', 'simulated'].sort()
    for (const mode of ['simulator', 'live']) {
      const project = await service.project({ mode })
      await givenUser(project, 'sim', `${mode}-1`, `${mode}-2`)
      await givenUser(project, 'one', `${mode}-3`)
      const items = [to('sim'), to('one'), to('nobody')]
      const plain = await send(project, items, { headers: { 'idempotency-key': 'k' } })
      assert.equal(plain.headers['x-service-simulated'], mode === 'simulator' ? 'true' : undefined)
      for (const { additional_params, message_id } of plain.json.delivery_results) {
        assert.deepEqual(Object.keys(additional_params).sort(), three)
        for (const value of Object.values(additional_params)) assert.equal(typeof value, 'string')
        const found = (await read(project, message_id)).json
        assert.deepEqual(Object.keys(found.additional_params).sort(), three)
        for (const device of found.devices) assert.equal(device.simulated, mode === 'simulator')
      }
      const expanded = await results(project, items, '?expand=devices')
      assert.deepEqual(
        expanded.map(({ additional_params: { devices, simulated } }) => [devices.length, simulated]),
        [2, 1, 0].map((many) => [many, mode === 'simulator'])
      )
      for (const { additional_params } of expanded) assert.deepEqual(Object.keys(additional_params).sort(), all)
      const again = await project.call('POST', '/api/v1/messages:send?expand=devices', {
        json: { push_notifications: items },
        headers: { 'idempotency-key': 'k' }
      })
      assert.equal(again.headers['idempotent-replay'], 'true')
      assert.equal(again.json.delivery_results[0].additional_params.devices.length, 2)
    }
  })

  it('fails an item that is too large for every gateway, without harm to the others', async () => {
    const project = await service.project()
    await givenUser(project, 'huge', 'huge-1')
    const [large, small] = await results(project, [to('huge', { body: 'x'.repeat(500_000) }), to('huge')])
    assert.match(large.additional_params.failure_reason, /^\[PAYLOAD_TOO_LARGE\]/)
    assert.equal(small.status, succeed)
  })

  it('turns a dead token off, and on again when the app registers it', async () => {
    const project = await service.project()
    await givenUser(project, 'hal', 'hal-1')
    sender.script('hal-1', rejected('TOKEN_UNREGISTERED', new Date(Date.now() + 1000)))
    assert.match((await results(project, [to('hal')]))[0].additional_params.failure_reason, /^\[TOKEN_UNREGISTERED\]/)
    assert.match((await results(project, [to('hal')]))[0].additional_params.failure_reason, /^\[NO_PUSH_TOKEN\]/)
    assert.equal(sender.to('hal-1').length, 1)
    const shown = async () => (await service.manage('GET', `/projects/${project.id}/devices/hal-1`)).json.push
    assert.equal((await shown()).turned_off_reason, 'TOKEN_UNREGISTERED')
    sender.script('hal-1')
    await givenUser(project, 'hal', 'hal-1')
    assert.equal((await results(project, [to('hal')]))[0].status, succeed)
    assert.equal((await shown()).turned_off_at, undefined)
  })

  it('keeps a token that the app registered after the gateway says it died', async () => {
    const project = await service.project()
    await givenUser(project, 'ike', 'ike-1')
    sender.script('ike-1', rejected('TOKEN_UNREGISTERED', new Date(Date.now() - 3_600_000)))
    await results(project, [to('ike')])
    sender.script('ike-1')
    assert.equal((await results(project, [to('ike')]))[0].status, succeed)
  })
})

describe('messages keep tenants apart', () => {
  it('users, devices and messages of another project do not exist', async () => {
    const [mine, other] = [await service.project(), await service.project()]
    await givenUser(mine, 'zoe', 'zoe-1')
    const [sent] = await results(mine, [to('zoe')])
    const shown = (await service.manage('GET', `/projects/${mine.id}/devices/zoe-1`)).json
    const found = await results(other, [
      to('zoe'),
      { target: { device_id: 'zoe-1' }, title: 'a' },
      { target: { user_id: shown.user_id }, title: 'a' }
    ])
    assert.deepEqual(
      found.map(({ additional_params }) => additional_params.failure_reason.split(' ')[0]),
      ['[USER_NOT_FOUND]', '[NO_DEVICE]', '[USER_NOT_FOUND]']
    )
    assert.equal((await read(other, sent.message_id)).status, 404)
    assert.equal((await other.call('GET', '/api/v1/messages')).json.items.length, 3)
    assert.equal(sender.to('zoe-1').length, 1)
  })
})
