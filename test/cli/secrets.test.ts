import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { open } from '../../src/platform/secrets/secrets.ts'
import { serviceAccount } from '../gateways/credentials.ts'
import { migratedDatabase, withClient } from '../support/database.ts'
import { eventually, startNode } from '../support/service.ts'
import { bare, binary, run, temporaryFolder } from './service.ts'

const newKey = () => randomBytes(32).toString('base64')

/** An installation with a stored credential and no running node. */
async function setUp(t: TestContext, settings: Record<string, string> = {}) {
  const { url } = await migratedDatabase(t)
  const dataDir = await temporaryFolder(t)
  const env = { DATABASE_URL: url, DATA_DIR: dataDir, ...settings }
  const file = (name: string) => join(dataDir, name)
  const sql = async (text: string) => (await withClient(url, (client) => client.query(text))).rows

  /** Starts a node, runs the step, and stops the node. */
  async function serving<Result>(more: Record<string, string>, work: () => Promise<Result>): Promise<Result> {
    const node = await startNode({ ...env, ...more })
    return work().finally(node.close)
  }
  const account = await serviceAccount()
  await writeFile(file('account.json'), JSON.stringify(account))
  await serving({}, async () => {
    const set = await run(['gateway', 'set', 'fcm', '--service-account', file('account.json')], { env })
    assert.equal(set.code, 0, set.stderr)
    const web = await run(['gateway', 'set', 'webpush', '--subject', 'mailto:push@example.com'], { env })
    assert.equal(web.code, 0, web.stderr)
  })
  await sql(`insert into provider_tokens (name, token, issued_at, refresh_at, expires_at, held_by, held_until)
             values ('unused', '', now(), now(), now(), gen_random_uuid(), now())`)

  /** Whether the stored credential opens with a key. */
  async function opens(keyText: string): Promise<boolean> {
    const [row] = await sql(`select secret from gateway_credentials where gateway = 'fcm'`)
    try {
      const secret = open(Buffer.from(keyText, 'base64'), 'gateway_credentials/demo/fcm//', row.secret)
      return JSON.parse(secret).privateKey === account.private_key
    } catch {
      return false
    }
  }
  const keyText = async (name = 'master.key') => (await readFile(file(name), 'utf8')).trim()
  const rotate = (...args: string[]) => run(['secrets', 'rotate', ...args], { env })
  const spawnRotation = () =>
    spawn(process.execPath, [binary, 'secrets', 'rotate'], { env: bare(env), stdio: 'ignore' })
  return { url, env, file, sql, serving, opens, keyText, rotate, spawnRotation }
}

const check = (env: Record<string, string>) => run(['gateway', 'check', 'webpush'], { env })

test('rotating the key in the data folder lets the service continue with the new one', async (t) => {
  const { env, file, serving, opens, keyText, rotate } = await setUp(t)
  const before = await keyText()
  assert.ok(await opens(before))
  const rotated = await rotate('--json')
  assert.equal(rotated.code, 0, rotated.stderr)
  const { secrets, columns, key_file } = rotated.json<Record<string, unknown>>()
  assert.deepEqual([secrets, key_file], [4, file('master.key')])
  const counted = columns as Record<string, number>
  assert.deepEqual(
    [counted['settings.value'], counted['gateway_credentials.secret'], counted['simulators.credentials']],
    [1, 2, 1]
  )
  // The check covers every column of sealed texts, also empty ones.
  assert.deepEqual([counted['webhook_secrets.sealed'], counted['a2a_push_configs.secrets']], [0, 0])
  const after = await keyText()
  assert.notEqual(after, before)
  assert.deepEqual([await opens(after), await opens(before)], [true, false])
  assert.equal(await keyText('master.key.old'), before, 'for backups from before')
  assert.ok(!existsSync(file('master.key.new')))
  for (const name of ['master.key', 'master.key.old']) assert.equal((await stat(file(name))).mode & 0o777, 0o600)
  assert.ok(!rotated.stdout.includes(after) && !rotated.stdout.includes(before))
  const checked = await serving({}, () => check(env))
  assert.deepEqual([checked.code, checked.stderr], [0, ''])
  const words = await rotate()
  assert.match(
    words.stdout,
    /^Sealed 4 secrets of the database \S+ with the new master key\.\nIt is in .*master\.key: copy/
  )
})

test('MASTER_KEY is rotated to the key of a file, or to a generated one that is written to a file', async (t) => {
  const first = newKey()
  const { env, file, opens, serving, keyText } = await setUp(t, { MASTER_KEY: first })
  assert.ok(await opens(first))
  const second = newKey()
  await writeFile(file('new.key'), `${second}\n`)
  const given = await run(['secrets', 'rotate', '--new-key-file', file('new.key')], { env })
  assert.equal(given.code, 0, given.stderr)
  assert.match(given.stdout, /Set MASTER_KEY to the text in \S+new\.key on every node/)
  assert.ok(await opens(second))
  assert.ok(!existsSync(file('master.key')) && !existsSync(file('master.key.new')))
  const refused = await run(['secrets', 'rotate'], { env })
  assert.equal(refused.code, 78)
  assert.match(refused.stderr, /MASTER_KEY is not the key this database was set up with/)
  assert.ok(await opens(second), 'who has not the old key changes nothing')

  const made = await run(['secrets', 'rotate'], { env: { ...env, MASTER_KEY: second } })
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /Set MASTER_KEY to the text in \S+master\.key\.new on every node.* Then remove the file/)
  const third = await keyText('master.key.new')
  assert.ok(await opens(third))
  assert.equal((await serving({ MASTER_KEY: third }, () => check(env))).code, 0)
})

