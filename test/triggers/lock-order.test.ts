import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ended, givenCampaign, triggered, users } from '../support/campaigns.ts'
import { withClient } from '../support/database.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })

it('a batch under a frequency cap locks its campaign before itself, as the throttle and a cancel do', async () => {
  const project = await service.project()
  await givenUser(project, 'ana', 'order-1')
  await givenCampaign(service, project, { frequency_cap: { count: 1, within: '1h' } })
  const id = await withClient(service.databaseUrl, async (client) => {
    await client.query('begin')
    await client.query('select 1 from campaigns where project_id = $1 for no key update', [project.id])
    const id = await triggered(project, users('ana'))
    await eventually(async () => {
      const waiting = await service.sql(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query like '%from campaigns%'`
      )
      assert.equal(waiting.length, 1)
    })
    const free = await client.query(
      'select 1 from trigger_chunks where project_id = $1 and trigger_id = $2 for update nowait',
      [project.id, id]
    )
    assert.equal(free.rowCount, 1)
    await client.query('commit')
    return id
  })
  assert.equal((await ended(project, id)).counts.sent, 1)
})
