import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { bare, binary, run, temporaryFolder } from '../../cli/service.ts'
import { startChild } from '../../support/children.ts'
import { emptyDatabase, withClient } from '../../support/database.ts'
import type { Json } from '../../support/http.ts'
import { eventually, type TestProject, type TestService } from '../../support/service.ts'

const admin = `svc_at_${'suite'.padEnd(43, '-suite')}`
const masterKey = Buffer.alloc(32, 'suite').toString('base64')

/** Restores a backup into a new database. Returns the settings of a node on it. */
export async function restored(t: TestContext, file: string) {
  const { url } = await emptyDatabase(t)
  const env = {
    DATABASE_URL: url,
    DATA_DIR: await temporaryFolder(t),
    MASTER_KEY: masterKey,
    BOOTSTRAP_ADMIN_TOKEN: admin
  }
  const done = await run(['restore', file], { env })
  assert.equal(done.code, 0, done.stderr)
  return env
}

/** The project of a backup, on a node of the restored installation. */
export const here = (node: TestService, project: TestProject): TestProject => ({
  ...project,
  call: (method, path, asked = {}) =>
    node.ask(method, path, {
      ...asked,
      headers: { 'x-service-project-id': project.id, 'x-service-api-key': project.secretKey, ...asked.headers }
    })
})

export const resumed = (node: TestService) =>
  eventually(async () => {
    assert.equal((await node.manage('GET', '/nodes')).json.paused, null)
    const { items } = (await node.manage('GET', '/projects')).json
    assert.deepEqual(
      items.filter(({ paused_at }: Json) => paused_at !== null),
      []
    )
  })

/** Kills a node while it cancels: a lock holds it at a message of this trigger. */
export async function killedInTheMiddle(t: TestContext, env: Record<string, string>, triggerId: string): Promise<void> {
  await withClient(env.DATABASE_URL!, async (client) => {
    await client.query('begin')
    await client.query('select 1 from messages where trigger_id = $1 for update', [triggerId])
    const settings = { ...bare(env), PORT: '0', HOST: '127.0.0.1' }
    const child = startChild(t, process.execPath, [binary, 'serve'], { env: settings, stdio: 'ignore' })
    const closed = once(child, 'close')
    const held = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    // Over another connection: a transaction sees the activity of its begin.
    await withClient(env.DATABASE_URL!, (other) =>
      eventually(async () => assert.ok((await other.query(held)).rows.length > 0), 20_000)
    )
    child.kill('SIGKILL')
    await closed
    await client.query('rollback')
    // Instead of waiting for the end of its lease.
    await client.query(`update jobs set run_at = now() where name = 'installation.discard'`)
  })
}
