import assert from 'node:assert/strict'
import { it } from 'node:test'
import { idAt } from '../../src/platform/ids.ts'
import { ended, givenCampaign, run, triggered, users } from '../support/campaigns.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })
const frequency_cap = { count: 1, within: '1h' }

/** Sends a message now, of a trigger whose first time was ten days ago. */
async function sendLate(project: TestProject, user: string): Promise<void> {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString()
  const id = await triggered(project, { ...users(user), send_at: at(3_600_000) })
  const old = idAt(Date.now() - 10 * 86_400_000)
  await service.sql('update triggers set id = $2 where id = $1', [id, old])
  assert.equal((await project.call('PATCH', `/api/v1/triggers/${old}`, { json: { send_at: at(0) } })).status, 200)
  assert.equal((await ended(project, old)).counts.sent, 1)
}

for (const [when, first] of Object.entries({
  'was there': { frequency_cap },
  'came later': { throttle_per_second: 100 }
}))
  it(`a frequency cap that ${when} counts a message that left ten days after the time of its trigger`, async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'long-1')
    await givenCampaign(service, project, first)
    await sendLate(project, 'ana')
    await givenCampaign(service, project, { frequency_cap })
    assert.deepEqual((await run(project, users('ana'))).skipped, { frequency_cap: 1 })
  })
