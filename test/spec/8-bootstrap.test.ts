import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { ask } from '../support/http.ts'
import { eventually, startService, type TestService } from '../support/service.ts'

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tidings-test-'))
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

const credentialsIn = async (dataDir: string) => JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'))

const opens = async (service: TestService, project: string, key: string) =>
  (
    await ask(service.url, 'GET', '/api/v1/users/x', {
      headers: { 'x-service-project-id': project, 'x-service-api-key': key }
    })
  ).status === 404

describe('the first start', () => {
  it('makes the project demo in simulator mode with keys and a token that work, kept in a private file', async (t) => {
    const dataDir = await folder(t)
    const service = await startService({ DATA_DIR: dataDir, BOOTSTRAP_ADMIN_TOKEN: '' })
    const file = await credentialsIn(dataDir)
    assert.deepEqual(Object.keys(file).sort(), ['admin_token', 'base_url', 'project_id', 'public_key', 'secret_key'])
    assert.deepEqual([file.project_id, file.base_url], ['demo', service.url])
    assert.match(file.secret_key, /^svc_sk_[A-Za-z0-9_-]{43}$/)
    assert.match(file.public_key, /^svc_pk_[A-Za-z0-9_-]{43}$/)
    assert.match(file.admin_token, /^svc_at_[A-Za-z0-9_-]{43}$/)
    assert.equal((await stat(join(dataDir, 'credentials.json'))).mode & 0o777, 0o600)
    assert.ok(await opens(service, 'demo', file.secret_key))
    const headers = { authorization: `Bearer ${file.admin_token}` }
    assert.equal((await ask(service.url, 'GET', '/manage/v1/projects/demo', { headers })).json.mode, 'simulator')
  })

  it('takes the keys of a file that a start left which was killed before the database knew them', async (t) => {
    const dataDir = await folder(t)
    const left = {
      project_id: 'demo',
      secret_key: `svc_sk_${'a'.repeat(43)}`,
      public_key: `svc_pk_${'b'.repeat(43)}`,
      admin_token: `svc_at_${'c'.repeat(43)}`
    }
    await writeFile(join(dataDir, 'credentials.json'), JSON.stringify(left))
    const service = await startService({ DATA_DIR: dataDir, BOOTSTRAP_ADMIN_TOKEN: '' })
    assert.ok(await opens(service, 'demo', left.secret_key))
    assert.equal((await credentialsIn(dataDir)).admin_token, left.admin_token)
  })
})

