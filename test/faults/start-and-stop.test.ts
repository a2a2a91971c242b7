import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lockKey } from '../../src/platform/db/migrate.ts'
import { emptyDatabase, migratedDatabase, withClient } from '../support/database.ts'
import { ask } from '../support/http.ts'
import { paste, processesOf, startProgram, temporaryFolder } from '../support/program.ts'
import { eventually, startNode } from '../support/service.ts'

describe('npm start', () => {
  it('prints address, project, keys, data folder and a curl that works; a SIGTERM to npm ends everything with 0', async (t) => {
    const dataDir = await temporaryFolder(t)
    const program = startProgram(t, { DATA_DIR: dataDir }, ['npm', 'start'])
    const url = await program.ready
    await eventually(() => assert.match(program.stdout(), /^curl /m))
    const printed = program.stdout()
    const before = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
    const { base_url, project_id, secret_key, public_key, admin_token } = before
    for (const text of [url, 'demo', secret_key, public_key, admin_token, dataDir])
      assert.ok(printed.includes(text), text)
    assert.deepEqual([base_url, project_id], [url, 'demo'])
    assert.ok(!printed.includes('\u001b['), 'plain text without a terminal')
    for (const file of ['credentials.json', 'master.key'])
      assert.equal((await stat(join(dataDir, file))).mode & 0o777, 0o600, file)

    const line = printed.split('\n').find((each) => each.startsWith('curl '))!
    assert.deepEqual(JSON.parse(await paste(t, line)), { properties: { plan: 'premium' } })

    assert.match(printed, /simulated phones of demo-user; nothing leaves this machine/)
    assert.match(printed, /^curl -X POST \S+\/api\/v1\/messages:send .*"project_user_id":"demo-user"/m)
    assert.ok(printed.includes(`DATA_DIR=${dataDir} npm run tidings inbox`), printed)
    const usual = printed.replaceAll(dataDir, '/home/ana/tidings/data')
    const rows = usual.slice(usual.indexOf('Tidings ')).trimEnd().split('\n')
    assert.ok(
      rows.reduce((sum, row) => sum + Math.ceil((row.length || 1) / 80), 0) <= 23,
      'it fits a terminal of 80x24'
    )
    assert.ok(processesOf(dataDir).length >= 2)
    program.child.kill('SIGTERM')
    assert.equal((await program.exited).code, 0)
    await eventually(() => assert.deepEqual(processesOf(dataDir), []))

    await t.test('a second start keeps keys and users, and does not print the keys', async (t) => {
      const second = startProgram(t, { DATA_DIR: dataDir })
      const url = await second.ready
      const after = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))
      assert.deepEqual(after, { ...before, base_url: url })
      await eventually(() => assert.match(second.stdout(), /^curl /m))
      for (const secret of [admin_token, secret_key, public_key])
        assert.ok(!second.stdout().includes(secret), 'no secret is printed again')
      const line = second
        .stdout()
        .split('\n')
        .find((each) => each.startsWith('curl '))!
      assert.deepEqual(
        JSON.parse(await paste(t, line)),
        { properties: { plan: 'premium' } },
        'and the line still works'
      )
      const headers = { authorization: `Bearer ${admin_token}` }
      assert.equal((await ask(url, 'GET', '/manage/v1/projects', { headers })).status, 200)
      second.child.kill('SIGINT')
      assert.equal((await second.exited).code, 0)
    })
  })
})

describe('a stop', () => {
  it('finishes open requests, accepts no new ones, and a second signal soon after changes nothing', async (t) => {
    const { url: databaseUrl } = await migratedDatabase(t)
    const program = startProgram(t, {
      DATA_DIR: await temporaryFolder(t),
      DATABASE_URL: databaseUrl,
      BOOTSTRAP_ADMIN_TOKEN: 'svc_at_test',
      BOOTSTRAP_PROJECT_ID: 'shop'
    })
    const url = await program.ready
    const { port } = new URL(url)
    // An import whose last line arrives after the signal is in flight until then.
    const answer = Promise.withResolvers<{ status: number; text: string }>()
    const upload = request(
      {
        port,
        method: 'POST',
        path: '/manage/v1/projects/shop/users:import',
        headers: { authorization: 'Bearer svc_at_test', 'content-type': 'application/x-ndjson' }
      },
      (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () => answer.resolve({ status: response.statusCode!, text }))
      }
    )
    upload.on('error', answer.reject)
    upload.write('{"project_user_id":"early"}\n')
    await eventually(async () => assert.equal((await ask(url, 'GET', '/healthz')).status, 200))
    await new Promise((resolve) => setTimeout(resolve, 200))
    program.child.kill('SIGTERM')
    await eventually(() => assert.match(program.stdout(), /Stopping/))
    program.child.kill('SIGTERM')
    await eventually(() => assert.rejects(ask(url, 'GET', '/healthz', { headers: { connection: 'close' } })))
    upload.end('{"project_user_id":"late"}\n')
    const { status, text } = await answer.promise
    assert.deepEqual([status, JSON.parse(text).imported], [200, 2])
    assert.equal((await program.exited).code, 0)
  })

  it('waits for a client no longer than its deadline; with --json, one document is all of standard output', async (t) => {
    const { url: databaseUrl } = await migratedDatabase(t)
    const env = {
      DATA_DIR: await temporaryFolder(t),
      DATABASE_URL: databaseUrl,
      LOG_LEVEL: 'silent',
      SHUTDOWN_SECONDS: '1'
    }
    const program = startProgram(t, env, [process.execPath, 'bin/tidings.js', 'serve', '--json'])
    const document = await eventually(() => JSON.parse(program.stdout()), 30_000)
    assert.deepEqual([document.project_id, document.data_dir], ['demo', env.DATA_DIR])
    const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': document.secret_key }
    assert.equal((await ask(document.base_url, 'GET', '/api/v1/users/demo-user', { headers })).status, 200)

    const { port } = new URL(document.base_url)
    const upload = request({
      port,
      method: 'POST',
      path: '/manage/v1/projects/demo/users:import',
      headers: { authorization: `Bearer ${document.admin_token}`, 'content-type': 'application/x-ndjson' }
    })
    upload.on('error', () => {})
    upload.write('{"project_user_id":"early"}\n')
    await new Promise((resolve) => setTimeout(resolve, 300))
    program.child.kill('SIGTERM')
    const { code } = await Promise.race([
      program.exited,
      new Promise<{ code: string }>((resolve) => setTimeout(() => resolve({ code: 'still running' }), 15_000))
    ])
    assert.equal(code, 0)
    assert.match(program.stderr(), /^Stopping/m)
    assert.deepEqual(JSON.parse(program.stdout()), document, 'and nothing else')
  })
})

