import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, readTrigger, trigger, triggered } from '../support/campaigns.ts'
import { lost, rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const pick = (most: number) => Math.floor(Math.random() * most)
const people = 60

describe('concurrent triggers', () => {
  it('all end with counters that add up, for any gateway faults, cancellations and deletions', async () => {
    const sender = scriptedSender()
    const service = await startService({}, { sender })
    const other = await service.another({
      MASTER_KEY: service.config.MASTER_KEY!.toString('base64'),
      DATABASE_URL: service.databaseUrl,
      BOOTSTRAP_ADMIN_TOKEN: service.adminToken
    })
    assert.ok(other.url)
    const project = await service.project({ limits: { requests_per_second: 0, triggers_per_second: 0 } })
    await givenMany(service, project, people, 'c')
    for (let n = 1; n <= people; n += 1) {
      const later = () => retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + pick(300) })
      const odd = [lost(), later(), rejected('TOKEN_INVALID'), rejected('PAYLOAD_INVALID')]
      if (n % 3 === 0)
        sender.script(`c-${n}`, ...Array.from({ length: 6 }, () => odd[pick(4)]!), rejected('PAYLOAD_INVALID'))
    }
    const odd = { attribute: 'user.odd', operator: 'equals', value: true }
    await givenCampaign(service, project, { campaign_id: 'plain' })
    await givenCampaign(service, project, { campaign_id: 'odd', segment: odd })
    await givenCampaign(service, project, { campaign_id: 'capped', frequency_cap: { count: 2, within: '1d' } })
    await givenCampaign(service, project, { campaign_id: 'slow', throttle_per_second: 40 })
    const campaigns = ['plain', 'odd', 'capped', 'slow']
    const target = () =>
      pick(2) ? { project_user_id: `c-user-${1 + pick(people + 5)}` } : { device_id: `c-${1 + pick(people + 5)}` }
    const audience = () =>
      pick(4) === 0 ? everyone.audience : { targets: Array.from({ length: 1 + pick(30) }, target) }
    const ids: string[] = []
    const steps = [
      async () => {
        const reply = await trigger(project, { audience: audience() }, campaigns[pick(4)])
        assert.equal(reply.status, 200, reply.text)
        ids.push(reply.json.trigger_id)
      },
      async () => {
        const id = ids[pick(ids.length)]
        if (id) assert.equal((await project.call('POST', `/api/v1/triggers/${id}:cancel`)).status, 200)
      },
      async () => {
        const reply = await project.call('DELETE', `/api/v1/users/c-user-${1 + pick(people)}`)
        assert.equal(reply.status, 200, reply.text)
      },
      async () => {
        if (ids.length > 0) await readTrigger(project, ids[pick(ids.length)]!)
      }
    ]
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let n = 0; n < 10; n += 1) await steps[[0, 0, 0, 1, 2, 3][pick(6)]!]!()
      })
    )
    for (const id of ids) await ended(project, id, 60_000)
    const [{ open }] = await service.sql(
      `select (select count(*) from trigger_chunks)::int + (select count(*) from messages where state in ('queued', 'handed', 'unknown'))::int as open`
    )
    assert.equal(open, 0)
    // A counter is never lower than the number of its rows. It is higher if users were deleted with their messages.
    const wrong = await service.sql(
      `select t.id from triggers t where t.sent < (
         select count(*) from messages m where m.trigger_id = t.id and m.state = 'accepted')`
    )
    assert.deepEqual(wrong, [])
  })

  it('a trigger that cannot be written fails and does not run forever', async () => {
    const sender = scriptedSender()
    const service = await startService({}, { sender })
    const project = await service.project()
    await givenMany(service, project, 3, 'bad')
    await givenCampaign(service, project, { throttle_per_second: 1 })
    // An error that no code could foresee.
    await service.sql(`alter table messages add constraint broken check (campaign_id is null) not valid`)
    const id = await triggered(project, everyone)
    await eventually(async () => {
      await service.sql(`update jobs set max_attempts = 1, run_at = now() where name = 'campaigns.chunk'`)
      const found = await readTrigger(project, id)
      assert.equal(found.state, 'completed', JSON.stringify(found))
    }, 40_000)
    const found = await readTrigger(project, id)
    assert.deepEqual([found.counts.targeted, found.counts.failed, found.failures], [3, 3, { INTERNAL_ERROR: 3 }])
  })

  it('deleting a project during a broadcast leaves no job', async () => {
    const sender = scriptedSender()
    const service = await startService({}, { sender })
    const project = await service.project()
    await givenMany(service, project, 2_000, 'gone')
    await givenCampaign(service, project)
    await triggered(project, everyone)
    await eventually(() => assert.ok(sender.pushes.length > 0))
    assert.equal((await service.manage('DELETE', `/projects/${project.id}`)).status, 200)
    await eventually(async () => {
      assert.deepEqual(await service.sql('select 1 from projects where project_id = $1', [project.id]), [])
      assert.deepEqual(await service.sql('select name, last_error from jobs where project_id = $1', [project.id]), [])
    }, 40_000)
    assert.deepEqual(await service.sql('select name, error from dead_jobs where project_id = $1', [project.id]), [])
  })

  it('a gateway that does not respond for one project does not delay another', async () => {
    const sender = scriptedSender()
    const service = await startService({}, { sender })
    const [stuck, well] = [await service.project(), await service.project()]
    await givenMany(service, stuck, 1_200, 'stuck')
    await givenMany(service, well, 3, 'well')
    for (let n = 1; n <= 1_200; n += 1) sender.script(`stuck-${n}`, 'silence')
    for (const project of [stuck, well]) await givenCampaign(service, project)
    for (let n = 0; n < 3; n += 1) await triggered(stuck, everyone)
    const single = { audience: { targets: [{ device_id: 'stuck-1' }] } }
    await Promise.all(Array.from({ length: 20 }, () => triggered(stuck, single)))
    await eventually(() => assert.ok(sender.pushes.length > 0))
    const found = await ended(well, await triggered(well, everyone), 40_000)
    assert.equal(found.counts.sent, 3)
    const states = await service.sql(`select distinct state from triggers where project_id = $1`, [stuck.id])
    assert.ok(states.every(({ state }) => state !== 'completed'))
  })
})
