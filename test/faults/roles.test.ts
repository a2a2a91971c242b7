import assert from 'node:assert/strict'
import { it } from 'node:test'
import { run } from '../cli/service.ts'
import { migratedDatabase, withClient } from '../support/database.ts'
import { ask } from '../support/http.ts'
import { startProgram, temporaryFolder } from '../support/program.ts'
import { eventually } from '../support/service.ts'

it('an api node serves requests and warns that no worker runs, until a worker starts, which serves only health', async (t) => {
  const { url } = await migratedDatabase(t)
  const env = async () => ({
    DATA_DIR: await temporaryFolder(t),
    DATABASE_URL: url,
    MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
    BOOTSTRAP_ADMIN_TOKEN: 'svc_at_roles'
  })
  const command = (role: string) => [process.execPath, 'bin/tidings.js', 'serve', '--role', role]
  const headers = { authorization: 'Bearer svc_at_roles' }
  const apiEnv = await env()
  const apiProgram = startProgram(t, apiEnv, command('api'))
  const api = await apiProgram.ready
  await ask(api, 'POST', '/manage/v1/projects', { json: { name: 'Shop', id: 'shop' }, headers })
  await ask(api, 'POST', '/manage/v1/projects/shop/api/v1/users', { json: { project_user_id: 'ana' }, headers })
  assert.equal((await ask(api, 'DELETE', '/manage/v1/projects/shop', { headers })).status, 200)
  const left = async () =>
    (await withClient(url, (client) => client.query(`select 1 from projects where project_id = 'shop'`))).rowCount
  // Longer than a worker would need: no worker runs the job.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  assert.equal(await left(), 1)

  // A push that is sent directly needs no worker.
  const push = { target: { project_user_id: 'demo-user' }, title: 'Hi' }
  const sending = { json: { push_notifications: [push] }, headers }
  const sent = await ask(api, 'POST', '/manage/v1/projects/demo/api/v1/messages:send', sending)
  assert.equal(sent.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED')

  // Every health check reports the waiting jobs, and nothing that is untrue.
  await eventually(async () => {
    const { status, json } = await ask(api, 'GET', '/readyz')
    assert.deepEqual([status, json.status], [200, 'ready'])
    assert.match(String(json.warning), /^No node runs jobs: triggers, retries, tasks of agents and webhooks wait\./)
  }, 30_000)
  const complaints = () => apiProgram.stderr().split('No node runs jobs').length - 1
  await eventually(() => assert.equal(complaints(), 1, apiProgram.stderr()))
  const scraped = (await ask(api, 'GET', '/metrics')).text
  assert.match(scraped, /^tidings_nodes\{role="worker"\} 0$/m)
  assert.match(scraped, /^tidings_jobs_oldest_ready_seconds\{queue="work"\} (?!0$)\d/m)
  const examined = await run(['doctor'], { env: { ...apiEnv, PORT: new URL(api).port } })
  assert.equal(examined.code, 1)
  assert.match(examined.stdout, /^fail +Service +\S+ is ready\. No node runs jobs/m)

  const program = startProgram(t, await env(), command('worker'))
  const worker = await program.ready
  await eventually(async () => assert.equal(await left(), 0))
  assert.equal((await ask(worker, 'GET', '/readyz')).status, 200)
  assert.equal((await ask(worker, 'GET', '/manage/v1/projects', { headers })).status, 404)
  assert.match(program.stdout(), /This is a worker: it serves only health, metrics and the API page\./)
  assert.doesNotMatch(program.stdout(), /curl|\/console/)
  const asked = await run(['project', 'list', '--url', worker, '--token', 'svc_at_roles'])
  assert.deepEqual([asked.code, asked.stdout], [1, ''])
  assert.match(asked.stderr, /does not serve the management API\. A worker .* serves only health/)
  await eventually(async () => {
    const { items } = (await ask(api, 'GET', '/manage/v1/nodes', { headers })).json
    assert.deepEqual(items.map((node: { role: string }) => node.role).sort(), ['api', 'worker'])
    assert.deepEqual((await ask(api, 'GET', '/readyz')).json, { status: 'ready' })
  })
})
