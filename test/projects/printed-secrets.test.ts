import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { run } from '../cli/service.ts'
import { migratedDatabase } from '../support/database.ts'
import { ask } from '../support/http.ts'
import { paste, startProgram, temporaryFolder } from '../support/program.ts'
import { eventually } from '../support/service.ts'

const named = {
  BOOTSTRAP_PROJECT_ID: 'shop',
  BOOTSTRAP_SECRET_KEY: 'svc_sk_named-by-the-operator-1',
  BOOTSTRAP_PUBLIC_KEY: 'svc_pk_named-by-the-operator-2',
  BOOTSTRAP_ADMIN_TOKEN: 'svc_at_named-by-the-operator-3'
}
const secrets = [named.BOOTSTRAP_SECRET_KEY, named.BOOTSTRAP_PUBLIC_KEY, named.BOOTSTRAP_ADMIN_TOKEN]
const json = [process.execPath, 'bin/tidings.js', 'serve', '--json']
const curlOf = (printed: string) => printed.split('\n').find((line) => line.startsWith('curl '))!

describe('a start', () => {
  it('prints no secret that the operator named and no sign-in code for it, and its curl works', async (t) => {
    const env = { ...named, DATABASE_URL: (await migratedDatabase(t)).url, DATA_DIR: await temporaryFolder(t) }
    const program = startProgram(t, env)
    await program.ready
    await eventually(() => assert.match(program.stdout(), /^curl /m))
    const printed = program.stdout() + program.stderr()
    for (const secret of secrets) assert.ok(!printed.includes(secret), secret)
    assert.doesNotMatch(printed, /svc_|#code=/)
    assert.match(printed, /Secret key +from BOOTSTRAP_SECRET_KEY/)
    assert.deepEqual(JSON.parse(await paste(t, curlOf(printed))), { properties: { plan: 'premium' } })
  })

  it('--json prints none of them either', async (t) => {
    const env = { ...named, DATABASE_URL: (await migratedDatabase(t)).url, DATA_DIR: await temporaryFolder(t) }
    const program = startProgram(t, env, json)
    const document = await eventually(() => JSON.parse(program.stdout()), 30_000)
    assert.equal(document.project_id, 'shop')
    assert.doesNotMatch(program.stdout() + program.stderr(), /svc_|#code=/)
  })

  it('shows generated keys once, with a link that signs in; a later start shows neither and explains how to get a link', async (t) => {
    const env = { DATABASE_URL: (await migratedDatabase(t)).url, DATA_DIR: await temporaryFolder(t) }
    const first = startProgram(t, env)
    const url = await first.ready
    await eventually(() => assert.match(first.stdout(), /^curl /m))
    const made = JSON.parse(await readFile(join(env.DATA_DIR, 'credentials.json'), 'utf8'))
    for (const name of ['secret_key', 'public_key', 'admin_token']) assert.ok(first.stdout().includes(made[name]), name)
    const code = /Console .*#code=(svc_sc_\S+)/.exec(first.stdout())?.[1]
    assert.equal((await ask(url, 'POST', '/console/session', { json: { code } })).status, 200)
    first.child.kill('SIGTERM')
    await first.exited

    const second = startProgram(t, env)
    const again = await second.ready
    // A shell without DATA_DIR would look into ./data.
    const command = `DATA_DIR=${env.DATA_DIR} npm run tidings console`
    await eventually(() => assert.ok(second.stdout().includes(command), second.stdout()))
    assert.doesNotMatch(second.stdout() + second.stderr(), /svc_\w\w_|#code=/)
    assert.ok(second.stdout().includes(`${again}/console/\n`))
    const link = (await run(['console', '--json'], { env: { DATA_DIR: env.DATA_DIR } })).json<{ url: string }>()
    const { hash, origin, pathname } = new URL(link.url)
    assert.deepEqual([origin, pathname], [again, '/console/'])
    const sent = { json: { code: hash.slice('#code='.length) } }
    assert.equal((await ask(again, 'POST', '/console/session', sent)).json.role, 'admin')
  })
})
