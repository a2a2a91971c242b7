import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { decodeJwt, decodeProtectedHeader, importSPKI, jwtVerify } from 'jose'
import { type FcmCredential, ProviderTokenFailed } from '../../src/gateways/credentials/credential.ts'
import { createProviderTokens, type ProviderTokenOptions } from '../../src/gateways/credentials/provider-tokens.ts'
import { requestAccessToken } from '../../src/gateways/fcm/oauth.ts'
import type { Pool } from '../../src/platform/db/db.ts'
import type { ProjectId } from '../../src/platform/ids.ts'
import { createCredentials } from '../../src/simulator/simulator.ts'
import { connect, request, simulator } from '../simulator/client.ts'
import { testPool } from '../support/database.ts'
import { eventually } from '../support/service.ts'
import { apnsCredential, fcmCredential, standIns } from './credentials.ts'

const key = Buffer.alloc(32, 7)
const minuteMs = 60_000

/** Processes on one database, with one clock that the test moves. */
async function setUp(t: TestContext) {
  const pool = await testPool(t)
  const clock = { now: Date.now() }
  const process = (more: Partial<ProviderTokenOptions> = {}) =>
    createProviderTokens({ pool, key, clock: () => clock.now, ...more })
  return { pool, clock, process }
}

const rows = (pool: Pool) =>
  pool.query<{ name: string; token: string }>({
    name: '',
    text: 'select name, token from provider_tokens',
    acrossProjects: 'a test'
  })

const someone = await createCredentials()
const gateways = standIns({ ca: 'CA', credentials: someone } as never)
const apns = apnsCredential(gateways)
const fcm = fcmCredential(gateways)

describe('a provider token for APNs', { concurrency: 4 }, () => {
  it('is an ES256 JWT of the team that another library verifies, stored sealed', async (t) => {
    const { pool, clock, process } = await setUp(t)
    const token = await process().of(apns)
    const publicKey = await importSPKI(someone.apns.publicKey, 'ES256')
    const { payload, protectedHeader } = await jwtVerify(token, publicKey)
    assert.deepEqual(protectedHeader, { alg: 'ES256', kid: apns.keyId })
    assert.deepEqual(payload, { iss: apns.teamId, iat: Math.floor(clock.now / 1000) })
    const [row, ...others] = await rows(pool)
    assert.equal(others.length, 0)
    assert.match(row!.token, /^v1\./)
    assert.ok(!JSON.stringify(row).includes(token.split('.')[2]!) && !row!.name.includes(apns.keyId))
  })

  it('is one for all processes that request it at once', async (t) => {
    const { process } = await setUp(t)
    const processes = Array.from({ length: 4 }, () => process())
    const tokens = await Promise.all(processes.flatMap((each) => [each.of(apns), each.of({ ...apns }), each.of(apns)]))
    assert.equal(new Set(tokens).size, 1)
    assert.equal(await process().of({ ...apns, projectId: 'another' as ProjectId }), tokens[0], 'Apple counts by team')
  })

  it('is renewed after 50 minutes, by one process for all', async (t) => {
    const { clock, process } = await setUp(t)
    const [one, two] = [process(), process()]
    const first = await one.of(apns)
    assert.equal(await two.of(apns), first)
    clock.now += 49 * minuteMs
    assert.equal(await one.of(apns), first)
    clock.now += 2 * minuteMs
    assert.equal(await one.of(apns), first, 'it is good for a while, and the next is made meanwhile')
    const second = await eventually(async () => {
      const now = await one.of(apns)
      assert.notEqual(now, first)
      return now
    })
    await eventually(async () => assert.equal(await two.of(apns), second))
    assert.equal(await process().of(apns), second)
    assert.equal(decodeJwt(second).iat, Math.floor(clock.now / 1000))
    clock.now += 60 * minuteMs
    assert.notEqual(await one.of(apns), second, 'one that has ended is not presented')
  })

  it('that is called expired is replaced once for all, and not within 20 minutes', async (t) => {
    const { clock, process } = await setUp(t)
    const [one, two] = [process(), process()]
    const first = await one.of(apns)
    await two.of(apns)
    clock.now += 19 * minuteMs
    assert.equal(await one.of(apns, first), first, 'too young: Apple would refuse the change')
    clock.now += 2 * minuteMs
    const again = await Promise.all([
      one.of(apns, first),
      two.of(apns, first),
      one.of(apns, first),
      two.of(apns, first)
    ])
    const [second] = again
    assert.notEqual(second, first)
    assert.deepEqual(new Set(again), new Set([second]))
    clock.now += minuteMs
    assert.equal(await one.of(apns, first), second, 'late reports of the first one change nothing')
    assert.equal(await two.of(apns, second), second, 'nor does a refusal of the new one, yet')
    assert.equal(await process().of(apns, second), second)
  })

  it('is not given to a project that only claims the team and the key', async (t) => {
    const { process } = await setUp(t)
    const tokens = process()
    const other = await createCredentials()
    const claimed = { ...apns, privateKey: other.apns.privateKey }
    const [own, forged] = [await tokens.of(apns), await tokens.of(claimed)]
    assert.notEqual(forged, own)
    await assert.rejects(jwtVerify(forged, await importSPKI(someone.apns.publicKey, 'ES256')))
  })

  it('is made anew where the stored one was sealed with another master key', async (t) => {
    const { process } = await setUp(t)
    const first = await process().of(apns)
    const second = await process({ key: Buffer.alloc(32, 8) }).of(apns)
    assert.deepEqual(decodeProtectedHeader(second), decodeProtectedHeader(first))
  })

  it('is made by another process when the one that makes it dies', async (t) => {
    const { pool, process } = await setUp(t)
    const before = await process().of(apns)
    // The row of a process that was killed between claiming it and writing to it.
    await pool.run({
      name: '',
      text: `update provider_tokens set token = '', issued_at = to_timestamp(0), refresh_at = to_timestamp(0),
                    expires_at = to_timestamp(0), held_by = gen_random_uuid(), held_until = now() + interval '1 second'`,
      acrossProjects: 'a test'
    })
    const [after, same] = await Promise.all([process().of(apns), process().of(apns)])
    assert.notEqual(after, before)
    assert.equal(same, after)
  })
})