test('running nodes are reported and stop a rotation, unless --force is given', async (t) => {
  const { file, sql, serving, keyText, opens, rotate } = await setUp(t)
  const before = await keyText()
  await serving({}, async () => {
    const refused = await rotate('--json')
    assert.equal(refused.code, 1)
    const { code, error } = JSON.parse(refused.stderr)
    assert.equal(code, 'nodes_alive')
    assert.match(error, /Stop the nodes first.*\(pid \d+\)/)
    assert.deepEqual([await opens(before), await keyText()], [true, before])
    assert.equal((await rotate('--force')).code, 0)
    // The node has the old key, and no node could open a secret that it seals now.
    const stored = await sql('select secret from gateway_credentials order by secret')
    const { base_url, admin_token } = JSON.parse(await readFile(file('credentials.json'), 'utf8'))
    const { status } = await fetch(`${base_url}/manage/v1/projects/demo/gateways/webpush`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${admin_token}`, 'content-type': 'application/json' },
      body: '{"subject":"mailto:late@example.com"}'
    })
    assert.equal(status, 503)
    assert.deepEqual(await sql('select secret from gateway_credentials order by secret'), stored)
  })
  assert.ok(await opens(await keyText()))
})

test('an invalid new key, the old key, or a secret that does not open changes nothing', async (t) => {
  const { file, sql, keyText, opens, rotate } = await setUp(t)
  const before = await keyText()
  await writeFile(file('bad.key'), 'nonsense')
  const bad = await rotate('--new-key-file', file('bad.key'))
  assert.equal(bad.code, 78)
  assert.match(bad.stderr, /bad\.key does not hold a key \(32 bytes in base64\)\. Make one: openssl/)
  assert.equal((await rotate('--new-key-file', file('none.key'))).code, 78)
  await writeFile(file('same.key'), before)
  assert.match((await rotate('--new-key-file', file('same.key'))).stderr, /The new key is the old one/)
  await sql(`insert into provider_tokens (name, token, issued_at, refresh_at, expires_at, held_by, held_until)
             values ('broken', 'v1.AAAA', now(), now(), now(), gen_random_uuid(), now())`)
  const broken = await rotate()
  assert.equal(broken.code, 1)
  assert.match(broken.stderr, /A secret in provider_tokens\.token does not open with the old key \(broken\)/)
  assert.ok(await opens(before))
  assert.deepEqual([await keyText(), existsSync(file('master.key.new'))], [before, false])
})

test('after a kill before the database changed, the old key is valid', async (t) => {
  const { url, env, file, serving, opens, keyText, rotate, spawnRotation } = await setUp(t)
  const before = await keyText()
  const blocker = new pg.Client({ connectionString: url })
  await blocker.connect()
  blocker.on('error', () => {})
  await blocker.query('begin')
  await blocker.query(`select 1 from gateway_credentials where gateway = 'webpush' for update`)
  const child = spawnRotation()
  await eventually(() => assert.ok(existsSync(file('master.key.new'))), 30_000)
  await eventually(async () => {
    const { rows } = await blocker.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    )
    assert.equal(rows.length, 1)
  }, 30_000)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await blocker.end()
  assert.ok(await opens(before))
  assert.equal((await serving({}, () => check(env))).code, 0)
  assert.equal(await keyText(), before)
  assert.equal((await rotate()).code, 0, 'and a second try is not troubled by what the first left')
  assert.ok(await opens(await keyText()))
})

test('after a kill between commit and file, the next start or rotation finishes it', async (t) => {
  const { env, file, serving, opens, keyText, rotate, spawnRotation } = await setUp(t)
  for (const finish of ['start', 'change']) {
    const before = await keyText()
    await rm(file('master.key.old'), { force: true })
    // Copying the old key into a pipe without a reader blocks: after the commit, before the new file is written.
    execFileSync('mkfifo', [file('master.key.old')])
    const child = spawnRotation()
    await eventually(async () => assert.equal(await opens(before), false), 30_000)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await rm(file('master.key.old'))
    assert.equal(await keyText(), before)
    const next = await keyText('master.key.new')
    assert.ok(await opens(next))
    assert.match((await run(['doctor'], { env })).stdout, /^warn +Master key +a rotation was interrupted/m)
    if (finish === 'start') {
      assert.equal((await serving({}, () => check(env))).code, 0)
      assert.equal(await keyText(), next)
    } else {
      assert.equal((await rotate()).code, 0)
      assert.equal(await keyText('master.key.old'), next)
    }
    assert.ok(!existsSync(file('master.key.new')))
    assert.ok(await opens(await keyText()))
  }
})

test('after a lost key, forgetting its secrets lets the service start with everything else', async (t) => {
  const { env, file, sql, serving, keyText } = await setUp(t)
  const forget = (...args: string[]) => run(['secrets', 'forget', ...args], { env })
  const before = await keyText()
  const kept = await forget('--yes', '--json')
  assert.deepEqual([kept.code, JSON.parse(kept.stderr).code], [1, 'key_not_lost'])
  await rm(file('master.key'))
  assert.equal((await forget()).code, 2, 'it is not done by mistake')
  const lost = () => sql('select count(*)::int as count from gateway_credentials')
  assert.deepEqual(await lost(), [{ count: 2 }])

  const forgotten = await forget('--yes', '--json')
  assert.equal(forgotten.code, 0, forgotten.stderr)
  const { rows } = forgotten.json<{ rows: Record<string, number> }>()
  assert.deepEqual([rows['gateway_credentials.secret'], rows['settings.value']], [2, 1])
  assert.deepEqual(await lost(), [{ count: 0 }])
  const user = await serving({}, () => run(['user', 'get', 'demo-user', '--json'], { env }))
  assert.equal(user.code, 0, user.stderr)
  assert.notEqual(await keyText(), before)
})
