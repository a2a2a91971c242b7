import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, triggered } from '../support/campaigns.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })

it('messages that are not rendered in time live as long as those of their trigger that are', async () => {
  const project = await service.project()
  await givenMany(service, project, 300, 'slow')
  const loop = '{% for a in (1..30) %}{% for b in (1..20) %}{% if b == user.n %}.{% endif %}{% endfor %}{% endfor %}'
  await givenCampaign(service, project, { message: { title: `${loop}x`, body: `${loop}x` }, ttl_seconds: 600 })
  const id = await triggered(project, everyone)
  assert.equal((await ended(project, id, 60_000)).counts.sent, 300)
  const [trigger] = await service.sql(
    'select chunks, coalesce(started_at, accepted_at) as at from triggers where id = $1',
    [id]
  )
  // A broadcast of this size has two batches of its own.
  assert.ok(Number(trigger!.chunks) > 2, 'some were rendered later')
  const ends = await service.sql('select distinct not_after as at from messages where trigger_id = $1', [id])
  assert.deepEqual(
    ends.map(({ at }) => (at as Date).getTime()),
    [(trigger!.at as Date).getTime() + 600_000]
  )
})