// These tests wait for pauses after failures.
describe('an access token for FCM', { concurrency: 4 }, () => {
  it('comes from the token endpoint once, by one process for all, and the gateway takes it', async (t) => {
    const sim = await simulator(t, { apns: false, webpush: false })
    const { process } = await setUp(t)
    const credential = fcmCredential(standIns(sim))
    let asked = 0
    const exchange = (asking: FcmCredential, nowMs: number) => {
      asked += 1
      return requestAccessToken(asking, nowMs)
    }
    const processes = [process({ exchange }), process({ exchange }), process({ exchange })]
    const tokens = await Promise.all(processes.flatMap((each) => [each.of(credential), each.of({ ...credential })]))
    assert.match(tokens[0]!, /^ya29\.sim-/)
    assert.equal(new Set(tokens).size, 1)
    assert.equal(asked, 1)
    const session = await connect(t, sim.fcm!.url, sim.ca)
    const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' }
    const push = JSON.stringify({ message: { token: 'device:abc', notification: { title: 'Hello' } } })
    assert.equal((await request(session, '/v1/projects/simulated/messages:send', headers, push)).status, 200)
  })

  it('is renewed at 80 % of its life, and still presented meanwhile', async (t) => {
    const { clock, process } = await setUp(t)
    let made = 0
    const exchange = async () => ({ token: `token ${++made}`, lifeMs: 1_000_000 })
    const tokens = process({ exchange })
    assert.equal(await tokens.of(fcm), 'token 1')
    clock.now += 790_000
    assert.equal(await tokens.of(fcm), 'token 1')
    clock.now += 20_000
    assert.equal(await tokens.of(fcm), 'token 1')
    await eventually(async () => assert.equal(await tokens.of(fcm), 'token 2'))
    assert.equal(await process({ exchange }).of(fcm), 'token 2')
    assert.equal(made, 2)
    clock.now += 50_000
    assert.equal(await tokens.of(fcm, 'token 2'), 'token 2', 'refused a moment after it was made')
    clock.now += 20_000
    assert.equal(await tokens.of(fcm, 'token 2'), 'token 3')
    assert.equal(made, 3)
  })

  it('that cannot be renewed is presented while it lasts', async (t) => {
    const { clock, process } = await setUp(t)
    let down = false
    const tokens = process({
      exchange: async () => {
        if (down) throw new ProviderTokenFailed('unavailable', 'away')
        return { token: 'token', lifeMs: 1_000_000 }
      }
    })
    await tokens.of(fcm)
    down = true
    clock.now += 900_000
    for (let index = 0; index < 3; index += 1) assert.equal(await tokens.of(fcm), 'token')
    clock.now += 100_000
    await assert.rejects(tokens.of(fcm), /away/)
  })

  it('is not requested again at once after a failure, in this process or another', async (t) => {
    const { pool, clock, process } = await setUp(t)
    let asked = 0
    const exchange = async () => {
      asked += 1
      throw new ProviderTokenFailed('unavailable', 'away')
    }
    const [one, two] = [process({ exchange }), process({ exchange })]
    const began = await pool.one<{ at: Date }>({ name: '', text: 'select now() as at', acrossProjects: '' })
    for (let index = 0; index < 5; index += 1) await assert.rejects(one.of(fcm), /away/)
    assert.equal(asked, 1)
    const held = await pool.one<{ until: Date }>({
      name: '',
      text: 'select held_until as until from provider_tokens',
      acrossProjects: ''
    })
    assert.ok(held!.until.getTime() >= began!.at.getTime() + 2_000, 'no process may take it before')
    await assert.rejects(two.of(fcm), /away/)
    assert.equal(asked, 2)
    clock.now += 2_500
    await assert.rejects(one.of(fcm), /away/)
    assert.equal(asked, 3)
  })

  it('fails with a cause: a wrong key, an unknown account, an endpoint that is unreachable, silent or missing', async (t) => {
    const sim = await simulator(t, { apns: false, webpush: false })
    const { process } = await setUp(t)
    const credential = fcmCredential(standIns(sim))
    const failureOf = async (change: object) => {
      const error = await process()
        .of({ ...credential, ...change })
        .then(
          () => assert.fail('a token'),
          (thrown: unknown) => thrown
        )
      assert.ok(error instanceof ProviderTokenFailed, String(error))
      return `${error.kind}: ${error.message}`
    }
    const stranger = (await createCredentials()).fcm
    assert.match(
      await failureOf({ privateKey: stranger.private_key }),
      /^refused: Google refuses .*Invalid JWT Signature/
    )
    assert.match(await failureOf({ clientEmail: 'no@x.iam.gserviceaccount.com' }), /^refused: .*account not found/)
    // Each credential leads to its own token, because after a failure no process requests the same token for a while.
    assert.match(await failureOf({ ca: undefined, privateKeyId: 'a' }), /^unavailable: .*cannot be reached/)
    assert.match(await failureOf({ tokenUri: 'https://127.0.0.1:1/token' }), /^unavailable: .*ECONNREFUSED/)
    assert.match(await failureOf({ tokenUri: `${sim.fcm!.url}/nowhere` }), /^unavailable: .*cannot answer/)
    assert.match(
      await failureOf({ simulated: false, privateKeyId: 'b' }),
      /^refused: Tokens come from https:\/\/oauth2\.googleapis\.com/
    )
    sim.faults.set('fcm', { down: true })
    assert.match(await failureOf({ privateKeyId: 'c' }), /^unavailable: /)
    const silent = createServer().listen(0, '127.0.0.1')
    t.after(() => silent.close())
    await once(silent, 'listening')
    const tokenUri = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/token`
    const asking = requestAccessToken({ ...credential, tokenUri }, Date.now(), 200)
    await assert.rejects(asking, /cannot be reached: no answer within 0\.2 s/)
  })
})
