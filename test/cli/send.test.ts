import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/service.ts'
import { startService } from './service.ts'

test('pushes are sent and inspected from the command line', async (t) => {
  const { tidings, url, credentials } = await startService(t)

  await t.test('send prints the status on each device', async () => {
    const sent = await tidings('send', '--user', 'demo-user', '--title', 'Hi', '--body', 'It works.')
    assert.equal(sent.code, 0, sent.stderr)
    assert.match(sent.stdout, /^Message +[0-9a-f-]{36}\nStatus +succeed\n\nDEVICE +STATUS +REASON\n/)
    for (const device of ['demo-iphone', 'demo-android', 'demo-browser'])
      assert.match(sent.stdout, new RegExp(`^${device} +succeed +-$`, 'm'))
    const one = await tidings('send', '--device', 'demo-iphone', '--title', 'Hi', '--ttl', '60', '--json')
    assert.equal(one.json<{ status: string }>().status, 'DELIVERY_RESULT_STATUS_SUCCEED')
  })

  await t.test('a push that failed on all devices ends with 1 and the reason', async () => {
    await tidings('device', 'add', 'ios', '--user', 'bo', '--id', 'bo-phone', '--fault', '410')
    const dead = await tidings('send', '--user', 'bo', '--title', 'Hi')
    assert.equal(dead.code, 1)
    assert.match(dead.stdout, /^bo-phone +failed +\[\w+\] /m)
    const nobody = await tidings('send', '--user', 'nobody', '--body', 'Hi')
    assert.equal(nobody.code, 1)
    assert.match(nobody.stdout, /^Status +failed\nReason +\[\w+\] /m)
  })

  await t.test('a pending push names the command that shows its outcome', async () => {
    await tidings('project', 'pause')
    const waits = await tidings('send', '--user', 'demo-user', '--title', 'Later')
    await tidings('project', 'resume')
    assert.equal(waits.code, 0)
    assert.match(waits.stdout, /^Status +pending$/m)
    const [, advice] = /project is paused.*`tidings (message get \S{36})`/.exec(waits.stderr)!
    assert.equal((await tidings(...advice!.split(' '))).code, 0)
  })

  await t.test('a push for later is canceled once, and one that was sent is not', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const waits = await tidings('send', '--user', 'demo-user', '--title', 'Later', '--at', at)
    assert.equal(waits.code, 0, waits.stderr)
    const [, advice] = /^Waits until \S+Z\. `tidings (message cancel \S{36})` cancels it\.$/m.exec(waits.stderr)!
    const canceled = await tidings(...advice!.split(' '))
    assert.equal(canceled.code, 0, canceled.stderr)
    assert.match(canceled.stdout, /^Canceled the message\.\n\nMessage +\S{36}\nStatus +failed$/m)
    assert.match(canceled.stdout, /^demo-iphone +demo-user +skipped .*\[CANCELED\]/m)
    const again = await tidings(...advice!.split(' '), '--json')
    assert.equal(again.code, 1)
    assert.equal(JSON.parse(again.stderr).code, 'conflict')
    const sent = await tidings('send', '--user', 'demo-user', '--title', 'Hi', '--json')
    const { message_id } = sent.json<{ message_id: string }>()
    assert.match((await tidings('message', 'cancel', message_id)).stderr, /was given to a gateway, or has ended/)
    assert.equal((await tidings('message', 'cancel', '0199c0de-0000-7000-8000-000000000001')).code, 3)
  })

  await t.test('send without a target, with two, or without text is refused', async () => {
    for (const args of [
      ['--title', 'Hi'],
      ['--user', 'ana', '--device', 'x', '--title', 'Hi'],
      ['--user', 'ana'],
      ['--user', 'ana', '--title', 'Hi', '--ttl', '0'],
      ['--user', 'ana', '--title', 'Hi', '--priority', 'urgent']
    ])
      assert.equal((await tidings('send', ...args)).code, 2, args.join(' '))
  })

  await t.test('send with an idempotency key sends once', async () => {
    const again = () => tidings('send', '--user', 'demo-user', '--title', 'Once', '--idempotency-key', 'k1', '--json')
    assert.equal((await again()).stdout, (await again()).stdout)
    const { items } = (await tidings('message', 'list', '--user', 'demo-user', '--json')).json<{
      items: { title: string }[]
    }>()
    assert.equal(items.filter(({ title }) => title === 'Once').length, 3)
  })

  await t.test('messages are listed by user, device and status, and shown', async () => {
    const listed = await tidings('message', 'list', '--device', 'demo-iphone')
    assert.match(listed.stdout, /^MESSAGE +USER +DEVICE +STATE +TITLE +CREATED +REASON$/m)
    assert.match(listed.stdout, /^\S{36} +demo-user +demo-iphone +accepted +Hi +2\S+Z +-$/m)
    const failed = await tidings('message', 'list', '--status', 'failed')
    assert.match(failed.stdout, /^(\S{36}) +bo +bo-phone +failed +Hi +2\S+Z +[A-Z_]+$/m)
    const [id] = /^\S{36}(?= +bo )/m.exec(failed.stdout)!
    const shown = await tidings('message', 'get', id!)
    assert.match(shown.stdout, /^Status +failed$/m)
    assert.match(shown.stdout, /^DEVICE +USER +STATE +ATTEMPTS +DELIVERED +TAPPED +REASON$/m)
    assert.match(shown.stdout, /^bo-phone +bo +failed +1 +never +never +\[\w+\] \w/m)
    assert.equal((await tidings('message', 'get', '0199c0de-0000-7000-8000-000000000001')).code, 3)
    assert.equal((await tidings('message', 'list', '--user', 'stranger')).stdout, 'No messages match.\n')
    assert.match((await tidings('message', 'list', '--since', '1h')).stdout, /demo-iphone/)
    assert.equal((await tidings('message', 'list', '--before', '1h')).stdout, 'No messages match.\n')
  })

  await t.test('events are listed by user and name', async () => {
    const headers = {
      'x-service-project-id': credentials.project_id,
      'x-service-api-key': credentials.secret_key,
      'content-type': 'application/json'
    }
    const event = { device_id: 'demo-iphone', name: 'order_completed', properties: { amount: 5 } }
    const reply = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ events: [event] })
    })
    assert.equal(reply.status, 200, await reply.text())
    await eventually(async () => {
      const listed = await tidings('event', 'list', '--user', 'demo-user', '--name', 'order_completed')
      assert.match(listed.stdout, /^AT +USER +DEVICE +NAME +PROPERTIES$/m)
      assert.match(listed.stdout, /^2\S+Z +demo-user +\S+ +order_completed +\{"amount":5\}$/m)
    })
    assert.equal((await tidings('event', 'list', '--name', 'none')).stdout, 'No events match.\n')
    assert.equal((await tidings('event', 'list', '--user', 'stranger')).code, 3)
  })
})
