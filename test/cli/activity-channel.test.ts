import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/service.ts'
import { startService } from './service.ts'

test('broadcast channels of Live Activities are used from the command line', async (t) => {
  const { tidings } = await startService(t)
  const channel = (...args: string[]) => tidings('activity-channel', ...args)

  const none = await channel('list')
  assert.match(none.stdout, /^No channels yet\./)
  const made = await channel('create', 'DeliveryActivityAttributes')
  assert.equal(made.code, 0, made.stderr)
  const [, id] = /^Channel +(\S{36})\nApple's id +\S{24}\nType +DeliveryActivityAttributes\n/.exec(made.stdout)!
  assert.match((await channel('list')).stdout, new RegExp(`^${id} +Delivery.* +most_recent +active$`, 'm'))

  const updated = await channel(
    'update',
    id!,
    'home=1',
    '--string',
    'by=7',
    '--alert-title',
    'Goal',
    '--alert-body',
    '1:0'
  )
  assert.equal(updated.code, 0, updated.stderr)
  assert.match(updated.stdout, /^Message +\S{36}\nStatus +succeed$/m)
  assert.match((await channel('show', id!)).stdout, /^State +\{"home":1,"by":"7"\}\nLast change +update, succeed$/m)
  const ended = await channel('end', id!, 'home=2', '--dismissal-date', '1', '--json')
  assert.equal(ended.json<{ status: string }>().status, 'DELIVERY_RESULT_STATUS_SUCCEED')
  await eventually(async () => {
    const [end, update] = (await tidings('inbox', '--json')).json<{ items: { request: { payload: object } }[] }>().items
    assert.match(JSON.stringify(update?.request.payload), /"home":1,"by":"7"\},"alert":\{"title":"Goal","body":"1:0"\}/)
    assert.match(JSON.stringify(end?.request.payload), /"event":"end".*"dismissal-date":1/)
  })

  assert.equal((await channel('update', id!, '--alert-title', 'Goal')).code, 2)
  assert.equal((await channel('delete', id!)).stdout, `Deleted the channel ${id}.\n`)
  const absent = await channel('delete', id!)
  assert.equal(absent.code, 3)
  assert.match(absent.stderr, /^Channel ".*" does not exist\. List channels with `tidings activity-channel list`\.$/m)
})
