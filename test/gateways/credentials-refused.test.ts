import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCredential } from '../../src/gateways/credentials/parse.ts'
import type { GatewayName } from '../../src/gateways/push.ts'
import { Refusal } from '../../src/platform/errors.ts'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'
import { apnsBody, pemOf, serviceAccount, vapidBody } from './credentials.ts'

const refusalOf = (gateway: GatewayName, body: Record<string, unknown>): Refusal => {
  try {
    parseCredential(gateway, body, undefined)
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    assert.equal(error.code, 'invalid_credential')
    return error
  }
  return assert.fail(`accepted: ${JSON.stringify(body).slice(0, 200)}`)
}

type Case = [what: string, change: Record<string, unknown>, path: string, said: RegExp]

describe('a credential for APNs is refused with its faults,', async () => {
  const good = await apnsBody()
  const { cert } = await makeCertificates({ host: '127.0.0.1' })
  const cases: Case[] = [
    ['without a key', { key: undefined }, 'key', /is missing; it must be the text of the file AuthKey_/],
    ['when the key is a certificate', { key: cert }, 'key', /this is a certificate, not the private key/],
    ['when the key is a public one', { key: pemOf.publicEc() }, 'key', /this is a public key/],
    ['when the key is locked', { key: pemOf.locked() }, 'key', /locked with a passphrase/],
    ['when the key is in SEC 1', { key: pemOf.sec1() }, 'key', /not in PKCS 8; convert it: openssl pkcs8/],
    ['when the key is RSA', { key: pemOf.rsa(2048) }, 'key', /type rsa, not of type EC/],
    ['when the key is Ed25519', { key: pemOf.ed25519() }, 'key', /type ed25519, not of type EC/],
    ['when the key is on another curve', { key: pemOf.ec('P-384') }, 'key', /on the curve secp384r1, not on P-256/],
    ['when the key is cut off', { key: good.key.replace(/.{40}\n(?=-----END)/, '\n') }, 'key', /damaged or cut off/],
    ['when the key is a path', { key: './AuthKey_X.p8' }, 'key', /is not a key; it must be the text of the file/],
    ['when the key is a number', { key: 5 }, 'key', /must be a string/],
    ['when the key is endless', { key: 'x'.repeat(100_000) }, 'key', /longer than any key/],
    ['without a key_id', { key_id: undefined }, 'key_id', /is missing; it must be the 10 letters and digits/],
    ['when the key_id is short', { key_id: 'ABC' }, 'key_id', /the 10 letters and digits/],
    ['when the key_id is in lower case', { key_id: 'abcdefghij' }, 'key_id', /10 letters and digits/],
    ['without a team_id', { team_id: null }, 'team_id', /is missing/],
    ['when the team_id is long', { team_id: 'ABCDE123456' }, 'team_id', /10 letters and digits of the team/],
    ['without a topic', { topic: '' }, 'topic', /bundle id/],
    ['when the topic has a slash', { topic: 'com/example' }, 'topic', /must be the bundle id/],
    ['when the topic has NUL', { topic: 'com.example\u0000' }, 'topic', /must be the bundle id/],
    ['when the topic has a suffix', { topic: 'com.example.app.voip' }, 'topic', /without \.voip/],
    ['when the topic is of a Live Activity', { topic: 'a.b.push-type.liveactivity' }, 'topic', /bundle id alone/],
    ['when the topic begins with the team', { topic: `${good.team_id}.com.a` }, 'topic', /without the team id/],
    ['when the topic is too long', { topic: 'a'.repeat(200) }, 'topic', /at most 155/],
    [
      'when the environment is another word',
      { environment: 'development' },
      'environment',
      /production, sandbox or both/
    ]
  ]
  for (const [what, change, path, said] of cases)
    it(what, () => {
      const { details, message } = refusalOf('apns', { ...good, ...change })
      assert.deepEqual(
        details.map((each) => each.path),
        [path]
      )
      assert.match(details[0]!.message, said)
      assert.ok(message.startsWith(`${path}: `))
    })

  it('all of them at once, and no secret is quoted', () => {
    const { details } = refusalOf('apns', { ...good, key_id: 1, team_id: '', topic: 'x y' })
    assert.deepEqual(
      details.map(({ path }) => path),
      ['key_id', 'team_id', 'topic']
    )
    const broken = good.key.replace(/[A-Za-z0-9]{8}\n/, '\n')
    const refusal = refusalOf('apns', { ...good, key: broken, key_id: '' })
    const body = good.key.split('\n')[1]!
    assert.ok(!JSON.stringify([refusal.message, refusal.details, refusal.stack]).includes(body.slice(10, 30)))
  })

  it('and is taken with one entry for each environment, whatever its line breaks', () => {
    const both = parseCredential('apns', { ...good, key: good.key.replaceAll('\n', '\\n') }, undefined)
    assert.deepEqual(
      both.map(({ environment, app }) => [environment, app]),
      [
        ['production', 'com.example.app'],
        ['sandbox', 'com.example.app']
      ]
    )
    assert.deepEqual(both[0]!.secret, { keyId: good.key_id, teamId: good.team_id, privateKey: good.key })
    assert.ok(!JSON.stringify(both[0]!.facts).includes('PRIVATE'))
    assert.equal(parseCredential('apns', { ...good, key: good.key.replaceAll('\n', '\r\n') }, undefined).length, 2)
    const one = parseCredential('apns', { ...good, environment: 'sandbox' }, undefined)
    assert.deepEqual(
      one.map(({ environment }) => environment),
      ['sandbox']
    )
  })
})

