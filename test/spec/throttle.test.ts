import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { passThrottle } from '../../src/campaigns/campaigns.ts'
import { openPool } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { ended, everyone, givenCampaign, givenMany, readTrigger, run, triggered, users } from '../support/campaigns.ts'
import { silentLog } from '../support/log.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService({}, { sender: scriptedSender() })
const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 1)
after(() => pool.close())

const pause = async (project: TestProject, verb: 'pause' | 'resume') =>
  assert.equal((await service.manage('POST', `/projects/${project.id}:${verb}`)).status, 200)

/** Makes every planned batch due since an hour, as after a long pause or outage. */
const makeOverdue = async (project: TestProject) => {
  await service.sql(`update trigger_chunks set due_at = now() - interval '1 hour' where project_id = $1`, [project.id])
  await service.sql(`update campaigns set throttled_until = now() where project_id = $1`, [project.id])
  await service.sql(`update jobs set run_at = now() where project_id = $1`, [project.id])
}

describe('throttle_per_second', () => {
  it('spaces messages over all triggers of the campaign', async () => {
    const project = await service.project()
    await givenMany(service, project, 60, 'slow')
    await givenUser(project, 'ana', 'slow-ana')
    await givenCampaign(service, project, { throttle_per_second: 20 })
    const began = Date.now()
    const id = await triggered(project, everyone)
    await eventually(async () => assert.equal((await readTrigger(project, id)).state, 'running'))
    await run(project, users('ana'))
    const found = await ended(project, id, 30_000)
    assert.equal(found.counts.sent, 61)
    // 62 messages at 20 a second; the first 20 need not wait.
    assert.ok(Date.now() - began >= 1_900, 'not all at once')
  })

  it('keeps its pace after an outage, and after quiet hours that held messages', async () => {
    const project = await service.project()
    const names = Array.from({ length: 4 }, (_, n) => `pace-${n}`)
    for (const name of names) await givenUser(project, name, `${name}-phone`)
    const planned = async (...counts: number[]) => {
      const rows = await service.sql('select number from trigger_chunks where project_id = $1', [project.id])
      assert.ok(counts.includes(rows.length), `${rows.length}`)
    }
    const spanMs = async (id: string) => {
      const found = await ended(project, id, 30_000)
      assert.equal(found.counts.sent, 4)
      const sql = `select extract(epoch from max(created_at) - min(created_at)) * 1000 as ms from messages where trigger_id = $1`
      return Number((await service.sql(sql, [id]))[0]!.ms)
    }
    await givenCampaign(service, project, { throttle_per_second: 1 })
    const late = await triggered(project, users(...names))
    await eventually(() => planned(3, 2, 1))
    await makeOverdue(project)
    const lateMs = await spanMs(late)
    assert.ok(lateMs >= 2_000, `${lateMs} ms`)

    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    await givenCampaign(service, project, {
      throttle_per_second: 1,
      quiet_hours: { from: at(-1), to: at(2), timezone: 'device', action: 'hold' }
    })
    const held = await triggered(project, users(...names))
    await eventually(async () => assert.equal((await readTrigger(project, held)).counts.pending, 4))
    // A batch that is under way would hold its message again.
    await eventually(async () => {
      const rows = await service.sql(
        `select 1 from trigger_chunks where project_id = $1 and due_at > now() + interval '1 hour'`,
        [project.id]
      )
      assert.equal(rows.length, 4)
    }, 20_000)
    await service.sql(`update devices set facts = facts || '{"timezone":"Pacific/Kiritimati"}' where project_id = $1`, [
      project.id
    ])
    await makeOverdue(project)
    const heldMs = await spanMs(held)
    assert.ok(heldMs >= 2_000, `${heldMs} ms`)
  })

  it('keeps its pace after two pauses, of which the second ends before all have the turns that the first gave them', async () => {
    const project = await service.project()
    await givenMany(service, project, 120, 'paused')
    await givenCampaign(service, project, { throttle_per_second: 20 })
    const id = await triggered(project, everyone)
    await eventually(async () => assert.ok((await readTrigger(project, id)).counts.sent >= 1))
    // The first pause ends when all turns are over, and the second when most of the new ones are.
    for (const ms of [7_000, 5_000]) {
      await pause(project, 'pause')
      await sleep(ms)
      await pause(project, 'resume')
      await sleep(1_500)
    }
    assert.equal((await ended(project, id, 60_000)).counts.sent, 120)
    const [{ most }] = await service.sql(
      `select max(others) as most from (
         select count(*) over (order by created_at range between current row and interval '500 milliseconds' following) as others
           from messages where trigger_id = $1) m`,
      [id]
    )
    // A batch has 20, and one may be a second late.
    assert.ok(most <= 40, `${most} within half a second`)
  })

  it('leaves the turns of a canceled trigger to the next one', async () => {
    const project = await service.project()
    await givenMany(service, project, 150, 'canceled')
    await givenUser(project, 'ana', 'canceled-ana')
    await givenCampaign(service, project, { throttle_per_second: 1 })
    const id = await triggered(project, everyone)
    await eventually(async () => assert.ok((await readTrigger(project, id)).counts.sent >= 1))
    await eventually(async () => {
      const planned = `select 1 from campaigns where project_id = $1 and throttled_until > now() + interval '1 minute'`
      assert.equal((await service.sql(planned, [project.id])).length, 1)
    })
    await project.call('POST', `/api/v1/triggers/${id}:cancel`)
    await ended(project, id)
    assert.equal((await ended(project, await triggered(project, users('ana')), 20_000)).counts.sent, 1)
  })

  it('brings triggers forward that were planned behind a canceled one', async () => {
    const project = await service.project()
    await givenMany(service, project, 150, 'ahead')
    for (const name of ['ana', 'bo']) await givenUser(project, name, `ahead-${name}`)
    await givenCampaign(service, project, { throttle_per_second: 1 })
    const ahead = await triggered(project, everyone)
    await eventually(async () => assert.ok((await readTrigger(project, ahead)).counts.sent >= 1))
    const behind = await triggered(project, users('ana', 'bo'))
    await eventually(async () => {
      const late = `select 1 from trigger_chunks where trigger_id = $1 and due_at > now() + interval '1 minute'`
      assert.equal((await service.sql(late, [behind])).length, 2)
    })
    await project.call('POST', `/api/v1/triggers/${ahead}:cancel`)
    await ended(project, ahead)
    // A trigger that runs is looked at every minute.
    await service.sql('update triggers set wake_at = now() where id = $1', [behind])
    await service.hurry('campaigns.sweep')
    assert.equal((await ended(project, behind, 20_000)).counts.sent, 2)
  })

  it('lets a batch go while its rate is not used up, also if one with a later turn went first', async () => {
    const project = await service.project()
    await givenCampaign(service, project, { throttle_per_second: 10 })
    const times = async (paced: number, turn: number | null) => {
      await service.sql(
        `update campaigns set paced_until = now() + $2 * interval '1 ms', throttled_until = now() where project_id = $1`,
        [project.id, paced]
      )
      const at = turn === null ? null : new Date(Date.now() + turn)
      const passed = await pool.transaction((tx) => passThrottle(tx, project.id as ProjectId, 'news', 1, 10, at))
      const [{ left }] = await service.sql(
        `select extract(epoch from paced_until - now())::float8 * 1000 as left from campaigns where project_id = $1`,
        [project.id]
      )
      return { passed, left }
    }
    const late = await times(-50, -300)
    assert.ok(late.passed && late.left <= 50, `${late.left}`)
    // Half a second of a longer delay counts, and nothing of the wait of a batch that has had no turn.
    const later = await times(-10_000, -5_000)
    assert.ok(later.passed && later.left <= -300, `${later.left}`)
    const first = await times(-10_000, null)
    assert.ok(first.passed && first.left > -300 && first.left <= 100, `${first.left}`)
    assert.equal((await times(30_000, -300)).passed, false)
    assert.equal((await times(30_000, null)).passed, false)
  })

  it('does not prolong the time to live of messages that quiet hours held', async () => {
    const project = await service.project()
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await givenUser(project, name, `lived-${name}`)
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    await givenCampaign(service, project, {
      throttle_per_second: 1,
      ttl_seconds: 600,
      quiet_hours: { from: at(-1), to: at(2), timezone: 'device', action: 'hold' }
    })
    const id = await triggered(project, users(...names))
    await eventually(async () => {
      const held = await service.sql('select number from trigger_chunks where project_id = $1 and held', [project.id])
      assert.equal(held.length, 4)
    }, 20_000)
    await service.sql(`update devices set facts = facts || '{"timezone":"Pacific/Kiritimati"}' where project_id = $1`, [
      project.id
    ])
    await makeOverdue(project)
    assert.deepEqual((await ended(project, id, 30_000)).skipped, { expired: 4 })
  })

  it('lets a trigger count all whom it will reach, and then those it did not: deleted, or canceled', async () => {
    const project = await service.project()
    const names = Array.from({ length: 6 }, (_, n) => `late-${n}`)
    for (const name of names) await givenUser(project, name, `${name}-phone`)
    await givenCampaign(service, project, { throttle_per_second: 1 })
    const id = await triggered(project, users(...names))
    await eventually(async () => {
      const { counts } = await readTrigger(project, id)
      assert.ok(counts.targeted === 6 && counts.sent >= 1 && counts.pending >= 1, JSON.stringify(counts))
    })
    assert.equal((await project.call('DELETE', '/api/v1/users/late-5')).status, 200)
    const first = await ended(project, id, 30_000)
    assert.deepEqual([first.counts.targeted, first.counts.sent, first.skipped], [6, 5, { canceled: 1 }])
    const other = await triggered(project, users(...names.slice(0, 5)))
    await eventually(async () => assert.equal((await readTrigger(project, other)).counts.targeted, 5))
    await project.call('POST', `/api/v1/triggers/${other}:cancel`)
    const { counts, skipped } = await ended(project, other)
    assert.deepEqual([counts.targeted, counts.sent + (skipped.canceled ?? 0)], [5, 5])
    assert.ok(skipped.canceled >= 1)
  })
})
