import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from './service.ts'

test('members and sessions are managed from the command line', async (t) => {
  const { tidings, url } = await startService(t)
  const post = async (path: string, json: unknown) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(json)
    })

  await t.test('a person is invited, listed, given another role and removed', async () => {
    const invited = await tidings('member', 'invite', 'ada@example.com', '--role', 'editor', '--project', 'demo')
    assert.equal(invited.code, 0, invited.stderr)
    const code = /^Link +http\S+\/console\/#invitation=(\S+)$/m.exec(invited.stdout)?.[1]
    assert.ok(code, invited.stdout)
    assert.match(invited.stderr, /works once/)
    const accepted = await post('/console/link:accept', { code, name: 'Ada', password: 'twelve or more' })
    assert.equal(accepted.status, 200)

    const listed = await tidings('member', 'list')
    assert.match(listed.stdout, /^\S+ +ada@example.com +Ada +editor +demo +active/m)
    const changed = await tidings('member', 'role', 'Ada@example.com', 'viewer', '-p', 'demo')
    assert.match(changed.stdout, /^ada@example.com is now viewer of demo\.$/m)

    const sessions = await tidings('session', 'list', '--all')
    const id = /^(\S+) +ada@example.com +link/m.exec(sessions.stdout)?.[1]
    assert.ok(id, sessions.stdout)
    assert.match((await tidings('session', 'end', id)).stdout, /^Ended the session/)
    assert.equal((await tidings('session', 'end', id)).code, 3)

    const reset = await tidings('member', 'reset', 'ada@example.com', '--json')
    const { path } = reset.json<{ path: string }>()
    const again = { code: path.slice(path.indexOf('=') + 1), password: 'another twelve' }
    assert.equal((await post('/console/link:accept', again)).status, 200)
    const { items } = (await tidings('member', 'list', '--json')).json<{ items: { id: string }[] }>()
    assert.match((await tidings('session', 'end', '--member', items[0]!.id)).stdout, /^Ended 1 session\.$/m)

    assert.match((await tidings('member', 'remove', 'ada@example.com')).stdout, /^Removed/)
    assert.match((await tidings('member', 'list')).stdout, /^No members yet/)
  })

  await t.test('a role needs a scope, a member must exist, and ending needs to know what', async () => {
    assert.equal((await tidings('member', 'invite', 'x@example.com', '--role', 'viewer')).code, 2)
    assert.equal((await tidings('member', 'remove', 'nobody@example.com')).code, 3)
    assert.equal((await tidings('session', 'end')).code, 2)
    assert.match((await tidings('session', 'end', '--all')).stdout, /^Ended 0 sessions\.$/m)
  })
})
