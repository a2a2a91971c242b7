import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { agentOf } from '../a2a/agent.ts'
import { devices, ended, everyone, givenCampaign, givenMany, triggered } from '../support/campaigns.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

/** TIDINGS_LONG=1 has a thousand triggers wait; the suite takes fewer, because it shares its machine with other tests. */
const [many, people, taskMs] = process.env.TIDINGS_LONG ? [1_000, 3_000, 2_000] : [150, 600, 8_000]
const latencyMs = 500
const atOnce = 5

/** Jobs that would wake a worker for a trigger that has several. */
const wokenTwice = `
  with wakes as (
    select j.id, t.id as trigger_id from jobs j
     cross join lateral jsonb_array_elements_text(j.payload -> 'triggerIds') as t(id) where j.name = 'campaigns.begin'
    union all
    select j.id, j.payload ->> 'triggerId' from jobs j where j.name = 'campaigns.expand')
  select trigger_id, count(*)::int as jobs from wakes group by trigger_id having count(*) > 1`

const service = await startService({ WORKER_CONCURRENCY: '4' })

describe('with slow gateways', () => {
  let project: TestProject

  before(async () => {
    project = await service.project({ mode: 'simulator', limits: { requests_per_second: 0 } })
    await givenMany(service, project, people)
    await givenCampaign(service, project)
    const faults = await service.manage('PUT', `/projects/${project.id}/simulator/faults`, {
      json: { all: { latency_ms: latencyMs } }
    })
    assert.equal(faults.status, 200, faults.text)
  })

  it(`a task of an agent ends within ${taskMs / 1000} s though ${many} triggers wait, each with one wake-up at most`, async (t) => {
    const ids: string[] = [await triggered(project, everyone), await triggered(project, everyone)]
    let waiting = true
    const twice = new Set<string>()
    const watching = (async () => {
      for (; waiting; await sleep(20)) for (const { trigger_id } of await service.sql(wokenTwice)) twice.add(trigger_id)
    })()
    const beganMs = Date.now()
    for (let n = 1; n <= many; n += atOnce) {
      const next = Array.from({ length: atOnce }, (_, place) => triggered(project, devices(`p-${n + place}`)))
      ids.push(...(await Promise.all(next)))
    }
    const [{ n: open }] = await service.sql(`select count(*)::int as n from triggers where ended_at is null`)
    const agent = agentOf(service, project, 'plain')
    const push = { skill: 'send-push-notification', deviceId: 'p-7', title: 'Of an agent' }
    const askedMs = Date.now()
    const task = await agent.send(push, {}, { returnImmediately: true })
    await eventually(
      async () => {
        const { status } = await agent.get(task.id)
        assert.equal(status.state, 'completed', JSON.stringify(status))
      },
      process.env.BEFORE ? 600_000 : taskMs
    )
    t.diagnostic(`${open} triggers were open; the task ended after ${Date.now() - askedMs} ms`)
    for (const id of ids) assert.equal((await ended(project, id, 600_000)).state, 'completed')
    t.diagnostic(`all triggers ended ${((Date.now() - beganMs) / 1000).toFixed(1)} s after the first`)
    waiting = false
    await watching
    assert.equal(twice.size, 0, 'triggers with more than one wake-up')
  })
  it('the sweeper adds no wake-up for a trigger whose job waits or whose messages are dispatched', async () => {
    const wakes = async () =>
      (await service.sql(`select payload ->> 'triggerId' as id from jobs where name = 'campaigns.expand'`)).map(
        ({ id }) => id
      )
    const swept = async (id: string) => {
      await service.sql(`update triggers set wake_at = now() - interval '1 s' where id = $1`, [id])
      await eventually(async () => {
        // Each time anew: a sweep that runs in this moment sets its own next time.
        await service.hurry('campaigns.sweep')
        const [{ moved }] = await service.sql(`select wake_at > now() as moved from triggers where id = $1`, [id])
        assert.ok(moved)
      })
    }
    await service.manage('PUT', `/projects/${project.id}/simulator/faults`, { json: { all: { latency_ms: 4_000 } } })
    const running = await triggered(project, devices('p-1'))
    await eventually(async () =>
      assert.equal((await service.sql('select state from triggers where id = $1', [running]))[0].state, 'running')
    )
    await swept(running)
    assert.deepEqual(await wakes(), [], 'all of it is written: nothing is left to expand')

    // Simulates a backlog: each job is moved to a later hour in the transaction that adds it.
    await service.sql(`create function later() returns trigger language plpgsql as
      $$ begin new.ready = false; new.run_at = now() + interval '1 hour'; return new; end $$`)
    await service.sql(`create trigger later before insert on jobs for each row when (new.name = 'campaigns.begin')
      execute function later()`)
    const waiting = await triggered(project, devices('p-2'))
    await service.sql('drop function later cascade')
    await swept(waiting)
    assert.deepEqual(await wakes(), [])
    // Its job is lost, as after a restored backup: now only the sweeper can wake it.
    await service.sql(`delete from jobs where payload -> 'triggerIds' ? $1`, [waiting])
    await swept(waiting)
    assert.equal((await ended(project, waiting)).state, 'completed')
    assert.equal((await ended(project, running)).state, 'completed')
  })
})
