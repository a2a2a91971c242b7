import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createCheck } from '../../src/gateways/credentials/check.ts'
import type { ApnsCredential, FcmCredential } from '../../src/gateways/credentials/credential.ts'
import { createGatewayCredentials } from '../../src/gateways/credentials/credentials.ts'
import { createProviderTokens } from '../../src/gateways/credentials/provider-tokens.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { insertProject } from '../../src/projects/store.ts'
import { createApnsCredentials, createServiceAccount, type SimulatorOptions } from '../../src/simulator/simulator.ts'
import { simulator } from '../simulator/client.ts'
import { testPool } from '../support/database.ts'
import { apnsBody, apnsCredential, fcmCredential, standIns, vapidBody } from './credentials.ts'

const key = Buffer.alloc(32, 7)

async function setUp(t: TestContext, options: SimulatorOptions = {}) {
  const sim = await simulator(t, options)
  const pool = await testPool(t)
  const check = createCheck(createProviderTokens({ pool, key }))
  const apns = (change: Partial<ApnsCredential> = {}) => check({ ...apnsCredential(standIns(sim)), ...change })
  const fcm = (change: Partial<FcmCredential> = {}) => check({ ...fcmCredential(standIns(sim)), ...change })
  return { sim, pool, check, apns, fcm }
}

describe('a check', () => {
  it('accepts a credential that the gateway accepts, and gives the reason of a refusal', async (t) => {
    const { apns, fcm } = await setUp(t, { webpush: false, apns: { topics: ['com.example.app'] } })
    const yes = await apns()
    assert.deepEqual([yes.ok, /^Apple accepts the key \w{10} for com\.example\.app\.$/.test(yes.message)], [true, true])
    const stranger = await createApnsCredentials()
    const wrongKey = await apns({ privateKey: stranger.privateKey })
    assert.equal(wrongKey.ok, false)
    assert.match(wrongKey.message, /InvalidProviderToken\. The key, its key_id and the team_id do not belong together/)
    const wrongTopic = await apns({ topic: 'com.example.other' })
    assert.equal(wrongTopic.ok, false)
    assert.match(wrongTopic.message, /TopicDisallowed|BadTopic|DeviceTokenNotForTopic/)

    assert.deepEqual(await fcm(), { ok: true, message: 'Google accepts the service account for simulated.' })
    const account = await createServiceAccount()
    const refused = await fcm({ privateKey: account.private_key })
    assert.equal(refused.ok, false)
    assert.match(refused.message, /Google refuses the service account .*Invalid JWT Signature/)
    const elsewhere = await fcm({ firebaseProject: 'another' })
    assert.equal(elsewhere.ok, false, elsewhere.message)
  })

  it('names the cause where the gateway cannot be reached or trusted', async (t) => {
    const { apns, fcm, sim } = await setUp(t, { webpush: false })
    assert.match(
      (await apns({ origin: 'https://127.0.0.1:1' })).message,
      /127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/
    )
    const { ca: _, ...untrusted } = apnsCredential(standIns(sim))
    const said = await createCheck({ of: async () => 'x' })(untrusted)
    assert.match(said.message, /cannot be reached: .*certificate/)
    const nowhere = await apns({ origin: 'https://nowhere.invalid' })
    assert.match(nowhere.message, /^nowhere\.invalid cannot be reached: getaddrinfo/)
    sim.faults.set('all', { down: true })
    assert.equal((await apns()).ok, false)
    assert.equal((await fcm()).ok, false)
  })

  it('of a project has a result for each credential, and repeats a recent result instead of asking again', async (t) => {
    const pool = await testPool(t)
    const shop = 'shop' as ProjectId
    const row = {
      name: 'x',
      mode: 'live' as const,
      plan: 'standard',
      limits: {},
      retention: {},
      created_at: new Date()
    }
    await insertProject(pool, { project_id: shop, ...row })
    const asked: string[] = []
    const gateways = createGatewayCredentials({
      pool,
      key,
      changed: () => {},
      check: async (credential) => {
        asked.push(`${credential.origin} ${credential.version}`)
        if (credential.gateway === 'apns' && credential.environment === 'sandbox') throw new Error('no way')
        return { ok: true, message: 'fine' }
      }
    })
    const body = await apnsBody()
    await gateways.save('test', shop, 'apns', body)
    await gateways.save('test', shop, 'webpush', vapidBody())
    await assert.rejects(gateways.check(shop, 'fcm'), /no credential for fcm/)
    const results = await gateways.check(shop, 'apns')
    assert.deepEqual(
      results.map(({ environment, ok, message }) => [environment, ok, message]),
      [
        ['production', true, 'fine'],
        ['sandbox', false, 'The check failed: no way']
      ]
    )
    await gateways.check(shop, 'apns')
    assert.deepEqual(asked, ['https://api.push.apple.com 1', 'https://api.sandbox.push.apple.com 1'])
    await gateways.save('test', shop, 'apns', { ...body, environment: 'production' })
    await gateways.check(shop, 'apns')
    assert.deepEqual(asked.slice(2), ['https://api.push.apple.com 2'], 'what was saved anew is asked about anew')
  })
})
