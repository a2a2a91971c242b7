import assert from 'node:assert/strict'
import { it } from 'node:test'
import { everyone, givenCampaign, givenMany, readTrigger, triggered } from '../support/campaigns.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })

/** As after a loss of every worker that ran such a job of the project. Returns the keys of the jobs. */
async function loseWorkers(project: TestProject, name: string): Promise<string[]> {
  const rows = await service.sql(
    `update jobs set attempts = 15, ready = true, run_at = now() where project_id = $1 and name = $2 and claim is null
     returning key`,
    [project.id, name]
  )
  return rows.map(({ key }) => key as string)
}

const jobsOf = async (project: TestProject, table: 'jobs' | 'dead_jobs', name: string) =>
  (await service.sql(`select key from ${table} where project_id = $1 and name = $2`, [project.id, name])).map(
    ({ key }) => key as string
  )

it('a batch that brings down every worker fails, and gets no job again', async () => {
  const project = await service.project()
  await givenMany(service, project, 6, 'poison')
  await givenCampaign(service, project, { throttle_per_second: 1 })
  const id = await triggered(project, everyone)
  let lost: string[] = []
  await eventually(async () => {
    lost = lost.length > 0 ? lost : await loseWorkers(project, 'campaigns.chunk')
    assert.ok(lost.length > 0)
  })
  await eventually(async () => {
    const { counts, failures } = await readTrigger(project, id)
    assert.deepEqual([counts.failed, failures], [lost.length, { INTERNAL_ERROR: lost.length }])
  })
  await eventually(async () =>
    assert.deepEqual((await jobsOf(project, 'dead_jobs', 'campaigns.chunk')).sort(), lost.sort())
  )
  await service.sql(`update triggers set wake_at = now() - interval '1 minute' where id = $1`, [id])
  await service.hurry('campaigns.sweep')
  await eventually(async () => assert.equal((await readTrigger(project, id)).state, 'completed'), 20_000)
  assert.deepEqual(await jobsOf(project, 'jobs', 'campaigns.chunk'), [])
  const batches = await service.sql('select number from trigger_chunks where trigger_id = $1', [id])
  assert.deepEqual(batches, [])
})

it('an expansion that brings down every worker fails its trigger', async () => {
  const project = await service.project()
  await givenMany(service, project, 2, 'expansion')
  await givenCampaign(service, project)
  await service.manage('POST', `/projects/${project.id}:pause`)
  const id = await triggered(project, everyone)
  await eventually(async () => {
    // A worker may end the job of the paused trigger at any moment.
    await service.sql(
      `insert into jobs (id, name, queue, project_id, key, payload, ready, run_at, attempts, created_at)
       values (gen_random_uuid(), 'campaigns.expand', 'expansions', $1, $2, $3, true, now(), 15, now())
       on conflict (key, name) where key is not null do update set attempts = 15, ready = true, run_at = now()`,
      [project.id, id, JSON.stringify({ projectId: project.id, triggerId: id })]
    )
    const { state, reason } = await readTrigger(project, id)
    assert.deepEqual([state, reason], ['failed', 'internal_error'])
  })
})
