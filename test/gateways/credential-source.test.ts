import assert from 'node:assert/strict'
import { describe, it, type TestContext, test } from 'node:test'
import { createGatewayCredentials } from '../../src/gateways/credentials/credentials.ts'
import { createCredentialSource } from '../../src/gateways/credentials/source.ts'
import type { Pool } from '../../src/platform/db/db.ts'
import { createListener, type Listener } from '../../src/platform/db/listen.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import type { Mode } from '../../src/projects/projects.ts'
import { insertProject } from '../../src/projects/store.ts'
import type { SimulatedGateways } from '../../src/simulator/simulator.ts'
import { testPool } from '../support/database.ts'
import { silentLog } from '../support/log.ts'
import { eventually } from '../support/service.ts'
import { apnsBody, serviceAccount, vapidBody } from './credentials.ts'

const key = Buffer.alloc(32, 7)
const presence = { name: undefined, isGone: async () => false }
const deaf: Listener = { on() {}, presence, close: async () => {} }

async function setUp(t: TestContext, options: { listener?: Listener; clock?: () => number } = {}) {
  const pool = await testPool(t)
  const modes = new Map<string, Mode>()
  const asked: string[] = []
  const source = createCredentialSource({
    pool,
    listener: options.listener ?? deaf,
    key,
    projectOf: async (id) => (modes.has(id) ? { mode: modes.get(id)! } : undefined),
    simulated: async (id) => {
      asked.push(id)
      return standIns
    },
    ...(options.clock && { clock: options.clock })
  })
  const project = async (id: string, mode: Mode = 'live'): Promise<ProjectId> => {
    const row = { name: id, mode, plan: 'standard', limits: {}, retention: {}, created_at: new Date() }
    await insertProject(pool, { project_id: id as ProjectId, ...row })
    modes.set(id, mode)
    return id as ProjectId
  }
  const gateways = createGatewayCredentials({
    pool,
    key,
    check: async () => ({ ok: true, message: '' }),
    changed: source.forget
  })
  return { pool, source, project, modes, asked, gateways }
}

const standIns: SimulatedGateways = {
  version: 1,
  ca: 'CA',
  apns: {
    origin: 'https://127.0.0.1:1',
    channelsOrigin: 'https://127.0.0.1:3',
    sandbox: { origin: 'https://127.0.0.1:2', channelsOrigin: 'https://127.0.0.1:4' },
    keyId: 'K',
    teamId: 'T',
    privateKey: 'P',
    topic: 'com.example.sim'
  },
  fcm: {
    origin: 'https://127.0.0.1:2',
    tokenUri: 'https://127.0.0.1:2/token',
    firebaseProject: 'simulated',
    clientEmail: 'a@b',
    privateKeyId: 'i',
    privateKey: 'P'
  },
  webpush: { origin: 'https://127.0.0.1:3', subject: 'mailto:a@example.com', publicKey: 'B', privateKey: 'C' }
}

test('a live project gets its saved credential, with the addresses of the real gateways', async (t) => {
  const { source, project, gateways, asked } = await setUp(t)
  const shop = await project('shop')
  assert.equal(await source.find(shop, 'apns', 'production', null), null)
  const [apns, account, vapid] = [await apnsBody(), await serviceAccount(), vapidBody()]
  await gateways.save('test', shop, 'apns', apns)
  await gateways.save('test', shop, 'fcm', { service_account: account })
  await gateways.save('test', shop, 'webpush', vapid)

  const { id, ...production } = (await source.find(shop, 'apns', 'production', null))!
  assert.deepEqual(production, {
    version: 1,
    projectId: shop,
    simulated: false,
    gateway: 'apns',
    origin: 'https://api.push.apple.com',
    environment: 'production',
    keyId: apns.key_id,
    teamId: apns.team_id,
    privateKey: apns.key,
    topic: 'com.example.app',
    channelsOrigin: 'https://api-manage-broadcast.push.apple.com:2196'
  })
  const sandbox = (await source.find(shop, 'apns', 'sandbox', 'com.example.app'))!
  assert.equal(sandbox.origin, 'https://api.sandbox.push.apple.com')
  assert.notEqual(sandbox.id, id)
  const fcm = (await source.find(shop, 'fcm', 'production', 'com.example.android'))!
  assert.ok(fcm.gateway === 'fcm')
  assert.deepEqual(
    [fcm.origin, fcm.tokenUri, fcm.firebaseProject, fcm.privateKey],
    ['https://fcm.googleapis.com', 'https://oauth2.googleapis.com/token', account.project_id, account.private_key]
  )
  const web = (await source.find(shop, 'webpush', 'sandbox', null))!
  assert.ok(web.gateway === 'webpush')
  assert.deepEqual([web.origin, web.publicKey, web.privateKey], ['', vapid.public_key, vapid.private_key])
  assert.deepEqual(asked, [], 'a live project never touches the simulator')
  assert.equal(await source.find(await project('other'), 'fcm', 'production', null), null, 'nor another project')
})