describe('a start that cannot succeed explains in one sentence', () => {
  const failed = async (t: Parameters<typeof temporaryFolder>[0], env: Record<string, string>) => {
    const program = startProgram(t, { DATA_DIR: await temporaryFolder(t), ...env })
    const { code } = await program.exited
    assert.ok(!/\n\s+at /.test(program.stderr()), `no stack: ${program.stderr()}`)
    return { code, text: program.stderr() }
  }

  it('wrong settings, all of them in one message', async (t) => {
    const { code, text } = await failed(t, {
      PORT: 'eighty',
      TRUST_PROXY: 'yes',
      MASTER_KEY: 'short',
      BOOTSTRAP_SECRET_KEY: 'sk_x'
    })
    assert.equal(code, 78)
    for (const name of ['PORT', 'TRUST_PROXY', 'MASTER_KEY', 'BOOTSTRAP_SECRET_KEY'])
      assert.match(text, new RegExp(`${name}: must`))
  })

  it('a port in use', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    t.after(() => server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const { url } = await emptyDatabase(t)
    const dataDir = await temporaryFolder(t)
    const { code, text } = await failed(t, { PORT: String(port), DATABASE_URL: url, DATA_DIR: dataDir })
    assert.equal(code, 1)
    assert.match(text, new RegExp(`port ${port}.*PORT`, 'i'))
    assert.deepEqual(await readdir(dataDir), [], 'keys that are shown once are not made yet')
  })

  it('a database that is absent or refuses', async (t) => {
    const { url } = await emptyDatabase(t)
    const missing = new URL(url)
    missing.pathname = '/no_such_database'
    const { code, text } = await failed(t, { DATABASE_URL: missing.href })
    assert.equal(code, 1)
    assert.match(text, /no_such_database.*DATABASE_URL/)
  })

  it('a master key of another database', async (t) => {
    const { url } = await migratedDatabase(t)
    const env = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: url }
    await (await startNode(env)).close()
    const other = { DATA_DIR: await temporaryFolder(t), DATABASE_URL: url }
    const { code, text } = await failed(t, { ...other, MASTER_KEY: Buffer.alloc(32).toString('base64') })
    assert.equal(code, 78)
    assert.match(text, /MASTER_KEY is not the key/)
    const without = await failed(t, other)
    assert.equal(without.code, 78)
    assert.match(without.text, /set up with a master key, and .*master\.key is not there/)
    assert.ok(!existsSync(join(other.DATA_DIR, 'master.key')), 'none is made where the right one belongs')
    await (await startNode(env)).close()
  })

  it('a database that a newer version migrated', async (t) => {
    const { url } = await migratedDatabase(t)
    await withClient(url, (client) =>
      client.query(`insert into migrations values (9999, '9999-from-the-future', now())`)
    )
    const { code, text } = await failed(t, { DATABASE_URL: url })
    assert.equal(code, 1)
    assert.match(text, /newer version.*9999-from-the-future/s)
  })
})

describe('ten nodes that start at once on an empty database', () => {
  it('migrate and bootstrap it once', async (t) => {
    const { url } = await emptyDatabase(t)
    const master = Buffer.alloc(32, 7).toString('base64')
    const env = async () => ({
      DATA_DIR: await temporaryFolder(t),
      DATABASE_URL: url,
      MASTER_KEY: master,
      BOOTSTRAP_SECRET_KEY: 'svc_sk_shared'
    })
    // One node is a process, the others run in this one: the database sees no difference.
    const starting = await withClient(url, async (client) => {
      await client.query('select pg_advisory_lock($1)', [lockKey])
      const all = [
        (async () => {
          const program = startProgram(t, await env())
          return { url: await program.ready, first: program.stdout().includes('Admin token'), close: async () => {} }
        })(),
        ...Array.from({ length: 9 }, async () => {
          const { url, app, close } = await startNode(await env())
          return { url, first: app.bootstrapped.first, close }
        })
      ]
      await eventually(async () => {
        const waiting = await client.query(
          `select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
             and pid <> pg_backend_pid()`
        )
        assert.equal(waiting.rowCount, 10, 'all have come to the door')
      }, 60_000)
      return { all }
    })
    const nodes = await Promise.all(starting.all)
    const urls = nodes.map(({ url }) => url)
    assert.equal(new Set(urls).size, 10)
    assert.equal(nodes.filter(({ first }) => first).length, 1, 'one of them made the keys')
    const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': 'svc_sk_shared' }
    await ask(urls[0]!, 'POST', '/api/v1/users', { json: { project_user_id: 'ana', properties: { a: 1 } }, headers })
    for (const each of urls)
      assert.deepEqual((await ask(each, 'GET', '/api/v1/users/ana', { headers })).json, { properties: { a: 1 } })
    await Promise.all(nodes.map(({ close }) => close()))
  })
})
