import assert from 'node:assert/strict'
import { it } from 'node:test'
import { run } from '../cli/service.ts'
import { migratedDatabase, withClient } from '../support/database.ts'
import { ask } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually } from '../support/service.ts'

it('an api node answers requests and leaves jobs to a worker node, which answers only for its health', async (t) => {
  const { url } = await migratedDatabase(t)
  const env = async () => ({
    DATA_DIR: await temporaryFolder(t),
    DATABASE_URL: url,
    MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_roles'
  })
  const command = (role: string) => [process.execPath, 'bin/tidings.js', 'serve', '--role', role]
  const headers = { authorization: 'Bearer svc_at_roles' }
  const api = await startProgram(t, await env(), command('api')).ready
  await ask(api, 'POST', '/manage/v1/projects', { json: { name: 'Shop', id: 'shop' }, headers })
  await ask(api, 'POST', '/manage/v1/projects/shop/api/v1/users', { json: { project_user_id: 'ana' }, headers })
  assert.equal((await ask(api, 'DELETE', '/manage/v1/projects/shop', { headers })).status, 200)
  const left = async () =>
    (await withClient(url, (client) => client.query(`select 1 from projects where project_id = 'shop'`))).rowCount
  // Longer than a worker would need: nobody runs the job.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  assert.equal(await left(), 1)

  const program = startProgram(t, await env(), command('worker'))
  const worker = await program.ready
  await eventually(async () => assert.equal(await left(), 0))
  assert.equal((await ask(worker, 'GET', '/readyz')).status, 200)
  assert.equal((await ask(worker, 'GET', '/manage/v1/projects', { headers })).status, 404)
  assert.match(program.stdout(), /A worker: it answers only for health, metrics and the API page\./)
  assert.doesNotMatch(program.stdout(), /curl|\/console/)
  const asked = await run(['project', 'list', '--url', worker, '--token', 'svc_at_roles'])
  assert.deepEqual([asked.code, asked.stdout], [1, ''])
  assert.match(asked.stderr, /does not answer commands\. A worker .* answers only for health/)
  await eventually(async () => {
    const { items } = (await ask(api, 'GET', '/manage/v1/nodes', { headers })).json
    assert.deepEqual(items.map((node: { role: string }) => node.role).sort(), ['api', 'worker'])
  })
})
