import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { startService } from './service.ts'

const none = '0199c0de-0000-7000-8000-00000000ffff'

test('policies are set and approvals decided from the command line', async (t) => {
  const { tidings, url } = await startService(t)
  const folder = await mkdtemp(join(tmpdir(), 'tidings-policy-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'policy.json')
  await writeFile(file, JSON.stringify({ approval_above: 0, max_recipients: 100 }))

  const created = await tidings('key', 'create', 'assistant', '--kind', 'secret', '--policy', file, '--json')
  assert.equal(created.code, 0, created.stderr)
  const { id, key, policy } = created.json<{ id: string; key: string; policy: Record<string, unknown> }>()
  assert.deepEqual([policy.approval_above, policy.max_recipients, policy.dry_run], [0, 100, false])
  const listed = await tidings('key', 'list')
  assert.match(listed.stdout, new RegExp(`^${id} .*at most 100 at once; approval above 0$`, 'm'))

  const changed = await tidings('key', 'policy', id, '{"approval_above": 0, "confirm_broadcasts": true}')
  assert.equal(
    changed.stdout,
    'The policy of assistant is now: at most 100 at once; approval above 0; confirms broadcasts.\n'
  )
  assert.equal((await tidings('key', 'policy', id, '{nonsense')).code, 2)
  assert.equal((await tidings('key', 'policy', id, join(folder, 'absent.json'))).code, 2)
  const refused = await tidings('key', 'policy', id, '{"limit": 5}')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /policy\.limit/)

  assert.equal((await tidings('approval', 'list')).stdout, 'No agent has asked for an approval yet.\n')
  const agent = agentOf({ url }, { secretKey: key }, 'plain')
  const push = { skill: 'send-push-notification', projectUserId: 'demo-user', title: 'Hello' }
  const ask = async () => (await agent.send(push)).status.message.metadata.approvalId as string
  const [first, second] = [await ask(), await ask()]
  const waiting = await tidings('approval', 'list', '--state', 'pending')
  assert.match(waiting.stdout, new RegExp(`^${first} +pending +send-push-notification`, 'm'))
  const shown = await tidings('approval', 'show', first)
  assert.match(shown.stdout, /Key +assistant/)
  assert.match(shown.stdout, /For example +Hello/)
  const approved = await tidings('approval', 'approve', first, '--note', 'fine')
  assert.match(approved.stdout, /^Approved: send-push-notification for (1 recipient|\d+ recipients)\.\n$/)
  const rejected = await tidings('approval', 'reject', second, '--json')
  assert.equal(rejected.json<{ state: string }>().state, 'rejected')
  const late = await tidings('approval', 'approve', second)
  assert.equal(late.code, 1)
  assert.match(late.stderr, /This approval is rejected already/)
  assert.equal((await tidings('approval', 'show', none)).code, 3)
  assert.equal((await tidings('approval', 'list', '--state', 'maybe')).code, 2)

  const taken = await tidings('key', 'policy', id, 'none')
  assert.equal(taken.stdout, 'The policy of assistant is now: none.\n')
})
