import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from './service.ts'

test('webhooks are managed from the command line', async (t) => {
  const { tidings } = await startService(t)
  const url = 'https://hook.invalid/tidings'

  const created = await tidings('webhook', 'create', url, '--events', 'message.failed, trigger.completed', '--json')
  assert.equal(created.code, 0, created.stderr)
  const { id, secret, events } = created.json<{ id: string; secret: string; events: string[] }>()
  assert.match(secret, /^whsec_/)
  assert.deepEqual(events, ['message.failed', 'trigger.completed'])

  const listed = await tidings('webhook', 'list')
  assert.match(listed.stdout, new RegExp(`^${id} +yes +${url} +message.failed, trigger.completed +-$`, 'm'))
  assert.doesNotMatch(listed.stdout, /whsec_/)

  const updated = await tidings('webhook', 'update', id, '--active', 'no', '--to', `${url}/2`)
  assert.deepEqual([updated.code, updated.stderr], [0, ''])
  assert.match((await tidings('webhook', 'list')).stdout, new RegExp(`^${id} +no +${url}/2 `, 'm'))

  const nothing = await tidings('webhook', 'update', id)
  assert.deepEqual(
    [nothing.code, nothing.stderr],
    [2, 'Nothing to change: give --to, --events, --active or --description.\n']
  )

  const rotated = await tidings('webhook', 'rotate-secret', id, '--json')
  assert.match(rotated.json<{ secret: string }>().secret, /^whsec_/)
  assert.match((await tidings('webhook', 'rotate-secret', id)).stderr, /signed with the old one too for 24h/)
  const leaked = await tidings('webhook', 'rotate-secret', id, '--overlap', '0s')
  assert.match(leaked.stdout, /^Secret +whsec_/)
  assert.match(leaked.stderr, /signed with this one only/)
  assert.match((await tidings('webhook', 'rotate-secret', id, '--overlap', 'soon')).stderr, /must be a duration/)

  assert.match((await tidings('webhook', 'deliveries', '--state', 'failed')).stdout, /^No deliveries match\.$/m)
  assert.equal((await tidings('webhook', 'replay', id)).code, 3)
  assert.equal((await tidings('webhook', 'replay')).code, 2)
  assert.equal((await tidings('webhook', 'replay', '--failed')).stdout, '0 deliveries are repeated.\n')
  const tried = (await tidings('webhook', 'test', id, '--json')).json<{ delivery_id: string }>()
  const list = ['webhook', 'deliveries', '--webhook', id, '--since', '1h']
  assert.match((await tidings(...list)).stdout, new RegExp(`^${tried.delivery_id} +failed +outcome `, 'm'))
  const shown = (await tidings('webhook', 'delivery', tried.delivery_id)).stdout
  assert.match(shown, /^Body +\{.*"webhook\.test"/m)
  assert.match(shown, /^Attempt \S+ +no response, \d+ ms, /m)
  assert.equal((await tidings('webhook', 'replay', '--failed', '--webhook', id)).stdout, '1 delivery is repeated.\n')
  assert.equal((await tidings('webhook', 'deliveries', '--since', 'yesterday')).code, 2)
  assert.equal((await tidings('webhook', 'test', tried.delivery_id)).code, 3)
  const refused = await tidings('webhook', 'create', 'http://10.0.0.1/', '--events', 'message.failed')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /WEBHOOK_ALLOW_PRIVATE/)
  assert.equal((await tidings('webhook', 'create', url, '--events', ',')).code, 2)

  assert.equal((await tidings('webhook', 'delete', id)).code, 0)
  assert.match((await tidings('webhook', 'list')).stdout, /^No webhooks yet\. /m)
})
