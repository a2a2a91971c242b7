import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../support/http.ts'
import { startService } from './service.ts'

test('skills of agents are called from the command line', async (t) => {
  const { tidings } = await startService(t)
  const agent = (...args: string[]) => tidings('agent', ...args)

  await t.test('each field of a skill is an option, and the result is printed', async () => {
    const made = await agent('create-user', '--project-user-id', 'ana', '--properties', '{"plan":"premium","age":31}')
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /^task +[0-9a-f-]{36}\nstate +completed\n\nuserId +[0-9a-f-]{36}\nprojectUserId +ana\n$/)
    const found = await agent('find-user', '--property', 'age', '--value', '31')
    assert.match(found.stdout, /^complete +true\n\nusers\nUSERID +PROJECTUSERID .*\n[0-9a-f-]{36} +ana /m)
    const none = await agent('find-user', '--property', 'age', '--value', '"31"')
    assert.match(none.stdout, /^users: none$/m)
    const listed = await agent('list-campaigns', '--page-size', '1', '--json')
    const task = listed.json<Json>()
    assert.deepEqual([task.status.state, task.artifacts[0].parts[0].data.campaigns.length], ['completed', 1])
  })

  await t.test('a flag and a list are given as they are', async () => {
    const preview = await agent('preview-campaign', '--campaign-id', 'welcome', '--broadcast', '--json')
    assert.equal(preview.json<Json>().artifacts[0].parts[0].data.broadcast, true)
    const named = await agent('preview-campaign', '--campaign-id', 'welcome', '--targets', '[{"projectUserId":"ana"}]')
    assert.match(named.stdout, /^broadcast +false$/m)
  })

  await t.test('a refusal and a question end with 1 and are printed', async () => {
    const ghost = await agent('find-user', '--project-user-id', 'ghost')
    assert.equal(ghost.code, 1)
    assert.match(ghost.stdout, /^state +rejected\nmessage +No user has this projectUserId\.$/m)
    const asked = await agent('find-user')
    assert.equal(asked.code, 1)
    assert.match(asked.stdout, /^state +input-required\nmessage +Send the missing field: projectUserId or property\.$/m)
  })

  await t.test('a line that cannot be understood is wrong usage', async () => {
    for (const args of [
      ['create-user'],
      ['create-user', '--project-user-id', 'ana', '--properties', 'plan'],
      ['list-campaigns', '--page-size', '1000'],
      ['list-campaigns', '--nothing', '1'],
      ['make-coffee']
    ])
      assert.equal((await agent(...args)).code, 2, args.join(' '))
  })

  await t.test('a command with an idempotency key is done once', async () => {
    const twice = () =>
      agent('track-event', '--event-name', 'seen', '--project-user-id', 'ana', '--idempotency-key', 'k', '--json')
    const [first, second] = [(await twice()).json<Json>(), (await twice()).json<Json>()]
    assert.equal(first.id, second.id)
  })
})
