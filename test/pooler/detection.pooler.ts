// Starts against a real pgbouncer in each of its modes: what a start and doctor say, and that they accept what works.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { connectionOf, openDatabase } from '../../src/platform/db/open.ts'
import { checkServer } from '../../src/platform/db/server-check.ts'
import { OperatorError } from '../../src/platform/errors.ts'
import { run } from '../cli/service.ts'
import { emptyDatabase, migratedDatabase, serverUrl, withClient } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type PoolMode, startPgbouncer } from '../support/pgbouncer.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { startNode } from '../support/service.ts'

async function pooled(t: TestContext, url: string, mode: PoolMode, settings: Record<string, string | number> = {}) {
  const pgbouncer = await startPgbouncer(serverUrl(), mode, settings)
  t.after(() => pgbouncer.stop())
  return Object.assign(new URL(pgbouncer.url), { pathname: new URL(url).pathname }).href
}

const refused =
  (sentence: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof OperatorError, String(error))
    assert.match(error.message, sentence)
    return true
  }
const lends =
  /is a pooler that lends connections for a transaction\. Set DATABASE_POOLER=transaction, or set DATABASE_U/

it('without DATABASE_LISTEN_URL, a trigger ends and another node hears of a change, because processes poll', async (t) => {
  const { url } = await migratedDatabase(t)
  const env = {
    DATABASE_URL: await pooled(t, url, 'transaction'),
    DATABASE_POOLER: 'transaction',
    MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_polling'
  }
  const [first, second] = [
    await startNode({ ...env, DATA_DIR: await temporaryFolder(t) }),
    await startNode({ ...env, DATA_DIR: await temporaryFolder(t) })
  ]
  t.after(() => Promise.all([first.close(), second.close()]))
  const call = async (base: string, method: string, path: string, body?: unknown) => {
    const reply = await fetch(`${base}/manage/v1/projects/demo${path}`, {
      method,
      headers: {
        authorization: 'Bearer svc_at_polling',
        ...(body !== undefined && { 'content-type': 'application/json' })
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    assert.ok(reply.ok, `${method} ${path}: ${reply.status}`)
    return (await reply.json()) as { trigger_id: string; state: string; counts: { sent: number } }
  }
  const campaign = { name: 'N', status: 'active', message: { title: 'Hi' } }
  await call(first.url, 'PUT', '/campaigns/news', campaign)
  const { trigger_id } = await call(second.url, 'POST', '/api/v1/campaigns/news:trigger', {
    audience: { targets: [{ project_user_id: 'demo-user' }] }
  })
  await eventually(async () => {
    const { state, counts } = await call(first.url, 'GET', `/triggers/${trigger_id}`)
    assert.deepEqual([state, counts.sent > 0], ['completed', true])
  }, 20_000)
})

it('a database that pgbouncer cannot find is named at once', async (t) => {
  const { url } = await migratedDatabase(t)
  const missing = Object.assign(new URL(await pooled(t, url, 'transaction')), { pathname: '/no_such_database' }).href
  const beganMs = Date.now()
  await assert.rejects(
    openDatabase({ DATABASE_URL: missing, DATABASE_POOLER: 'transaction', DATA_DIR: '/nowhere' }, () => {}),
    refused(/refuses: .*no_such_database.* Check DATABASE_URL/)
  )
  assert.ok(Date.now() - beganMs < 25_000)
})

describe('a start through pgbouncer', () => {
  it('in transaction mode ends with the setting to make, and so does doctor', async (t) => {
    const { url } = await migratedDatabase(t)
    const env = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: await pooled(t, url, 'transaction') }
    const program = startProgram(t, env)
    assert.deepEqual(await program.exited, { code: 78, signal: null })
    assert.match(program.stderr(), lends)
    assert.doesNotMatch(program.stderr(), /\n\s+at /)
    assert.match((await run(['doctor'], { env })).stdout, /^fail +PostgreSQL .*Set DATABASE_POOLER=transaction/m)
  })

  it('in transaction mode is noticed also where the parameter passes and others keep the pooler busy', async (t) => {
    const { url } = await migratedDatabase(t)
    const settings = { ignore_startup_parameters: 'statement_timeout', server_round_robin: 1 }
    const through = await pooled(t, url, 'transaction', settings)
    let busy = true
    const others = Array.from({ length: 6 }, () =>
      withClient(through, async (client) => {
        while (busy) await client.query('select pg_sleep(random() * 0.01)')
      })
    )
    for (let round = 0; round < 20; round += 1)
      await assert.rejects(checkServer({ connectionString: through }, 'db'), refused(lends))
    busy = false
    await Promise.all(others)
  })

  it('in session mode is accepted where the parameter passes, and told about it where it does not', async (t) => {
    const { url } = await migratedDatabase(t)
    const lets = await pooled(t, url, 'session', { ignore_startup_parameters: 'statement_timeout' })
    for (let round = 0; round < 20; round += 1) await checkServer({ connectionString: lets }, 'db')
    await assert.rejects(
      checkServer({ connectionString: await pooled(t, url, 'session') }, 'db'),
      refused(/^db is a pooler that refuses a parameter \(unsupported startup parameter: statement_timeout\)\. Let it/)
    )
  })

  it('in statement mode is refused, with the setting and without', async (t) => {
    const { url } = await migratedDatabase(t)
    const DATABASE_URL = await pooled(t, url, 'statement', { ignore_startup_parameters: 'statement_timeout' })
    for (const DATABASE_POOLER of [undefined, 'transaction' as const])
      await assert.rejects(
        checkServer(connectionOf({ DATABASE_URL, DATABASE_POOLER }), 'db'),
        refused(/^db is a pooler that lends connections for a statement, .*pool_mode = transaction/)
      )
  })

  it('with the setting is accepted in transaction and session mode and on a server itself', async (t) => {
    const { url } = await migratedDatabase(t)
    for (const DATABASE_URL of [await pooled(t, url, 'transaction'), await pooled(t, url, 'session'), url])
      await checkServer(connectionOf({ DATABASE_URL, DATABASE_POOLER: 'transaction', DATABASE_LISTEN_URL: url }), 'db')
  })

  it('refuses DATABASE_LISTEN_URL where it is the pooler, or another database', async (t) => {
    const { url } = await migratedDatabase(t)
    const other = await emptyDatabase(t)
    const given = { DATABASE_URL: await pooled(t, url, 'transaction'), DATABASE_POOLER: 'transaction' as const }
    const listening = (DATABASE_LISTEN_URL: string) =>
      checkServer(connectionOf({ ...given, DATABASE_LISTEN_URL }), 'db')
    await assert.rejects(
      listening(other.url),
      refused(/lead to different databases\. Set DATABASE_LISTEN_URL to the da/)
    )
    await assert.rejects(
      listening(given.DATABASE_URL),
      refused(/^The server that DATABASE_LISTEN_URL names is a pooler .* Set DATABASE_LISTEN_URL to PostgreSQL itself/)
    )
  })
})

it('tidings upgrade --check leaves no setting in a back end that the pooler lends to nodes next', async (t) => {
  const { url } = await migratedDatabase(t)
  // One back end, so that the next client gets the one of the command.
  const address = await pooled(t, url, 'transaction', { default_pool_size: 1 })
  const env = { DATABASE_URL: address, DATABASE_POOLER: 'transaction', DATA_DIR: await temporaryFolder(t) }
  const settings = () =>
    withClient(address, async (client) => {
      const { rows } = await client.query(
        `select pg_backend_pid() as pid, current_setting('default_transaction_read_only') as read_only,
                current_setting('statement_timeout') as timeout`
      )
      return rows[0]
    })
  const before = await settings()
  const ran = await run(['upgrade', '--check', '--json'], { env })
  assert.equal(ran.code, 0, ran.stdout)
  assert.deepEqual(await settings(), before)
})
