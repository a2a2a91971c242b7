// Builds the image from deploy/container/Containerfile as it stands, without a registry of images, and runs it as the
// compose files say: npm run test:image. It needs root and Debian's buildah, podman, runc, debootstrap and postgresql, and
// takes about eight minutes.
import assert from 'node:assert/strict'
import { chmod } from 'node:fs/promises'
import { test } from 'node:test'
import { onServer, startPlain, whyNoServer } from '../engines/citus/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { ask, type Json } from '../support/http.ts'
import { paste, root, temporaryFolder } from '../support/program.ts'
import { authority, bases, makeBases } from './bases.ts'
import { type Container, runOnce, services, start } from './compose.ts'
import { certificates, containers } from './containers.ts'
import { freePorts } from './programs.ts'

const commit = 'c0ffee0000000000000000000000000000000000'
const inMB = (bytes: Json) => Math.round(Number(bytes) / 1e6)

test('the image', { timeout: 1_700_000 }, async (t) => {
  const on = await containers(t)
  assert.equal(whyNoServer(), undefined)
  await makeBases(t, on)
  const build = (tag: string, ...more: string[]) => {
    const from = Object.entries({ ...bases, COMMIT: commit }).flatMap(([name, value]) => [
      '--build-arg',
      `${name}=${value}`
    ])
    const trusted = ['--volume', `${certificates()}:${authority}:ro`, '--network', 'host']
    const how = ['--layers', '--isolation', 'oci', '--format', 'docker', ...trusted, ...from, ...more]
    return on.buildah(['build', ...how, '--tag', tag, '--file', 'deploy/container/Containerfile', '.'], root)
  }
  const sizeOf = async (name: string) => inMB(await on.podman(['image', 'inspect', '--format', '{{.Size}}', name]))

  await t.test('has less than 250 MB without the embedded PostgreSQL', async () => {
    await build('tidings:latest')
    const [whole, debian] = [await sizeOf('tidings:latest'), await sizeOf(bases.BASE_IMAGE)]
    t.diagnostic(`${process.arch}: ${whole} MB, of them ${debian} Debian`)
    assert.ok(whole < 250, `${whole} MB`)
  })

  await t.test('belongs to root, except for the folder of its data', async () => {
    const script = 'id -u; find / -xdev -writable -not -type l 2>/dev/null; true'
    const said = await on.podman(['run', '--rm', '--entrypoint', 'sh', 'tidings:latest', '-c', script])
    assert.deepEqual(said.trim().split('\n').sort(), ['/data', '/run/lock', '/tmp', '/var/tmp', '10001'])
  })

  await t.test('runs the nodes of compose.nodes.yaml on a PostgreSQL of Debian', async (t) => {
    const folder = await temporaryFolder(t)
    await chmod(folder, 0o755)
    const server = await startPlain(folder)
    t.after(() => server.end('SIGINT'))
    await onServer(server.url(), async (query) => {
      await query(`create role tidings login password 'choose-one'`)
      await query('create database tidings owner tidings')
    })
    const variables = { POSTGRES_PASSWORD: 'choose-one', MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
    const { migrate, api, worker } = services('compose.nodes.yaml', { ...variables, METRICS_TOKEN: 'read-me' })
    const env = {
      DATABASE_URL: api.environment.DATABASE_URL.replace('@postgres/', `@127.0.0.1:${server.port}/`)
    }
    await runOnce(on, migrate, env)
    const ports = (await freePorts(3)).map(String) as [string, string, string]
    const first = await start(on, 'api', api, { ...env, PORT: ports[0] })
    const workers = await Promise.all(
      ports.slice(1).map((port, index) => start(on, `worker-${index}`, worker, { ...env, PORT: port }))
    )
    const all = [first, ...workers]
    for (const one of all) await assertNoRights(one)
    for (const one of all) await assertHealthCheck(one)
    assert.equal((await ask(first.url, 'GET', '/version')).json.commit, commit)
    await assertConsole(first)
    await assertPush(first)
    await assertCampaign(first)
    const nodes = JSON.parse(await first.exec('tidings', 'nodes', '--json'))
    assert.deepEqual(nodes.items.map(({ role }: Json) => role).sort(), ['api', 'worker', 'worker'])
    for (const one of all) await assertStops(one)
  })

  await t.test(
    'runs the node of compose.yaml, which keeps its own PostgreSQL in a volume, also when it is killed',
    async () => {
      await build('tidings:embedded', '--build-arg', 'EMBEDDED=yes')
      t.diagnostic(`${process.arch}: ${await sizeOf('tidings:embedded')} MB with the embedded PostgreSQL`)
      const { tidings } = services('compose.yaml', {})
      const [port] = await freePorts(1)
      const env = { PORT: String(port) }
      const first = await start(on, 'tidings', tidings, env)
      await assertNoRights(first)
      await assertHealthCheck(first)
      await assertConsole(first)
      await assertPush(first)
      await assertStops(first)
      // Twice, because then PostgreSQL has the process id that it had before.
      for (const _ of ['once', 'twice']) await (await start(on, 'tidings', tidings, env)).kill()
      const last = await start(on, 'tidings', tidings, env)
      assert.match(await last.exec('tidings', 'inbox', '--json'), /It works/)
      await assertStops(last)
    }
  )

  async function assertNoRights(one: Container): Promise<void> {
    const status = await one.process('status')
    const of = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]
    assert.equal(of('Uid'), '10001\t10001\t10001\t10001')
    for (const name of ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(of(name)!, /^0+$/, `${one.name}: ${name}`)
    assert.deepEqual([of('NoNewPrivs'), of('Seccomp')], ['1', '2'])
    assert.match(await one.process('mounts'), /^\S+ \/ overlay ro,/m)
    await assert.rejects(one.exec('touch', '/opt/tidings/x'), /Read-only file system/)
  }

  async function assertHealthCheck(one: Container): Promise<void> {
    await on.podman(['healthcheck', 'run', one.name])
    const inspected = JSON.parse(await on.podman(['image', 'inspect', 'tidings:latest']))
    const [kind, ...command] = inspected[0].Healthcheck.Test
    assert.equal(kind, 'CMD')
    const [closed] = await freePorts(1)
    await assert.rejects(on.podman(['exec', '--env', `PORT=${closed}`, one.name, ...command]), /ended with 1/)
  }

  async function assertConsole({ url }: Container): Promise<void> {
    const page = await ask(url, 'GET', '/console/')
    assert.equal(page.status, 200)
    const [, script] = /<script[^>]* src="([^"]+\.js)"/.exec(page.text) ?? []
    const loaded = await ask(url, 'GET', new URL(script!, `${url}/console/`).pathname)
    assert.equal(loaded.status, 200)
    assert.match(String(loaded.headers['content-type']), /javascript/)
  }

  async function assertPush(one: Container): Promise<void> {
    const body = '{"push_notifications":[{"target":{"project_user_id":"demo-user"},"title":"Hello","body":"It works"}]}'
    const { secret_key } = await credentials(one)
    const keys = `-H 'X-Service-Project-ID: demo' -H 'X-Service-API-Key: ${secret_key}' -H 'Content-Type: application/json'`
    await paste(t, `curl -X POST ${one.url}/api/v1/messages:send ${keys} -d '${body}'`)
    await eventually(async () => assert.match(await one.exec('tidings', 'inbox', '--json'), /It works/))
  }

  /** The keys that the first start has made. */
  async function credentials(one: Container): Promise<Json> {
    return JSON.parse(await one.exec('cat', '/data/credentials.json'))
  }

  /** A broadcast is a job, so that a worker sends it. */
  async function assertCampaign(one: Container): Promise<void> {
    const campaign = { campaign_id: 'news', name: 'News', status: 'active', message: { title: 'From a worker' } }
    const { admin_token, secret_key } = await credentials(one)
    const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': secret_key }
    const saved = await ask(one.url, 'PUT', '/manage/v1/projects/demo/campaigns/news', {
      json: campaign,
      headers: { authorization: `Bearer ${admin_token}` }
    })
    assert.equal(saved.status, 200, saved.text)
    const json = { audience: { broadcast: true } }
    const reply = await ask(one.url, 'POST', '/api/v1/campaigns/news:trigger', { json, headers })
    assert.equal(reply.status, 200, reply.text)
    await eventually(async () => assert.match(await one.exec('tidings', 'inbox', '--json'), /From a worker/), 30_000)
  }

  async function assertStops(one: Container): Promise<void> {
    const { code, seconds } = await one.stop()
    t.diagnostic(`${one.name} stopped after ${seconds.toFixed(1)} s`)
    assert.equal(code, 0)
  }
})