describe('a service account for FCM is refused with its faults,', async () => {
  const good = await serviceAccount()
  const cases: [what: string, account: unknown, path: string, said: RegExp][] = [
    ['when it is absent', undefined, '', /is missing; it must be the file of a service account/],
    ['when it is no JSON', '{"type":', '', /is not JSON/],
    ['N11: when it is too long', '['.repeat(70_000), '', /is 70 KB long, and at most 64 KB is read/],
    ['when it is nested 50,000 deep', '['.repeat(50_000), '', /is not JSON/],
    ['when it is deep and whole', '['.repeat(20_000) + ']'.repeat(20_000), '', /must be an object|is not JSON/],
    ['when it is a list', [good], '', /must be an object/],
    ['when it is a number', 5, '', /must be an object/],
    ['when it is google-services.json', { project_info: {} }, '', /this is google-services\.json/],
    ['when it is the configuration of a web app', { apiKey: 'x' }, '', /configuration of a web app/],
    ['when it is an OAuth client', { installed: {} }, '', /this is an OAuth client/],
    ['when it is of a person', { ...good, type: 'authorized_user' }, '.type', /must be service_account/],
    ['without project_id', { ...good, project_id: undefined }, '.project_id', /is missing/],
    ['when project_id leads elsewhere', { ...good, project_id: 'a/../b' }, '.project_id', /id of the Firebase project/],
    [
      'when client_email is a person',
      { ...good, client_email: 'a@b.c' },
      '.client_email',
      /address of a service account/
    ],
    ['without private_key_id', { ...good, private_key_id: 7 }, '.private_key_id', /must be a string/],
    ['when private_key_id is no hex', { ...good, private_key_id: 'zz' }, '.private_key_id', /hexadecimal/],
    [
      'when token_uri is elsewhere',
      { ...good, token_uri: 'https://evil.example/token' },
      '.token_uri',
      /must be https:\/\/oauth2\.googleapis\.com\/token/
    ],
    [
      'when token_uri only begins alike',
      { ...good, token_uri: 'https://oauth2.googleapis.com/token.evil.example' },
      '.token_uri',
      /must be https/
    ],
    ['without token_uri', { ...good, token_uri: undefined }, '.token_uri', /is missing/],
    ['when private_key is EC', { ...good, private_key: pemOf.ec('P-256') }, '.private_key', /type ec, not of type RSA/],
    ['when private_key is weak', { ...good, private_key: pemOf.rsa(1024) }, '.private_key', /1024 bits/],
    [
      'when private_key is cut',
      { ...good, private_key: good.private_key.slice(0, 500) },
      '.private_key',
      /is not a key/
    ],
    ['without private_key', { ...good, private_key: '' }, '.private_key', /is missing/]
  ]
  for (const [what, account, path, said] of cases)
    it(what, () => {
      const { details } = refusalOf('fcm', { service_account: account })
      assert.deepEqual(
        details.map((each) => each.path),
        [`service_account${path}`]
      )
      assert.match(details[0]!.message, said)
    })

  it('with all its faults at once', () => {
    const { details } = refusalOf('fcm', { service_account: { type: 'user', project_id: 'A', private_key: '' } })
    const paths = details.map(({ path }) => path.replace('service_account.', ''))
    assert.deepEqual(paths, ['type', 'project_id', 'client_email', 'private_key_id', 'token_uri', 'private_key'])
  })

  it('and is taken as an object or as its text', () => {
    for (const service_account of [good, JSON.stringify(good), `\n${JSON.stringify(good, null, 2)}\n`]) {
      const [saved] = parseCredential('fcm', { service_account }, undefined)
      assert.deepEqual([saved!.environment, saved!.app], ['', ''])
      assert.deepEqual(saved!.secret, {
        firebaseProject: good.project_id,
        clientEmail: good.client_email,
        privateKeyId: good.private_key_id,
        privateKey: good.private_key
      })
      assert.ok(!JSON.stringify(saved!.facts).includes('PRIVATE'))
    }
  })
})

