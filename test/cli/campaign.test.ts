import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask, type Json } from '../support/http.ts'
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
schedule: { at: 2020-01-01T09:00 }
message: { body: News }
`

test('campaigns are managed and triggered from the command line', async (t) => {
  const { tidings, feed, dataDir, url, credentials } = await startService(t)
  const file = join(dataDir, 'campaigns.yaml')
  await writeFile(file, yaml)

  await t.test('applying a file of several documents twice changes nothing the second time', async () => {
    const first = await tidings('campaign', 'apply', '-f', file)
    assert.equal(first.code, 0, first.stderr)
    assert.equal(first.stdout, 'greeting created, version 1\nweekly created, version 1\n')
    assert.match(first.stderr, /weekly: .*no occurrence ahead/)
    assert.equal(
      (await tidings('campaign', 'apply', '-f', file)).stdout,
      'greeting unchanged, version 1\nweekly unchanged, version 1\n'
    )
  })

  await t.test('texts go to translators and come back', async () => {
    await feed('campaign_id: spoken\nname: Spoken\nmessage: { title: Hello }\n', 'campaign', 'apply', '-f', '-')
    const exported = await tidings('campaign', 'texts', 'export', 'spoken', '--language', 'de')
    assert.equal(exported.stdout.replace('\ufeff', ''), 'id,source,de\r\nmessage.title,Hello,\r\n', exported.stderr)
    const translated = exported.stdout.replace('Hello,', 'Hello,Hallo')
    const back = await feed(translated, 'campaign', 'texts', 'import', 'spoken', '-')
    assert.equal(back.stdout, 'spoken updated, version 2: 1 new text\n', back.stderr)
    const xliff = await tidings('campaign', 'texts', 'export', 'spoken', '--format', 'xliff')
    assert.match(xliff.stdout, /<target>Hallo<\/target>/)
    assert.match((await feed(xliff.stdout, 'campaign', 'texts', 'import', 'spoken', '-')).stdout, /unchanged/)
    const stale = await feed(translated.replace('Hello', 'Hey'), 'campaign', 'texts', 'import', 'spoken', '-')
    assert.match(stale.stderr, /was changed since/)
  })

  await t.test('a winner is chosen and taken back', async () => {
    const variants =
      'variants: [{ id: a, weight: 1, message: { title: A } }, { id: b, weight: 1, message: { title: B } }]'
    await feed(`campaign_id: tried\nname: Tried\n${variants}\n`, 'campaign', 'apply', '-f', '-')
    assert.equal((await tidings('campaign', 'choose-winner', 'tried', 'b')).stdout, 'tried sends everyone b.\n')
    const shown = await tidings('campaign', 'get', 'tried')
    assert.deepEqual([/winners/.test(shown.stdout), /^Winner: b$/m.test(shown.stderr)], [false, true], shown.stderr)
    assert.equal((await tidings('campaign', 'choose-winner', 'tried')).stdout, 'tried sends all its variants.\n')
    assert.match((await tidings('campaign', 'choose-winner', 'tried', 'c')).stderr, /must be one of a, b/)
  })

  await t.test('the next times of a schedule, and the time of a trigger that waits, are shown', async () => {
    const schedule = '{ cron: 0 9 * * 1, timezone: user }\ndefault_audience: { broadcast: true }'
    const weekly = `campaign_id: mondays\nname: Mondays\ntype: scheduled\nschedule: ${schedule}\nmessage: { title: Hi }\n`
    await feed(`${weekly}status: active\n`, 'campaign', 'apply', '-f', '-')
    const shown = await tidings('campaign', 'get', 'mondays')
    assert.match(shown.stderr, /^Next: (\d{4}-\d\d-\d\dT09:00, ){3}by the clock of each user$/m)
    await feed(
      'campaign_id: later\nname: Later\nstatus: active\nmessage: { title: Hi }\n',
      'campaign',
      'apply',
      '-f',
      '-'
    )
    const at = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z/, 'Z')
    await tidings('campaign', 'trigger', 'later', '--broadcast', '--send-at', at)
    const listed = await tidings('trigger', 'list', '--state', 'scheduled')
    assert.ok(listed.stdout.includes(`scheduled for ${at}`), listed.stdout)
  })

  await t.test('diff prints the changes, and ends with 1 if there are any', async () => {
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

  await t.test('apply reports a refused campaign with its place, and applies the others', async () => {
    const wrong =
      'campaign_id: bad\nname: Bad\nmessage: { title: "{% if %}" }\n---\ncampaign_id: good\nname: Good\nmessage: { title: a }\n'
    const reply = await feed(wrong, 'campaign', 'apply', '-f', '-')
    assert.equal(reply.code, 1)
    assert.match(reply.stderr, /document 1: bad was refused\.\n {2}-:3:19 message\.title: line 1, column/)
    assert.equal(reply.stdout, 'good created, version 1\n')
    for (const [text, expected] of [
      ['name: x\n', /campaign_id is required/],
      ['a: [', /-:1:5 /],
      ['message:\n  title: Hi {{ user.name | default: "you" }}\n', /^-:2:10 .*stands in quotes/],
      ['- 1\n', /must be an object/],
      ['', /contains no campaign/],
      ['a: &a [x, x]\nb: *a\n', /-: aliases/]
    ] as const) {
      const refused = await feed(text, 'campaign', 'apply', '-f', '-')
      assert.equal(refused.code, 1, text)
      assert.match(refused.stderr, expected)
    }
    assert.equal((await tidings('campaign', 'apply', '-f', join(dataDir, 'none.yaml'))).code, 1)
  })

  await t.test('apply, diff and preview report every fault of a file with line and column', async () => {
    const wrong = `campaign_id: bad
