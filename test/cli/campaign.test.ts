import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask } from '../support/http.ts'
import { startService } from './service.ts'

const yaml = `campaign_id: greeting
name: Greeting
status: active
segment: { attribute: user.plan, operator: equals, value: premium }
message:
  title: Hello {{ user.id }}
---
campaign_id: weekly
name: Weekly
type: scheduled
message: { body: News }
`

test('campaigns are kept and triggered from the command line', async (t) => {
  const { tidings, feed, dataDir, url, credentials } = await startService(t)
  const file = join(dataDir, 'campaigns.yaml')
  await writeFile(file, yaml)

  await t.test('a file of several documents is applied, and applied again changes nothing', async () => {
    const first = await tidings('campaign', 'apply', '-f', file)
    assert.equal(first.code, 0, first.stderr)
    assert.equal(first.stdout, 'greeting created, version 1\nweekly created, version 1\n')
    assert.match(first.stderr, /weekly: .*do not run/)
    assert.equal(
      (await tidings('campaign', 'apply', '-f', file)).stdout,
      'greeting unchanged, version 1\nweekly unchanged, version 1\n'
    )
  })

  await t.test('diff tells what would change, and ends with 1 where something would', async () => {
    assert.deepEqual((await tidings('campaign', 'diff', '-f', file)).stdout, 'No differences.\n')
    const changed = yaml.replace('Hello', 'Hi')
    const diff = await feed(changed, 'campaign', 'diff', '-f', '-')
    assert.equal(diff.code, 1)
    assert.equal(diff.stdout, 'greeting\n- message.title: "Hello {{ user.id }}"\n+ message.title: "Hi {{ user.id }}"\n')
    const json = (await feed(changed, 'campaign', 'apply', '-f', '-', '--json')).json<{ items: { result: string }[] }>()
    assert.deepEqual(
      json.items.map(({ result }) => result),
      ['updated', 'unchanged']
    )
  })

  await t.test('what is wrong is told with its place, and the others are applied', async () => {
    const wrong =
      'campaign_id: bad\nname: Bad\nmessage: { title: "{% if %}" }\n---\ncampaign_id: good\nname: Good\nmessage: { title: a }\n'
    const reply = await feed(wrong, 'campaign', 'apply', '-f', '-')
    assert.equal(reply.code, 1)
    assert.match(reply.stderr, /document 1: bad was refused\.\n {2}message\.title: line 1, column/)
    assert.equal(reply.stdout, 'good created, version 1\n')
    for (const [text, told] of [
      ['name: x\n', /campaign_id must be given/],
      ['a: [', /-: /],
      ['- 1\n', /must be an object/],
      ['', /holds no campaign/],
      ['a: &a [x, x]\nb: *a\n', /-: /]
    ] as const) {
      const refused = await feed(text, 'campaign', 'apply', '-f', '-')
      assert.equal(refused.code, 1, text)
      assert.match(refused.stderr, told)
    }
    assert.equal((await tidings('campaign', 'apply', '-f', join(dataDir, 'none.yaml'))).code, 1)
  })

  await t.test('get prints what a file would hold, list shows all, archive ends it', async () => {
    const got = await tidings('campaign', 'get', 'greeting')
    assert.match(got.stdout, /^campaign_id: greeting$/m)
    assert.doesNotMatch(got.stdout, /version/)
    assert.equal((await feed(got.stdout, 'campaign', 'apply', '-f', '-')).stdout, 'greeting unchanged, version 2\n')
    assert.match((await tidings('campaign', 'list')).stdout, /^greeting +Greeting +api_triggered +active +2 /m)
    assert.match((await tidings('campaign', 'archive', 'good')).stdout, /^Archived good, version 2\.$/m)
    assert.equal((await tidings('campaign', 'get', 'who')).code, 3)
  })

  await t.test('a trigger is watched to its end, listed, shown, explained, and can no longer be canceled', async () => {
    const headers = { authorization: `Bearer ${credentials.admin_token}` }
    const api = `/manage/v1/projects/${credentials.project_id}/api/v1`
    const device = { id: 'phone', platform: 'IOS', push_token: 'ab', push_token_type: 'APNS' }
    await ask(url, 'POST', `${api}/devices`, { json: { devices: [device] }, headers })
    await ask(url, 'POST', `${api}/devices/phone/user/project-user-id`, { json: { project_user_id: 'ana' }, headers })
    await tidings('user', 'set', 'ana', 'plan=premium')
    await tidings('user', 'set', 'bo', 'plan=free')
    const watched = await tidings(
      ...[
        'campaign',
        'trigger',
        'greeting',
        '--user',
        'ana',
        '--user',
        'bo',
        '--device',
        'none',
        '--property',
        'a=1',
        '--watch',
        '--json'
      ]
    )
    const trigger = watched.json<{
      trigger_id: string
      state: string
      counts: { targeted: number; skipped: number }
      skipped: object
    }>()
    assert.deepEqual([trigger.state, trigger.counts.targeted, trigger.counts.skipped], ['completed', 3, 2])
    assert.deepEqual(trigger.skipped, { no_device: 1, unknown_device: 1 })
    assert.match(
      (await tidings('trigger', 'list', '--campaign', 'greeting')).stdout,
      new RegExp(`^${trigger.trigger_id} +greeting +completed +3 `, 'm')
    )
    assert.match((await tidings('trigger', 'get', trigger.trigger_id)).stdout, /^Skipped +2 \(/m)
    const explained = await tidings('trigger', 'explain', trigger.trigger_id, '--user', 'bo')
    assert.match(explained.stdout, /^NO {3}device +The user has no device\. \(no_device\)$/m)
    const late = await tidings('trigger', 'cancel', trigger.trigger_id)
    assert.equal(late.code, 1)
    assert.match(late.stdout, /^The trigger is completed: /)
    assert.equal((await tidings('campaign', 'trigger', 'who')).code, 1)
    assert.equal((await tidings('campaign', 'trigger', 'greeting', '--broadcast', '--user', 'ana')).code, 2)
    assert.match(
      (await tidings('campaign', 'trigger', 'greeting', '--user', 'ana')).stdout,
      /^Trigger +[0-9a-f-]{36}$/m
    )
  })
})
