import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import type { JobContext } from '../../src/platform/jobs/definition.ts'
import { cancelDeferred } from '../../src/triggers/batches/deferred.ts'
import { keepTriggersJob } from '../../src/triggers/jobs.ts'
import { ended, everyone, givenCampaign, givenMany, readTrigger, run, triggered, users } from '../support/campaigns.ts'
import { ask } from '../support/http.ts'
import { silentLog } from '../support/log.ts'
import { givenUser } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const sender = scriptedSender()

describe('time passes for triggers', () => {
  it('messages deferred by quiet hours are sent once when these are over, and their time to live starts then', async () => {
    const service = await startService({}, { sender })
    const project = await service.project()
    await givenUser(project, 'ana', 'q-1', 'q-2')
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    const quiet_hours = { from: at(-1), to: at(2), timezone: 'UTC' }
    await givenCampaign(service, project, { quiet_hours, ttl_seconds: 60 })
    const id = await triggered(project, users('ana'))
    await eventually(async () => {
      const { counts, state } = await readTrigger(project, id)
      assert.deepEqual([state, counts.targeted, counts.pending], ['running', 2, 2])
    })
    const held = await eventually(async () => {
      const chunks = await service.sql('select due_at, held from trigger_chunks where project_id = $1', [project.id])
      assert.deepEqual(
        chunks.map((chunk) => chunk.held),
        [true]
      )
      return chunks[0]!
    })
    const inMs = held.due_at.getTime() - Date.now()
    assert.ok(inMs > 3_600_000 && inMs <= 2 * 3_600_000, String(inMs))
    await service.close()
    // Simulates two hours: the clock cannot be set, so the stored times are moved.
    await service.sql(`update campaign_versions set definition = definition - 'quiet_hours' where project_id = $1`, [
      project.id
    ])
    await service.sql(
      "update triggers set accepted_at = (accepted_at at time zone 'UTC' - interval '2 hours') at time zone 'UTC'"
    )
    await service.sql('update trigger_chunks set due_at = now()')
    await service.sql(`update jobs set run_at = now() where name = 'campaigns.chunk'`)
    const later = await service.another({
      MASTER_KEY: service.config.MASTER_KEY!.toString('base64'),
      DATABASE_URL: service.databaseUrl,
      BOOTSTRAP_ADMIN_TOKEN: service.adminToken
    })
    const path = `/manage/v1/projects/${project.id}/api/v1/triggers/${id}`
    const found = await eventually(async () => {
      const reply = await ask(later.url, 'GET', path, { headers: { authorization: `Bearer ${service.adminToken}` } })
      assert.equal(reply.json.state, 'completed')
      return reply.json
    })
    assert.deepEqual([found.counts.targeted, found.counts.sent, found.counts.pending], [2, 2, 0])
    assert.deepEqual([sender.to('q-1').length, sender.to('q-2').length], [1, 1])
    assert.ok(sender.to('q-1')[0]!.notAfter > Date.now())
  })

  it('a user deleted while quiet hours defer a message counts as skipped at once, and no other user does', async () => {
    const service = await startService({}, { sender })
    const project = await service.project()
    await givenUser(project, 'ana', 'h-1', 'h-2')
    await givenUser(project, 'bo', 'h-3')
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    await givenCampaign(service, project, { quiet_hours: { from: at(-1), to: at(2), timezone: 'UTC' } })
    const ids = [await triggered(project, users('ana')), await triggered(project, users('ana', 'bo'))]
    await eventually(async () => {
      const held = await service.sql('select 1 from trigger_chunks where project_id = $1 and held', [project.id])
      assert.equal(held.length, 2)
    })
    assert.equal((await project.call('DELETE', '/api/v1/users/ana')).status, 200)
    const alone = await readTrigger(project, ids[0]!)
    assert.deepEqual([alone.state, alone.counts.pending, alone.skipped], ['completed', 0, { canceled: 2 }])
    const both = await readTrigger(project, ids[1]!)
    assert.deepEqual([both.state, both.counts.pending, both.skipped], ['running', 1, { canceled: 2 }])
    const left = await service.sql('select device_ids from trigger_chunks where project_id = $1', [project.id])
    assert.deepEqual(left, [{ device_ids: ['h-3'] }])
    assert.equal((await project.call('DELETE', '/api/v1/users/bo')).status, 200)
    assert.equal((await readTrigger(project, ids[1]!)).state, 'completed')
  })

  it('a user deleted while a message is being deferred is not deferred', async () => {
    const service = await startService({}, { sender })
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    const quiet_hours = { from: at(-1), to: at(2), timezone: 'UTC' }
    for (let round = 0; round < 8; round += 1) {
      const project = await service.project()
      await givenUser(project, 'ana', 'm-1', 'm-2')
      await givenCampaign(service, project, { quiet_hours })
      const id = await triggered(project, users('ana'))
      await eventually(async () => assert.equal((await readTrigger(project, id)).counts.targeted, 2))
      assert.equal((await project.call('DELETE', '/api/v1/users/ana')).status, 200)
      assert.equal((await ended(project, id)).state, 'completed')
    }
  })

  it('a user deleted when a deferred batch is due is no longer in it', async () => {
    const service = await startService({}, { sender })
    const project = await service.project()
    await givenUser(project, 'ana', 'r-1')
    await givenUser(project, 'bo', 'r-2')
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
    await givenCampaign(service, project, { quiet_hours: { from: at(-1), to: at(2), timezone: 'UTC' } })
    const id = await triggered(project, users('ana', 'bo'))
    const chunks = () =>
      service.sql('select number, device_ids, state from trigger_chunks where project_id = $1 and held', [project.id])
    const [{ number }] = await eventually(async () => {
      const found = await chunks()
      assert.deepEqual(found[0]?.device_ids.toSorted(), ['r-1', 'r-2'])
      return found
    })
    // Due now, while the quiet hours still last.
    await service.sql('update trigger_chunks set due_at = now() where project_id = $1 and held', [project.id])
    const [{ id: ana }] = await service.sql(`select id from users where project_id = $1 and project_user_id = 'ana'`, [
      project.id
    ])
    const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 2)
    await pool.transaction(async (tx) => {
      await cancelDeferred(tx, project.id as ProjectId, [ana], async () => {})
      await service.sql(`update jobs set run_at = now() where name = 'campaigns.chunk'`)
      await eventually(async () => {
        const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%trigger_chunks%'`
        assert.ok((await service.sql(waiting)).length > 0)
      })
    })
    await pool.close()
    // The quiet hours still last, so the other device is deferred again, in a batch with a higher number.
    const left = await eventually(async () => {
      const found = await chunks()
      assert.ok(found.length === 1 && found[0].number > number, JSON.stringify(found))
      return found
    })
    assert.deepEqual(left[0].device_ids, ['r-2'])
    const { counts, skipped } = await readTrigger(project, id)
    assert.deepEqual([counts.targeted, counts.pending, skipped], [2, 1, { canceled: 1 }])
  })

  it('triggers are deleted with their messages, their counters stay with the campaign, and running ones stay', async () => {
    const service = await startService({}, { sender })
    const project = await service.project({ retention: { messages_days: 1 } })
    await givenUser(project, 'ana', 'k-1', 'k-2')
    await givenCampaign(service, project)
    const old = [await run(project, users('ana')), await run(project, users('ana', 'who'))]
    const fresh = await run(project, users('ana'))
    // Simulates days: an id contains its time. Rows that refer to it are not needed here.
    await service.sql('delete from trigger_skips')
    for (const [index, { trigger_id }] of old.entries()) {
      const before = `${idTime(Date.now() - 2 * 86_400_000)}-7000-8000-00000000000${index}`
      await service.sql('update triggers set id = $2 where id = $1', [trigger_id, before])
    }
    const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 2)
    await keepTriggersJob(pool).run(undefined, { signal: new AbortController().signal } as JobContext)
    await pool.close()
    const left = await service.sql('select id from triggers where project_id = $1', [project.id])
    assert.deepEqual(left, [{ id: fresh.trigger_id }])
    const counts = await service.manage('GET', `/projects/${project.id}/campaigns/news/counts`)
    assert.deepEqual([counts.json.triggers, counts.json.targeted, counts.json.sent, counts.json.skipped], [3, 7, 6, 1])
    const [{ past }] = await service.sql('select past from campaigns where project_id = $1', [project.id])
    assert.deepEqual(past, { triggers: 2, targeted: 5, sent: 4, failed: 0, skipped: 1, delivered: 0, tapped: 0 })
  })

  it('users deleted in the middle of a broadcast leave counters that add up and a trigger that ends', async () => {
    const service = await startService({}, { sender })
    const project = await service.project()
    await givenMany(service, project, 1_500, 'del')
    await givenCampaign(service, project)
    const id = await triggered(project, everyone)
    const deleting = Array.from({ length: 40 }, (_, index) =>
      project.call('DELETE', `/api/v1/users/del-user-${index * 37 + 1}`)
    )
    for (const reply of await Promise.all(deleting)) assert.equal(reply.status, 200)
    const { state, counts } = await ended(project, id)
    assert.equal(state, 'completed')
    assert.ok(counts.sent >= 1_460 && counts.targeted <= 1_500, JSON.stringify(counts))
  })
})

/** The beginning of a UUIDv7 of that time. */
function idTime(ms: number): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}
