import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import type { ApnsCredential } from '../../src/gateways/credentials/credential.ts'
import { signJwt } from '../../src/gateways/credentials/jwt.ts'
import { createProviderTokens } from '../../src/gateways/credentials/provider-tokens.ts'
import { vapid } from '../../src/gateways/webpush/vapid.ts'
import { newId } from '../../src/platform/ids.ts'
import { createCredentials } from '../../src/simulator/simulator.ts'
import { simulator } from '../simulator/client.ts'
import { testPool } from '../support/database.ts'
import { standIns, apnsCredential as storedApns, fcmCredential as storedFcm } from './credentials.ts'
import { apnsCredential, push, pushes, send, sendAll, senderFor, tally, webPushCredential } from './senders.ts'

const key = Buffer.alloc(32, 7)
const hourMs = 3_600_000
const gateways = standIns({ ca: 'CA', credentials: await createCredentials() } as never)
const { vapid: vapidKeys } = await createCredentials()
const exchange = async () => ({ token: newId(), lifeMs: hourMs })

describe('a clock that jumps', () => {
  for (const credential of [storedApns(gateways), storedFcm(gateways)]) {
    it(`and is set back leaves no token of the future with ${credential.gateway}: one refresh, for all nodes`, async (t) => {
      const pool = await testPool(t)
      const clock = { now: Date.now() }
      const node = () => createProviderTokens({ pool, key, clock: () => clock.now, exchange })
      const [one, two] = [node(), node()]
      const first = await one.of(credential)
      clock.now += 2 * hourMs
      const ahead = await one.of(credential)
      assert.notEqual(ahead, first, 'by this clock the first has ended')
      clock.now -= 2 * hourMs
      const after = await one.of(credential)
      assert.notEqual(after, ahead)
      if (credential.gateway === 'apns') assert.equal(decodeJwt(after).iat, Math.floor(clock.now / 1000))
      for (const asked of [one, two, node(), one]) assert.equal(await asked.of(credential), after)
      assert.equal(await two.of(credential, ahead), after, 'late reports of the other one change nothing')
    })

    it(`on one node alone costs no refresh with ${credential.gateway}: the clock of the database counts`, async (t) => {
      const pool = await testPool(t)
      const node = () => createProviderTokens({ pool, key, exchange })
      const real = Date.now
      t.after(() => {
        Date.now = real
      })
      const running = node()
      const first = await running.of(credential)
      for (const shiftMs of [2 * hourMs, -2 * hourMs, 0]) {
        Date.now = () => real() + shiftMs
        assert.equal(await running.of(credential), first)
        assert.equal(await node().of(credential), first, 'nor does a start with that clock')
      }
    })
  }

  it('and is set back leaves no VAPID token that ends in more than a day', () => {
    const credential = webPushCredential({ ca: '', credentials: { vapid: vapidKeys } } as never)
    const now = Date.now()
    const expiryOf = (at: number) =>
      decodeJwt(/t=([^,]+)/.exec(vapid(credential, 'https://push.example', at))![1]!).exp! * 1000
    assert.ok(expiryOf(now) <= now + 24 * hourMs)
    expiryOf(now + 30 * hourMs)
    const after = expiryOf(now)
    assert.ok(after > now && after <= now + 24 * hourMs)
    assert.equal(expiryOf(now + hourMs), after, 'and it is used again')
  })
})

describe('a provider token that the gateway does not take because of a clock', () => {
  it('fails no push: where a new one is called expired too, pushes wait and no attempt is counted', async (t) => {
    const sim = await simulator(t)
    const credential = apnsCredential(sim)
    let made = 0
    // Made with a clock that is two hours slow.
    const tokens = { of: async () => jwtOf(credential, Date.now() - 2 * hourMs - 1000 * ++made) }
    const sender = senderFor(t, credential, { providerTokens: tokens })
    for (const outcome of await Promise.all(pushes(30).map((one) => send(sender, one)))) {
      assert.equal(outcome.kind, 'retry', JSON.stringify(outcome))
      assert.ok(outcome.kind === 'retry' && outcome.free)
    }
  })

  it('fails no push of a credential that has worked: a token of the future makes one refresh, then pushes wait', async (t) => {
    const sim = await simulator(t)
    const credential = apnsCredential(sim)
    const [good, ahead] = [jwtOf(credential, Date.now()), jwtOf(credential, Date.now() + 2 * hourMs)]
    let current = good
    const asked: (string | undefined)[] = []
    const of = async (_: unknown, refused?: string) => {
      if (refused !== undefined) asked.push(refused)
      return current
    }
    const sender = senderFor(t, credential, { providerTokens: { of }, settings: { idleMs: 200 } })
    assert.equal((await send(sender, push())).kind, 'accepted')
    current = ahead
    const before = sim.ledger.items().length
    // The pool requests its token every ten seconds; a refusal by the gateway makes it request one at once.
    sim.faults.set('apns', { errorRate: 1, errorStatus: 403 })
    const waiting = await sendAll(sender, pushes(20))
    sim.faults.set('apns', { errorRate: 0 })
    assert.deepEqual(tally(waiting), { 'retry CREDENTIALS_INVALID': 20 })
    assert.ok(sim.ledger.items().length > before)
    assert.equal(asked[0], good)
  })
})

function jwtOf({ keyId, teamId, privateKey }: ApnsCredential, atMs: number): string {
  const claims = { iss: teamId, iat: Math.floor(atMs / 1000) }
  return signJwt('ES256', createPrivateKey(privateKey), { kid: keyId }, claims)
}
