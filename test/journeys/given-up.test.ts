import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, givenCampaign, triggered, users } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const titles = (device: string) => sender.to(device).map(({ content }) => (content as Json).notification.title)
const journeys = async (project: TestProject) =>
  (
    await service.sql('select state, reason, properties from journeys where project_id = $1 order by id', [project.id])
  ).map(({ state, reason, properties }) => [state, reason, properties])

/** A user on the way to the second step, which is due while its project is paused. */
async function given(name: string, campaign_id: string) {
  const project = await service.project()
  await givenUser(project, name, name)
  const steps = [
    { id: 'first', message: { title: 'One' } },
    { id: 'second', wait: '1d', message: { title: 'Two' } }
  ]
  await givenCampaign(service, project, { campaign_id, message: undefined, steps })
  await ended(project, await triggered(project, { ...users(name), properties: { n: 1 } }, campaign_id))
  await service.manage('POST', `/projects/${project.id}:pause`)
  await service.sql(`update journeys set due_at = date_trunc('second', now()) where project_id = $1`, [project.id])
  return project
}
const resume = (project: TestProject) => service.manage('POST', `/projects/${project.id}:resume`)
const jobs = (project: TestProject, change: string) =>
  service.sql(`update jobs set ${change} where project_id = $1 and name = 'journeys.step' and claim is null`, [
    project.id
  ])
const dead = (project: TestProject) =>
  service.sql(`select error from dead_jobs where project_id = $1 and name = 'journeys.step'`, [project.id])

describe('a step that cannot be sent', () => {
  it('ends the journeys of its users when its last attempt fails, and says so', async () => {
    const project = await given('bad-step', 'broken')
    // An error that no code could foresee.
    await service.sql(`alter table triggers add constraint broken check (campaign_id <> 'broken') not valid`)
    await resume(project)
    await eventually(async () => {
      await jobs(project, 'max_attempts = 1, ready = true, run_at = now()')
      assert.deepEqual(await journeys(project), [['stopped', 'internal_error', {}]])
    })
    await eventually(async () => assert.match((await dead(project))[0]?.error ?? '', /constraint/))
    const shown = await service.manage('GET', `/projects/${project.id}/users/bad-step/journeys`)
    assert.equal(shown.json.items[0].message, 'The next message could not be sent because of a fault of the service.')
    assert.deepEqual(titles('bad-step'), ['One'])
  })

  it('ends them if it brings down every worker', async () => {
    const project = await given('poison', 'news')
    // As after a loss of every worker that ran it. The project stays paused, so no other job sends the step.
    await service.sql(
      `insert into jobs (id, name, queue, project_id, key, payload, ready, run_at, attempts, created_at)
       select gen_random_uuid(), 'journeys.step', 'journeys', $1, 'poison',
              json_build_object('projectId', $1::text, 'campaignId', campaign_id, 'version', campaign_version, 'step', step,
                                'dueAt', due_at), true, now(), 20, now()
         from journeys where project_id = $1`,
      [project.id]
    )
    await eventually(async () => assert.match((await dead(project))[0]?.error ?? '', /worker was lost/))
    assert.deepEqual(await journeys(project), [['stopped', 'internal_error', {}]])
  })
})
