import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it, mock } from 'node:test'
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client'
import { createRemoteJWKSet, decodeProtectedHeader, flattenedVerify } from 'jose'
import { readConfig } from '../../src/platform/config/config.ts'
import type { Json } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'

// The SDK prints each signature that it cannot verify.
mock.method(console, 'debug', () => {})
const folder = await mkdtemp(join(tmpdir(), 'tidings-keys-'))
after(() => rm(folder, { recursive: true, force: true }))
const p256 = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
const ed25519 = generateKeyPairSync('ed25519').privateKey
const file = join(folder, 'card.pem')
await writeFile(file, ed25519.export({ type: 'pkcs8', format: 'pem' }))

const nodes = {
  ES256: await startService({ A2A_CARD_KEY: JSON.stringify(p256.export({ format: 'jwk' })) }),
  EdDSA: await startService({ A2A_CARD_KEY: file })
}
const card = (service: TestService, headers: Record<string, string> = {}) =>
  service.ask('GET', '/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0', ...headers } })

/** Verifies as a reader of cards does: with the key from the address that the signature names. */
const verify = verifyAgentCardSignature(async (kid, jku) => {
  const { keys } = (await (await fetch(jku!)).json()) as Json
  return keys.find((key: Json) => key.kid === kid)
})

for (const [alg, service] of Object.entries(nodes)) {
  describe(`a card signed with ${alg}`, () => {
    it('is verified by the official SDK, also as its client reads it, and the extended one too', async () => {
      await verify((await card(service)).json)
      const project = await service.project()
      const fetchImpl: typeof fetch = (input, init) =>
        fetch(input, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-api-key': project.secretKey }
        })
      const client = await new ClientFactory({
        transports: [new JsonRpcTransportFactory({ fetchImpl })],
        cardResolver: new DefaultAgentCardResolver({ fetchImpl })
      }).createFromUrl(service.url)
      const extended = await client.getAgentCard()
      assert.ok(extended.description.includes(project.id))
      // The verifier needs the JSON of a card: it loses the security schemes of a card that the client has decoded.
      await verify(AgentCard.toJSON(extended) as AgentCard)
    })

    it('is verified with the skills of our extension on it', async () => {
      const project = await service.project()
      const headers = {
        'x-api-key': project.secretKey,
        'a2a-version': '1.0',
        'a2a-extensions': 'urn:tidings:a2a:skills:1'
      }
      const json = { jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard' }
      const { result } = (await service.ask('POST', '/a2a', { json, headers })).json
      assert.ok(result.skills.length > 4 && result.capabilities.extensions.length === 1)
      await verify(result)
    })

    it('is verified over the canonical JSON of the protocol, which keeps empty objects', async () => {
      const { signatures, ...read } = (await card(service)).json
      assert.deepEqual(read.securityRequirements, [{ schemes: { apiKey: { list: [] } } }])
      const form = { ...read, securityRequirements: [{ schemes: { apiKey: {} } }] }
      const payload = Buffer.from(JSON.stringify(sorted(form))).toString('base64url')
      const jwks = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
      const results = await Promise.allSettled(
        signatures.map((signature: Json) => flattenedVerify({ ...signature, payload }, jwks))
      )
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    })

    it('is not verified after a change', async () => {
      const read = (await card(service)).json
      for (const changed of [
        { ...read, name: 'Another agent' },
        { ...read, supportedInterfaces: [{ ...read.supportedInterfaces[0], url: 'https://evil.example/a2a' }] },
        { ...read, securitySchemes: {} },
        { ...read, skills: read.skills.slice(1) }
      ])
        await assert.rejects(verify(changed), /No valid signatures/)
    })

    it('names its key, which is public', async () => {
      const { keys } = (await service.ask('GET', '/.well-known/jwks.json')).json
      assert.deepEqual([keys.length, keys[0].alg, keys[0].d], [1, alg, undefined])
      for (const signature of (await card(service)).json.signatures)
        assert.deepEqual(decodeProtectedHeader(signature), {
          alg,
          typ: 'JOSE',
          kid: keys[0].kid,
          jku: `${service.url}/.well-known/jwks.json`
        })
    })

    it('keeps its bytes, so that a reader gets 304', async () => {
      const first = await card(service)
      const again = await card(service, { 'if-none-match': first.headers.etag! })
      assert.equal(again.status, 304)
      for (let host = 0; host < 150; host += 1) await card(service, { host: `h${host}.example` })
      await verify((await card(service)).json)
    })

    it('is that of 1.0 alone', async () => {
      assert.equal((await card(service, { 'a2a-version': '0.3' })).json.signatures, undefined)
    })
  })
}

describe('A2A_CARD_KEY', () => {
  it('is optional: without it there are no signatures and no keys', async () => {
    const service = await nodes.ES256.another({ A2A_CARD_KEY: '' })
    assert.equal((await card(service)).json.signatures, undefined)
    assert.equal((await service.ask('GET', '/.well-known/jwks.json')).status, 404)
    await service.close()
  })

  it('must be a private key of a kind that is taken, and a refusal does not repeat it', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const secret = 'c2VjcmV0LXBhcnQ'
    for (const text of [
      rsa.export({ type: 'pkcs8', format: 'pem' }).toString(),
      generateKeyPairSync('ec', { namedCurve: 'secp384r1' })
        .privateKey.export({ type: 'pkcs8', format: 'pem' })
        .toString(),
      generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      `{"kty":"OKP","crv":"Ed25519","d":"${secret}"`,
      `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----`,
      join(folder, 'absent.pem')
    ])
      assert.throws(
        () => readConfig({ A2A_CARD_KEY: text }),
        ({ message }: Error) => message.includes('A2A_CARD_KEY: must be a private key') && !message.includes(secret)
      )
  })
})

const sorted = (value: Json): Json =>
  Array.isArray(value)
    ? value.map(sorted)
    : value !== null && typeof value === 'object'
      ? Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((name) => [name, sorted(value[name])])
        )
      : value
