import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from './service.ts'

interface Preferences {
  opted_out: boolean
  topics: Record<string, boolean>
}

test('topics, preferences and rules over all campaigns are managed from the command line', async (t) => {
  const { tidings } = await startService(t)

  await t.test('topics are applied, listed and deleted', async () => {
    const offers = await tidings('topic', 'apply', 'offers', '--name', 'Offers', '--description', 'Sales')
    assert.equal(offers.code, 0, offers.stderr)
    assert.match(offers.stdout, /^Default +subscribed$/m)
    await tidings('topic', 'apply', 'digest', '--name', 'Digest', '--default', 'unsubscribed')
    const { stdout } = await tidings('topic', 'list')
    assert.match(stdout, /^digest +Digest +unsubscribed/m)
    assert.equal((await tidings('topic', 'delete', 'digest')).stdout, 'Deleted the topic digest.\n')
    assert.equal((await tidings('topic', 'delete', 'digest')).code, 3)
    assert.equal((await tidings('topic', 'apply', 'Offers', '--name', 'x')).code, 1)
  })

  await t.test('preferences are shown and changed', async () => {
    await tidings('user', 'set', 'ana')
    const no = await tidings('user', 'preferences', 'ana', '--topic', 'offers=no', '--opt-out', '--json')
    assert.deepEqual(no.json<Preferences>(), { opted_out: true, topics: { offers: false } })
    const { stdout } = await tidings('user', 'preferences', 'ana')
    assert.match(stdout, /^Opted out +yes/m)
    assert.match(stdout, /^offers +no$/m)
    const back = await tidings('user', 'preferences', 'ana', '--topic', 'offers=default', '--opt-in', '--json')
    assert.deepEqual(back.json<Preferences>(), { opted_out: false, topics: { offers: true } })
    const evidence = ['--source', 'checkout', '--text', '2026-03', '--at', '2026-11-01T09:30:00Z']
    await tidings('user', 'preferences', 'ana', '--topic', 'offers=yes', ...evidence)
    const consents = (await tidings('user', 'consents', 'ana')).stdout
    assert.match(consents, /^offers +yes +.*2026.* +checkout +2026-03 +token /m)
    assert.match(consents, /^offers +no /m)
    assert.equal((await tidings('user', 'preferences', 'ana', ...evidence)).code, 2)
    assert.equal((await tidings('user', 'preferences', 'nobody')).code, 3)
    assert.equal((await tidings('user', 'preferences', 'ana', '--topic', 'offers')).code, 2)
    assert.equal((await tidings('user', 'preferences', 'ana', '--opt-in', '--opt-out')).code, 2)
  })

  await t.test('a project has limits, quiet hours and identity verification', async () => {
    const update = (...options: string[]) => tidings('project', 'update', ...options)
    const limits = ['--message-limit', '3/24h', '--message-limit', '1/7d/offers']
    const set = await update(...limits, '--quiet-hours', '22:00-08:00', '--quiet-action', 'skip')
    assert.equal(set.code, 0, set.stderr)
    assert.match(set.stdout, /^Messages to a user +3 in 24h, 1 in 7d of offers$/m)
    assert.match(set.stdout, /^Quiet hours +22:00 to 08:00 \(device\), skip$/m)
    const none = await update('--message-limit', 'none', '--quiet-hours', 'none')
    assert.match(none.stdout, /^Messages to a user +no limit$/m)
    assert.equal((await update('--quiet-action', 'skip', '--name', 'x')).code, 2)
    assert.equal((await update('--message-limit', '3')).code, 2)
    assert.equal((await update('--identity-verification', 'on')).code, 1)
    const { secret } = (await tidings('project', 'identity-secret', '--json')).json<{ secret: string }>()
    assert.match(secret, /^svc_is_/)
    assert.match((await update('--identity-verification', 'on')).stdout, /^Identity of users +verified$/m)
  })
})