name: Bad
segment:
  all:
    - { attribute: user.plan, operator: equal, value: premium }
message:
  title: {{ user.name }}
quiet_hours: { from: "22:00" }
`
    for (const command of [['apply'], ['diff'], ['preview', '--broadcast']]) {
      const { code, stderr } = await feed(wrong, 'campaign', ...command, '-f', '-')
      assert.equal(code, 1)
      assert.match(stderr, /^ {2}-:5:41 segment\.all\[0\]\.operator: /m)
      assert.match(stderr, /^ {2}-:7:10 message\.title: must be .* stands in quotes/m)
      assert.match(stderr, /^ {2}-:8:14 quiet_hours\.to: must be given$/m)
    }
    const { stdout } = await feed(wrong, 'campaign', 'apply', '--json', '-f', '-')
    const places = JSON.parse(stdout).items[0].details.map(({ line, column }: Json) => [line, column])
    assert.deepEqual(places.toSorted(), [
      [5, 41],
      [7, 10],
      [8, 14]
    ])
  })

  await t.test('get prints a campaign as a file, list shows all, and archive archives one', async () => {
    const got = await tidings('campaign', 'get', 'greeting')
    assert.match(got.stdout, /^campaign_id: greeting\nname: Greeting\n/)
    assert.doesNotMatch(got.stdout, /version/)
    assert.equal((await feed(got.stdout, 'campaign', 'apply', '-f', '-')).stdout, 'greeting unchanged, version 2\n')
    assert.match((await tidings('campaign', 'list')).stdout, /^greeting +Greeting +api_triggered +active +2 /m)
    assert.match((await tidings('campaign', 'archive', 'good')).stdout, /^Archived good, version 2\.$/m)
    assert.equal((await tidings('campaign', 'get', 'who')).code, 3)
    for (const verb of ['preview', 'trigger']) {
      const { code, stderr } = await tidings('campaign', verb, 'who')
      assert.deepEqual([code, stderr], [3, 'There is no campaign "who".\n'])
    }
  })

  await t.test(
    'a trigger is watched to its end, listed, shown and explained, and an ended one cannot be canceled',
    async () => {
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
      assert.equal((await tidings('campaign', 'trigger', 'greeting', '--watch')).code, 0)
      assert.match(
        (await tidings('trigger', 'list', '--campaign', 'greeting')).stdout,
        /^\S+ +greeting +completed \(no_audience\) +0 /m
      )
      assert.match((await tidings('trigger', 'get', trigger.trigger_id)).stdout, /^Skipped +2 \(/m)
      const explained = await tidings('trigger', 'explain', trigger.trigger_id, '--user', 'bo')
      assert.match(explained.stdout, /^NO {3}device +The user had no device when the trigger ran\. \(no_device\)$/m)
      const since = ['trigger', 'list', '--campaign', 'greeting', '--since']
      assert.match((await tidings(...since, '2026-01-01')).stdout, new RegExp(trigger.trigger_id))
      assert.equal((await tidings(...since, '2999-01-01')).stdout, 'No triggers match.\n')
      assert.match((await tidings(...since, 'noon')).stderr, /accepted_after: must be a date or time/)
      const late = await tidings('trigger', 'cancel', trigger.trigger_id)
      assert.equal(late.code, 1)
      assert.match(late.stdout, /^The trigger is completed: /)
      assert.equal((await tidings('campaign', 'trigger', 'who')).code, 3)
      assert.equal((await tidings('campaign', 'trigger', 'greeting', '--broadcast', '--user', 'ana')).code, 2)
      const faulty = await tidings('campaign', 'trigger', 'greeting', '--user', '', '--user', '', '--json')
      assert.deepEqual(
        JSON.parse(faulty.stderr).details.map(({ path }: Json) => path),
        ['audience.targets[0].project_user_id', 'audience.targets[1].project_user_id']
      )
      assert.match(
        (await tidings('campaign', 'trigger', 'greeting', '--user', 'ana')).stdout,
        /^Trigger +[0-9a-f-]{36}$/m
      )
    }
  )

  await t.test(
    'users can come from a file, properties can be any JSON, and an idempotency key triggers once',
    async () => {
      const asked = ['campaign', 'trigger', 'greeting', '--users-from', '-', '--properties', '{"list":[1,2]}', '--json']
      const once = [...asked, '--idempotency-key', 'order-7']
      const people = 'ana\r\n\nbo\nwho\n'
      const first = (await feed(people, ...once)).json<{ trigger_id: string }>()
      assert.deepEqual((await feed(people, ...once)).json(), first)
      const other = await feed('ana\n', ...once)
      assert.deepEqual([other.code, JSON.parse(other.stderr).code], [1, 'idempotency_key_reused'])
      const watched = (await feed(people, ...asked, '--watch')).json<{ counts: object; skipped: object }>()
      assert.deepEqual(watched.skipped, { no_device: 1, unknown_user: 1 })
      const nobody = await feed('\n', ...asked, '--watch')
      assert.equal(nobody.json<{ counts: { targeted: number } }>().counts.targeted, 0)
      assert.equal((await feed('', ...asked, '--broadcast')).code, 2)
      assert.equal((await tidings('campaign', 'trigger', 'greeting', '--users-from', join(dataDir, 'none'))).code, 1)
    }
  )

  await t.test('stats show what came of a campaign, in groups and as CSV', async () => {
    const shown = await tidings('campaign', 'stats', 'greeting')
    assert.match(shown.stdout, /^ +USERS +TARGETED +SENT/)
    assert.match(shown.stdout, /^all +[1-9]/m)
    const json = (await tidings('campaign', 'stats', 'greeting', '--by', 'variant', '--json')).json<Json>()
    assert.deepEqual([json.groups.length, json.groups[0].key], [1, null])
    const csv = await tidings('campaign', 'stats', 'greeting', '--csv', '--interval', 'hour')
    assert.match(csv.stdout, /^at,targeted,sent,/)
    assert.equal((await tidings('campaign', 'stats', 'greeting', '--from', 'noon')).code, 1)
    assert.equal((await tidings('campaign', 'stats', 'who')).code, 3)
    const all = await tidings('stats')
    assert.match(all.stdout, /^ +USERS +TARGETED +SENT/)
    for (const line of [/^all +[1-9]/m, /^direct +0/m, /^greeting +[1-9]/m]) assert.match(all.stdout, line)
    assert.ok((await tidings('stats', '--json')).json<Json>().totals.targeted > 0)
    assert.match((await tidings('stats', '--csv')).stdout, /^at,/)
    assert.equal((await tidings('stats', '--to', 'noon')).code, 1)
  })

  await t.test('trigger properties that look like JSON are JSON, and --string makes them text', async () => {
    const shows = yaml.split('---')[0]!.replace('Hello {{ user.id }}', "'{{ trigger | json }}'")
    const given = ['--property', 'n=1', '--property', 'list=[1,{"a":null}]', '--property', 'odd={x}']
    const text = ['--string', 'zip=10001', '--string', 'raw=[1]']
    const preview = await feed(shows, 'campaign', 'preview', '-f', '-', '--user', 'ana', ...given, ...text, '--json')
    const [{ content }] = preview.json<{ sample: [{ content: { notification: { title: string } } }] }>().sample
    assert.deepEqual(JSON.parse(content.notification.title), {
      n: 1,
      list: [1, { a: null }],
      odd: '{x}',
      zip: '10001',
      raw: '[1]'
    })
  })

  await t.test(
    'preview shows recipients and messages of a saved campaign and of a file, and test sends to a device',
    async () => {
      const preview = await tidings('campaign', 'preview', 'greeting', '--broadcast')
      assert.match(preview.stdout, /^It would go to 1 device of 1 user\.$/m)
      assert.match(preview.stdout, /^ana +phone +- +\d+ +Hi ana$/m)
      const endless =
        'campaign_id: endless\nname: Endless\nmessage: { title: "{% for i in (1..trigger.n) %}a{% endfor %}" }\n'
      const failing = await feed(endless, 'campaign', 'preview', '-f', '-', '--user', 'ana', '--property', 'n=9999999')
      assert.match(
        failing.stdout,
        /^It would go to 1 device of 1 user, but the text cannot be rendered for 1 of the 1 tried: line 1, column \d+: .{30,}\.$/m
      )
      assert.match(failing.stdout, /^ana +phone +template_failed +- +-$/m)
      const draft = 'campaign_id: draft\nname: Draft\nmessage: { title: "Draft for {{ user.id }}" }\n'
      const seen = await feed(draft, 'campaign', 'preview', '-f', '-', '--user', 'ana', '--user', 'who')
      assert.match(seen.stdout, /Draft for ana$/m)
      assert.match(seen.stdout, /^Skipped for unknown_user: 1$/m)
      assert.equal((await tidings('campaign', 'get', 'draft')).code, 3, 'it is not saved')
      assert.equal((await tidings('campaign', 'preview')).code, 2)
      assert.equal((await feed(yaml, 'campaign', 'preview', '-f', '-')).code, 2)
      assert.equal((await tidings('campaign', 'preview', 'who', '--broadcast')).code, 3)
      const sent = await tidings('campaign', 'test', 'weekly', '--device', 'phone')
      assert.equal(sent.code, 0, sent.stderr)
      assert.match(sent.stdout, /^phone +succeed/m)
      assert.equal((await tidings('campaign', 'test', 'weekly', '--device', 'none')).code, 1)
    }
  )

  await t.test('a campaign is paused and activated, and an old version is applied again', async () => {
    assert.match((await tidings('campaign', 'pause', 'greeting')).stdout, /^greeting is paused, version 3\.$/m)
    assert.equal((await tidings('campaign', 'trigger', 'greeting', '--user', 'ana')).code, 1)
    assert.match((await tidings('campaign', 'activate', 'greeting')).stdout, /^greeting is active, version 4\.$/m)
    assert.match((await tidings('campaign', 'activate', 'greeting')).stdout, /^greeting is active, version 4\.$/m)
    assert.match((await tidings('campaign', 'versions', 'greeting')).stdout, /^3 .* paused +Greeting$/m)
    const first = await tidings('campaign', 'get', 'greeting', '--at', '1')
    assert.match(first.stdout, /title: Hello/)
    assert.equal((await feed(first.stdout, 'campaign', 'apply', '-f', '-')).stdout, 'greeting updated, version 5\n')
    assert.equal((await tidings('campaign', 'get', 'greeting', '--at', '99')).code, 3)
    assert.equal((await tidings('campaign', 'pause', 'who')).code, 3)
  })
})
