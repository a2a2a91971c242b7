import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openPool } from '../../src/platform/db/db.ts'
import { claimKey } from '../../src/platform/idempotency/idempotency.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { eraseProjectJob } from '../../src/projects/jobs.ts'
import { eraseUserWindow, upsertUsers } from '../../src/users/store.ts'
import { silentLog } from '../support/log.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const pool = openPool({ connectionString: service.databaseUrl }, silentLog, 2)
after(() => pool.close())
const count = async (table: string, projectId: string) =>
  Number((await service.sql(`select count(*) from ${table} where project_id = $1`, [projectId]))[0]!.count)

describe('erasing a project', () => {
  it('waits for transactions that still write to the project, and erases their rows too', async () => {
    const { id } = await service.project()
    const projectId = id as ProjectId
    await pool.transaction(async (tx) => {
      const made = await upsertUsers(tx, projectId, [{ projectUserId: 'late', properties: {} }], new Date())
      assert.equal(made.size, 1)
      const key = { scope: 'test', key: 'late', fingerprint: '00'.repeat(32) }
      assert.equal((await claimKey(tx, projectId, key, {}, 1)).state, 'begun')
      assert.equal((await service.manage('DELETE', `/projects/${id}`)).status, 200)
      await eventually(async () => {
        const waiting = await service.sql(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%projects%for update%'`
        )
        assert.equal(waiting.length, 1, 'the erasure waits')
      })
    })
    await eventually(async () => assert.equal(await count('projects', id), 0))
    for (const table of ['users', 'idempotency_keys']) assert.equal(await count(table, id), 0, table)
    const refused = await upsertUsers(pool, projectId, [{ projectUserId: 'later', properties: {} }], new Date())
    assert.equal(refused.size, 0)
  })

  it('that comes late leaves a new project of the same id alone', async () => {
    const { id } = await service.project({ id: 'again' })
    assert.equal((await service.manage('DELETE', `/projects/${id}`)).status, 200)
    await eventually(async () => assert.equal(await count('projects', id), 0))
    const project = await service.project({ id: 'again' })
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    await eraseProjectJob(pool, [eraseUserWindow]).run(
      { projectId: 'again' as ProjectId },
      {
        jobId: newId(),
        attempt: 1,
        last: false,
        signal: new AbortController().signal,
        complete: async () => {},
        freeSlot() {}
      }
    )
    assert.deepEqual([await count('projects', id), await count('users', id)], [1, 1])
  })
})