test('for APNs the exact topic wins, then the only credential of the environment, then none', async (t) => {
  const { source, project, gateways } = await setUp(t)
  const shop = await project('shop')
  const topicOf = async (environment: 'production' | 'sandbox', app: string | null) => {
    const found = await source.find(shop, 'apns', environment, app)
    return found?.gateway === 'apns' ? found.topic : null
  }
  await gateways.save('test', shop, 'apns', await apnsBody({ topic: 'com.one', environment: 'production' }))
  assert.equal(await topicOf('production', 'com.one'), 'com.one')
  assert.equal(await topicOf('production', 'com.else'), 'com.one')
  assert.equal(await topicOf('production', null), 'com.one')
  assert.equal(await topicOf('sandbox', 'com.one'), null)
  await gateways.save('test', shop, 'apns', await apnsBody({ topic: 'com.two', environment: 'production' }))
  assert.equal(await topicOf('production', 'com.two'), 'com.two')
  assert.equal(await topicOf('production', 'com.one'), 'com.one')
  assert.equal(await topicOf('production', 'com.else'), null)
  assert.equal(await topicOf('production', null), null)
})

describe('a project in simulator mode', () => {
  it('gets simulated credentials and never saved ones, and changes with its mode', async (t) => {
    const { source, project, gateways, modes, asked } = await setUp(t)
    const demo = await project('demo', 'simulator')
    await gateways.save('test', demo, 'apns', await apnsBody())
    const found = (await source.find(demo, 'apns', 'sandbox', 'com.example.app'))!
    assert.ok(found.gateway === 'apns')
    assert.deepEqual(
      [found.simulated, found.origin, found.topic, found.ca, found.environment],
      [true, 'https://127.0.0.1:2', 'com.example.sim', 'CA', 'sandbox']
    )
    assert.equal(await source.find(demo, 'apns', 'sandbox', null), found, 'the same object each time')
    const production = await source.find(demo, 'apns', 'production', null)
    assert.equal(production?.origin, 'https://127.0.0.1:1', 'each environment has its host')
    const fcm = await source.find(demo, 'fcm', 'production', null)
    assert.ok(fcm?.gateway === 'fcm' && fcm.tokenUri === standIns.fcm.tokenUri)
    assert.deepEqual(new Set(asked), new Set(['demo']))
    modes.set('demo', 'live')
    const live = (await source.find(demo, 'apns', 'sandbox', 'com.example.app'))!
    assert.deepEqual([live.simulated, live.ca], [false, undefined])
    modes.delete('demo')
    assert.equal(await source.find(demo, 'apns', 'sandbox', null), null, 'a deleted project has none')
  })
})

describe('a change', () => {
  const saveElsewhere = (pool: Pool, shop: ProjectId, topic: string) =>
    createGatewayCredentials({
      pool,
      key,
      check: async () => ({ ok: true, message: '' }),
      changed: () => {}
    }).save('test', shop, 'webpush', { subject: `mailto:${topic}@example.com` })
  const subject = async (source: ReturnType<typeof createCredentialSource>, shop: ProjectId) => {
    const found = await source.find(shop, 'webpush', 'production', null)
    return found?.gateway === 'webpush' ? found.subject : null
  }

  it('of another process takes effect by its notification', async (t) => {
    // A clock that stands still: nothing expires by itself.
    const pool = await testPool(t)
    const listener = createListener(pool, silentLog)
    t.after(() => listener.close())
    const shop = 'shop' as ProjectId
    const row = { name: 'x', mode: 'live' as Mode, plan: 'standard', limits: {}, retention: {}, created_at: new Date() }
    await insertProject(pool, { project_id: shop, ...row })
    const source = createCredentialSource({
      pool,
      listener,
      key,
      projectOf: async () => ({ mode: 'live' }),
      simulated: async () => null,
      clock: () => 1
    })
    assert.equal(await subject(source, shop), null)
    await eventually(async () => {
      await saveElsewhere(pool, shop, 'one')
      assert.equal(await subject(source, shop), 'mailto:one@example.com')
    })
  })

  it('takes effect after a few seconds without a notification', async (t) => {
    let now = 1_000_000
    const { source, project, pool } = await setUp(t, { clock: () => now })
    const shop = await project('shop')
    assert.equal(await subject(source, shop), null)
    await saveElsewhere(pool, shop, 'one')
    assert.equal(await subject(source, shop), null, 'remembered')
    now += 5_000
    assert.equal(await subject(source, shop), 'mailto:one@example.com')
    await pool.run({ name: '', text: 'delete from gateway_credentials', acrossProjects: 'a test' })
    now += 5_000
    assert.equal(await subject(source, shop), null)
  })
})
