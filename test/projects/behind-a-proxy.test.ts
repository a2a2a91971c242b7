import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseTrustProxy, trusts } from '../../src/platform/http/trust-proxy.ts'
import { startService } from '../support/service.ts'

const direct = await startService()
const oneProxy = await direct.another({ TRUST_PROXY: 'true' })
const twoProxies = await direct.another({ TRUST_PROXY: '2' })
const ours = await direct.another({ TRUST_PROXY: 'loopback,10.0.0.0/8' })
const foreign = await direct.another({ TRUST_PROXY: '10.0.0.0/8' })
type Service = typeof direct

const card = (service: Service, headers: Record<string, string>) =>
  service.ask('GET', '/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0', ...headers } })
const hostOf = (reply: Awaited<ReturnType<typeof card>>) => new URL(reply.json.supportedInterfaces[0].url).host

/** How many wrong sign-ins get 401 before the address gets 429, if each names another address on the left. */
async function failuresBefore429(service: Service, last: string): Promise<number> {
  for (let count = 0; count < 30; count++) {
    const forwarded = { 'x-forwarded-for': `192.0.2.${count}, ${last}` }
    const reply = await service.ask('POST', '/console/session', { headers: forwarded, json: { token: 'svc_at_wrong' } })
    if (reply.status === 429) return count
    assert.equal(reply.status, 401)
  }
  return 30
}

describe('behind proxies', () => {
  it('the address is counted from the right: an address that the client wrote does not evade the sign-in limit', async () => {
    assert.equal(await failuresBefore429(oneProxy, '198.51.100.1'), 10)
    assert.equal(
      await failuresBefore429(twoProxies, '198.51.100.1'),
      30,
      'the second from the right is another each time'
    )
    assert.equal(await failuresBefore429(ours, '198.51.100.1'), 10)
  })

  it('networks: proxies are skipped from the right up to the first address that is none of them', async () => {
    assert.equal(await failuresBefore429(ours, '198.51.100.2, 10.1.2.3'), 10)
  })

  for (const [name, service] of Object.entries({ direct, oneProxy, twoProxies, ours, foreign })) {
    it(`a forwarded loopback address does not open /metrics (${name})`, async () => {
      for (const forwarded of ['127.0.0.1', '127.0.0.1, 8.8.8.8', '::1', '127.0.0.1, 127.0.0.1, 127.0.0.1']) {
        const reply = await service.ask('GET', '/metrics', { headers: { 'x-forwarded-for': forwarded } })
        assert.equal(reply.status, 403, forwarded)
      }
      assert.equal((await service.ask('GET', '/metrics')).status, 200)
    })
  }

  it('X-Forwarded-Host is believed from a trusted proxy only, and no shared cache keeps such a card', async () => {
    const evil = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
    for (const service of [direct, foreign]) assert.notEqual(hostOf(await card(service, evil)), 'evil.example')
    for (const service of [oneProxy, ours]) {
      const reply = await card(service, { 'x-forwarded-host': 'evil.example, shop.example' })
      assert.equal(hostOf(reply), 'shop.example', 'the last one, which our proxy set')
      assert.match(reply.headers['cache-control']!, /^private/)
      assert.match(reply.headers.vary!, /X-Forwarded-Host, X-Forwarded-Proto$/)
    }
    const plain = await card(oneProxy, {})
    assert.deepEqual([plain.headers.vary, plain.headers['cache-control']], ['A2A-Version, Host', 'public, max-age=300'])
  })

  it('the session cookie is Secure when a trusted proxy or PUBLIC_URL says https', async () => {
    const cookieOf = async (service: Service, headers: Record<string, string>) =>
      String(
        (await service.ask('POST', '/console/session', { headers, json: { token: direct.adminToken } })).headers[
          'set-cookie'
        ]
      )
    const https = { 'x-forwarded-proto': 'https' }
    assert.match(await cookieOf(ours, https), /; Secure$/)
    assert.doesNotMatch(await cookieOf(foreign, https), /Secure/)
    const published = await direct.another({ PUBLIC_URL: 'https://tidings.example.com' })
    assert.match(await cookieOf(published, {}), /; Secure$/)
  })
})

describe('TRUST_PROXY', () => {
  const readings = [
    ['true', 1],
    ['1', 1],
    ['2', 2],
    ['0', false],
    ['false', false],
    ['loopback, 10.0.0.0/8', ['loopback', '10.0.0.0/8']],
    ['2001:db8::/32,192.0.2.1', ['2001:db8::/32', '192.0.2.1']]
  ] as const
  for (const [text, value] of readings)
    it(`${text} is read as ${JSON.stringify(value)}`, () => assert.deepEqual(parseTrustProxy(text), value))

  it('networks hold their addresses, also as IPv6 spells them', () => {
    const trust = trusts(['loopback', 'uniquelocal', '192.0.2.1', '2001:db8::/32'])
    assert.ok(trust)
    for (const address of ['127.0.0.9', '::1', '::ffff:127.0.0.1', '10.1.1.1', 'fd00::1', '192.0.2.1', '2001:db8::9'])
      assert.ok(trust(address, 0), address)
    for (const address of ['192.0.2.2', '8.8.8.8', '2001:db9::1', 'unknown', '', '10.1.1.1:80'])
      assert.ok(!trust(address, 0), address)
  })
})
