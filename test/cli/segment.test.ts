import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startService } from './service.ts'

const yaml = `segment_id: everyone-named
name: Everyone named
segment: { attribute: user.id, operator: exists }
`

test('saved segments are managed, counted and used from the command line', async (t) => {
  const { tidings, feed, dataDir } = await startService(t)
  const file = join(dataDir, 'segment.yaml')
  await writeFile(file, yaml)
  const made = await tidings('segment', 'apply', '-f', file)
  assert.equal(made.stdout, 'everyone-named created, version 1\n', made.stderr)
  const campaign =
    'campaign_id: used\nname: Used\nstatus: active\nsegment: { ref: everyone-named }\nmessage: { title: Hi {{ trigger.code }} }\n'
  assert.equal(
    (await feed(campaign.replace('Hi {{ trigger.code }}', "'Hi {{ trigger.code }}'"), 'campaign', 'apply', '-f', '-'))
      .code,
    0
  )
  const shown = await tidings('segment', 'show', 'everyone-named')
  assert.match(shown.stdout, /^segment_id: everyone-named\nname: Everyone named\nsegment:/)
  assert.equal(shown.stderr, 'Used by used.\n')
  assert.match((await tidings('segment', 'list')).stdout, /everyone-named +Everyone named +1/)
  assert.match((await tidings('segment', 'size', 'everyone-named')).stdout, /Users +\d/)
  assert.equal((await tidings('segment', 'size', 'everyone-named', '--history')).code, 0)
  for (const verb of ['show', 'size', 'delete']) {
    const { code, stderr } = await tidings('segment', verb, 'gone')
    assert.deepEqual([code, stderr], [3, 'Segment "gone" does not exist. List segments with `tidings segment list`.\n'])
  }
  const kept = await tidings('segment', 'delete', 'everyone-named')
  assert.match(kept.stderr, /is used by the campaigns "used"/)
  const missing = await feed('segment_id: other\nname: Other\nsegment: { ref: gone }\n', 'segment', 'apply', '-f', '-')
  assert.deepEqual([missing.code, /segment.ref: there is no saved segment "gone"/.test(missing.stderr)], [1, true])

  const targets = join(dataDir, 'targets.jsonl')
  await writeFile(targets, '{"project_user_id":"demo-user","properties":{"code":"A1"}}\n')
  const preview = await tidings('campaign', 'preview', 'used', '--targets-from', targets)
  assert.match(preview.stdout, /Hi A1/, preview.stderr)
})