describe('credentials from settings', () => {
  it('is added at every start, and nothing is taken away', async (t) => {
    const first = await startService({ BOOTSTRAP_PROJECT_ID: 'shop', BOOTSTRAP_SECRET_KEY: 'svc_sk_one' })
    assert.ok(await opens(first, 'shop', 'svc_sk_one'))
    const dataDir = await folder(t)
    const second = await first.another({
      BOOTSTRAP_SECRET_KEY: 'svc_sk_two',
      BOOTSTRAP_PUBLIC_KEY: 'svc_pk_two',
      DATA_DIR: dataDir,
      BOOTSTRAP_PROJECT_ID: 'shop'
    })
    assert.ok(await opens(second, 'shop', 'svc_sk_one'))
    assert.ok(await opens(second, 'shop', 'svc_sk_two'))
    const file = await credentialsIn(dataDir)
    assert.deepEqual(
      [file.project_id, file.secret_key, file.public_key, file.base_url],
      ['shop', 'svc_sk_two', 'svc_pk_two', second.url]
    )
    assert.equal((await second.manage('GET', '/projects')).json.items.length, 1, 'the named project stands for demo')
  })

  it('credentials.json keeps the local address beside a PUBLIC_URL, and drops it with the setting', async (t) => {
    const first = await startService({ BOOTSTRAP_PROJECT_ID: 'shop' })
    const dataDir = await folder(t)
    const settings = { BOOTSTRAP_PROJECT_ID: 'shop', DATA_DIR: dataDir }
    const second = await first.another({ ...settings, PUBLIC_URL: 'https://tidings.example.com' })
    const { base_url, local_url } = await credentialsIn(dataDir)
    assert.deepEqual([base_url, local_url], ['https://tidings.example.com', `http://127.0.0.1:${second.app.port}`])
    await second.close()
    const third = await first.another(settings)
    const later = await credentialsIn(dataDir)
    assert.deepEqual([later.base_url, 'local_url' in later], [third.url, false])
  })

  it('a key that belongs to another project stops the start with a sentence', async () => {
    const first = await startService({ BOOTSTRAP_PROJECT_ID: 'shop', BOOTSTRAP_SECRET_KEY: 'svc_sk_taken' })
    await assert.rejects(
      first.another({ BOOTSTRAP_PROJECT_ID: 'other', BOOTSTRAP_SECRET_KEY: 'svc_sk_taken' }),
      /already a secret key of the project shop/
    )
  })

  it('another project does not inherit the keys of the file', async (t) => {
    const dataDir = await folder(t)
    const first = await startService({ DATA_DIR: dataDir })
    const before = await credentialsIn(dataDir)
    await first.another({ DATA_DIR: dataDir, BOOTSTRAP_PROJECT_ID: 'shop' })
    const after = await credentialsIn(dataDir)
    assert.equal(after.project_id, 'shop')
    assert.equal(after.secret_key, undefined, 'a key of demo does not open shop')
    assert.equal(after.admin_token, before.admin_token)
  })

  it('a token alone brings no deleted project back', async (t) => {
    const dataDir = await folder(t)
    const first = await startService({ DATA_DIR: dataDir })
    assert.equal((await first.manage('DELETE', '/projects/demo')).status, 200)
    const again = await first.another({ DATA_DIR: dataDir })
    await eventually(async () => assert.deepEqual((await again.manage('GET', '/projects')).json.items, []))
  })

  it('a start while the named project is being erased warns and ensures the token; a later start makes the project', async (t) => {
    const named = { BOOTSTRAP_PROJECT_ID: 'shop', BOOTSTRAP_SECRET_KEY: 'svc_sk_erased' }
    const first = await startService({ ...named, DATA_DIR: await folder(t) })
    await first.close()
    await first.sql(`update projects set deleted_at = now() where project_id = 'shop'`)
    await first.sql(`delete from api_keys where project_id = 'shop'`)
    const said: string[] = []
    const token = `svc_at_${'later'.padEnd(43, '-later')}`
    const second = await first.another({ BOOTSTRAP_ADMIN_TOKEN: token }, { say: (line) => said.push(line) })
    assert.match(said.join('\n'), /the project shop was deleted and is still being erased.*A start after the erasure/)
    assert.deepEqual((await second.manage('GET', '/projects')).json.items, [], 'the token works')
    assert.deepEqual(await first.sql(`select 1 from api_keys where project_id = 'shop'`), [])
    await second.close()
    // As the end of the erasure does.
    await first.sql(`delete from projects where project_id = 'shop'`)
    assert.ok(await opens(await first.another(), 'shop', 'svc_sk_erased'))
  })

  it('a folder that cannot be written stops no start that needs no file', async (t) => {
    const file = join(await folder(t), 'file')
    await writeFile(file, '')
    const impossible = join(file, 'data')
    const env = {
      DATA_DIR: impossible,
      BOOTSTRAP_PROJECT_ID: 'shop',
      BOOTSTRAP_SECRET_KEY: 'svc_sk_x',
      BOOTSTRAP_PUBLIC_KEY: 'svc_pk_x'
    }
    const service = await startService(env)
    assert.ok(await opens(service, 'shop', 'svc_sk_x'))
    await assert.rejects(startService({ DATA_DIR: impossible }), /credentials\.json cannot be written.*DATA_DIR/)
  })
})