describe('a credential for Web Push is refused with its faults,', () => {
  const good = vapidBody()
  const cases: Case[] = [
    ['without a subject', { subject: undefined }, 'subject', /is missing/],
    ['when the subject is a bare address', { subject: 'push@example.com' }, 'subject', /must be mailto:/],
    ['when the subject has a space', { subject: 'mailto: push@example.com' }, 'subject', /must be mailto:/],
    ['when the subject is plain http', { subject: 'http://example.com' }, 'subject', /must be mailto:/],
    ['when the subject is this machine', { subject: 'https://localhost' }, 'subject', /public host name/],
    ['when the subject holds a password', { subject: 'https://a:b@example.com' }, 'subject', /public host name/],
    ['when the subject is of no domain', { subject: 'mailto:me@localhost' }, 'subject', /must be mailto:/],
    ['when the subject is endless', { subject: `mailto:${'a@'.repeat(500_000)}` }, 'subject', /must be mailto:/],
    ['when only the public key is given', { private_key: undefined }, 'private_key', /with the other key of the pair/],
    ['when only the private key is given', { public_key: undefined }, 'public_key', /with the other key of the pair/],
    ['when the public key is short', { public_key: 'BAAA' }, 'public_key', /65 bytes in base64url/],
    ['when the public key is no text', { public_key: {} }, 'public_key', /65 bytes/],
    ['when the private key is long', { private_key: 'A'.repeat(60) }, 'private_key', /32 bytes/],
    ['when the private key is zero', { private_key: 'A'.repeat(43) }, 'private_key', /not a private key of P-256/],
    ['when the keys are of two pairs', { private_key: vapidBody().private_key }, 'private_key', /does not belong to/]
  ]
  for (const [what, change, path, said] of cases)
    it(what, () => {
      const { details } = refusalOf('webpush', { ...good, ...change })
      assert.deepEqual(
        details.map((each) => each.path),
        [path]
      )
      assert.match(details[0]!.message, said)
    })

  it('and a pair that is given is kept, in base64 or base64url', () => {
    for (const change of [{}, { public_key: Buffer.from(good.public_key, 'base64url').toString('base64') }]) {
      const [saved] = parseCredential('webpush', { ...good, ...change }, undefined)
      assert.deepEqual(saved!.secret, {
        subject: good.subject,
        publicKey: good.public_key,
        privateKey: good.private_key
      })
      assert.equal(saved!.facts.public_key, good.public_key)
    }
  })

  it('and without a pair the one in use stays, or a new one is made', () => {
    const { subject } = good
    const [first] = parseCredential('webpush', { subject }, undefined)
    const [second] = parseCredential('webpush', { subject }, undefined)
    assert.notEqual(first!.facts.public_key, second!.facts.public_key)
    assert.equal(Buffer.from(first!.facts.public_key!, 'base64url').length, 65)
    const [kept] = parseCredential('webpush', { subject: 'https://example.com/push' }, first!.secret as never)
    assert.equal(kept!.facts.public_key, first!.facts.public_key)
    assert.equal(kept!.facts.subject, 'https://example.com/push')
  })
})
