import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, it, type TestContext, test } from 'node:test'
import { importPKCS8, SignJWT } from 'jose'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { eventually } from '../support/service.ts'
import { connect, type Reply, request, seconds, simulator } from './client.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const scope = 'https://www.googleapis.com/auth/firebase.messaging'

interface Change {
  claims?: Record<string, unknown>
  kid?: string
  key?: string
  grant?: string
}

/** The grant as Google describes it, signed by a library that is not ours; over HTTP/1.1, as most clients do it. */
async function authorise(sim: Simulator, { claims = {}, kid, key, grant = grantType }: Change = {}): Promise<Response> {
  const { fcm } = sim.credentials
  const full = {
    iss: fcm.client_email,
    scope,
    aud: `${sim.fcm!.clearUrl}/token`,
    iat: seconds(),
    exp: seconds() + 3_600
  }
  const assertion = await new SignJWT({ ...full, ...claims })
    .setProtectedHeader({ alg: 'RS256', kid: kid ?? fcm.private_key_id })
    .sign(await importPKCS8(key ?? fcm.private_key, 'RS256'))
  const body = new URLSearchParams({ grant_type: grant, assertion })
  return fetch(`${sim.fcm!.clearUrl}/token`, { method: 'POST', body })
}

const accessToken = async (sim: Simulator) =>
  ((await (await authorise(sim)).json()) as { access_token: string }).access_token

const path = '/v1/projects/simulated/messages:send'
const message = (change: Record<string, unknown> = {}) => ({
  message: { token: 'device:abc', notification: { title: 'Hello', body: 'World' }, ...change }
})

interface FcmFault {
  error: { code: number; status: string; details?: { errorCode?: string; fieldViolations?: { field: string }[] }[] }
}

const errorOf = (reply: Reply) => {
  const { error } = reply.json() as unknown as FcmFault
  const details = error.details ?? []
  const errorCode = details.find((detail) => detail.errorCode)?.errorCode
  const field = details.find((detail) => detail.fieldViolations)?.fieldViolations?.[0]?.field
  assert.equal(error.code, reply.status)
  return { status: reply.status, google: error.status, errorCode, field }
}

describe('FCM', () => {
  let sim: Simulator
  let token: string
  before(async () => {
    sim = await startSimulator({ apns: false, webpush: false })
    token = await accessToken(sim)
  })
  after(() => sim.close())

  const send = async (t: TestContext, body: unknown, bearer: string | undefined = token, to = path) => {
    const session = await connect(t, sim.fcm!.url, sim.ca)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return request(session, to, { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }, text)
  }

  it('refuses requests over a quota with Retry-After', async (t) => {
    sim.faults.set('fcm', { requestsPerSecond: 2 })
    t.after(() => sim.faults.reset())
    const session = await connect(t, sim.fcm!.url, sim.ca)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const burst = Array.from({ length: 20 }, () => request(session, path, headers, JSON.stringify(message())))
    const replies = await Promise.all(burst)
    const over = replies.filter(({ status }) => status !== 200)
    assert.ok(over.length > 0 && over.length < 20, `${over.length} of 20 were refused`)
    for (const reply of over) {
      assert.deepEqual(
        [reply.status, errorOf(reply).errorCode, reply.headers['retry-after']],
        [429, 'QUOTA_EXCEEDED', '1']
      )
    }
    await eventually(async () => assert.equal((await send(t, message())).status, 200))
    assert.equal((await authorise(sim)).status, 200, 'access tokens do not count')
  })

  it('issues an access token for a signed assertion, and accepts a push with it', async (t) => {
    const issued = (await (await authorise(sim)).json()) as Record<string, unknown>
    assert.deepEqual([issued.expires_in, issued.token_type], [3_599, 'Bearer'])
    const full = message({
      data: { landing_url: 'app://there', message_id: 'm1' },
      notification: { title: 'Hello', body: 'World', image: 'https://example.com/a.png' },
      android: { priority: 'HIGH', ttl: '3600s', collapse_key: 'c', notification: { channel_id: 'x', tag: 't' } },
      apns: { headers: { 'apns-priority': '10' }, payload: { aps: {} } },
      webpush: { headers: { TTL: '60' }, fcm_options: { link: 'https://example.com' } }
    })
    const reply = await send(t, full, String(issued.access_token))
    assert.equal(reply.status, 200, reply.body)
    assert.match(String(reply.json().name), /^projects\/simulated\/messages\/\S+$/)
    const item = sim.ledger.items().at(-1)!
    assert.deepEqual(
      [item.gateway, item.token, item.title, item.body, item.image_url, item.landing_url, item.message_id],
      ['fcm', 'device:abc', 'Hello', 'World', 'https://example.com/a.png', 'app://there', 'm1']
    )
    assert.deepEqual([item.request.payload, item.request.path], [full, path])
    assert.equal(item.answer.gateway_message_id, reply.json().name)
    assert.ok(!JSON.stringify(sim.ledger.items()).includes('ya29'), 'no secret is kept')
  })

  it('also speaks HTTP/1.1, and only validates a message with validate_only', async () => {
    const reply = await fetch(`${sim.fcm!.clearUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...message(), validate_only: true })
    })
    assert.deepEqual(await reply.json(), { name: 'projects/simulated/messages/fake_message_id' })
  })

  it('refuses invalid assertions', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const cases: [error: string, change: Change][] = [
      ['unsupported_grant_type', { grant: 'password' }],
      ['invalid_grant', { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }],
      ['invalid_grant', { kid: 'other' }],
      ['invalid_grant', { claims: { iss: 'nobody@example.com' } }],
      ['invalid_grant', { claims: { aud: 'https://example.com/token' } }],
      ['invalid_grant', { claims: { exp: seconds() - 1 } }],
      ['invalid_grant', { claims: { exp: seconds() + 7_200 } }],
      ['invalid_scope', { claims: { scope: 'https://www.googleapis.com/auth/drive' } }]
    ]
    for (const [error, change] of cases) {
      const reply = await authorise(sim, change)
      assert.equal(reply.status, 400)
      assert.equal(((await reply.json()) as { error: string }).error, error, JSON.stringify(change.claims))
    }
  })

  it('refuses unknown callers and callers of another project', async (t) => {
    const unknown = errorOf(await send(t, message(), 'nonsense'))
    assert.deepEqual([unknown.status, unknown.google, unknown.errorCode], [401, 'UNAUTHENTICATED', undefined])
    const other = errorOf(await send(t, message(), token, '/v1/projects/other/messages:send'))
    assert.deepEqual([other.status, other.google], [403, 'PERMISSION_DENIED'])
    assert.equal((await send(t, message(), token, '/v1/projects/simulated/messages')).status, 404)
  })

  const wrong: [name: string, body: unknown, field: string | undefined][] = [
    ['what is no JSON', '{', ''],
    ['no message', {}, 'message'],
    ['an unknown field', { ...message(), extra: 1 }, ''],
    ['an unknown field of the message', message({ titel: 'x' }), 'message'],
    ['no recipient', message({ token: undefined }), 'message'],
    ['two recipients', message({ topic: 'news' }), 'message'],
    ['a token that is none', message({ token: 'a b' }), 'message.token'],
    ['data that is not text', message({ data: { a: 1 } }), 'message.data[a]'],
    ['a reserved key in data', message({ data: { 'google.x': '1' } }), 'message.data'],
    ['a title that is not text', message({ notification: { title: 1 } }), 'message.notification.title'],
    ['an unknown priority', message({ android: { priority: 'LOUD' } }), 'message.android.priority'],
    ['a ttl without its s', message({ android: { ttl: '60' } }), 'message.android.ttl'],
    ['a ttl of more than 4 weeks', message({ android: { ttl: '2419201s' } }), 'message.android.ttl'],
    [
      'a header that is not text',
      message({ apns: { headers: { 'apns-priority': 10 } } }),
      'message.apns.headers[apns-priority]'
    ],
    [
      'a link that is not https',
      message({ webpush: { fcm_options: { link: 'http://x' } } }),
      'message.webpush.fcm_options.link'
    ],
    ['more than 4,096 bytes', message({ data: { a: 'x'.repeat(4_096) } }), 'message'],
    ['more than 2,048 bytes for a topic', { message: { topic: 'news', data: { a: 'x'.repeat(2_048) } } }, 'message'],
    [
      'a Live Activity without an event',
      message({ apns: { live_activity_token: 'ab', payload: { aps: {} } } }),
      'message.apns.payload'
    ]
  ]
  for (const [name, body, field] of wrong) {
    it(`refuses ${name} with 400 INVALID_ARGUMENT`, async (t) => {
      const reply = errorOf(await send(t, body))
      assert.deepEqual([reply.status, reply.google, reply.field], [400, 'INVALID_ARGUMENT', field])
    })
  }

  it('accepts the start of a Live Activity', async (t) => {
    const aps = {
      timestamp: seconds(),
      event: 'start',
      'attributes-type': 'Ride',
      attributes: {},
      'content-state': {},
      alert: { title: 'Ride', body: 'Soon' }
    }
    const activity = { message: { token: 'abc', apns: { live_activity_token: 'ab', payload: { aps } } } }
    assert.equal((await send(t, activity)).status, 200)
    assert.equal(sim.ledger.items().at(-1)!.title, 'Ride')
  })

  const faults: [token: string, status: number, google: string, errorCode: string, retryAfter?: string][] = [
    ['sim-410-1', 404, 'NOT_FOUND', 'UNREGISTERED'],
    ['sim-404-1', 404, 'NOT_FOUND', 'UNREGISTERED'],
    ['sim-403-1', 403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH'],
    ['sim-401-1', 401, 'UNAUTHENTICATED', 'THIRD_PARTY_AUTH_ERROR'],
    ['sim-400-1', 400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
    ['sim-429:30-1', 429, 'RESOURCE_EXHAUSTED', 'QUOTA_EXCEEDED', '30'],
    ['sim-500-1', 500, 'INTERNAL', 'INTERNAL'],
    ['sim-400:constructor-1', 400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
    ['sim-503:5-1', 503, 'UNAVAILABLE', 'UNAVAILABLE', '5'],
    ['sim-badtoken-1', 400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']
  ]
  for (const [name, status, google, errorCode, retryAfter] of faults) {
    it(`responds ${status} ${errorCode} to ${name}`, async (t) => {
      const reply = await send(t, message({ token: name }))
      const { field, ...rest } = errorOf(reply)
      assert.deepEqual(rest, { status, google, errorCode })
      assert.equal(reply.headers['retry-after'], retryAfter)
      assert.equal(field, name.startsWith('sim-badtoken') ? 'message.token' : undefined)
    })
  }

  it('responds with HTML to sim-html502', async (t) => {
    const reply = await send(t, message({ token: 'sim-html502-1' }))
    assert.deepEqual([reply.status, reply.headers['content-type']], [502, 'text/html'])
  })
})

test('a thousand pushes at once go through the hundred streams of FCM', async (t) => {
  const sim = await simulator(t, { apns: false, webpush: false })
  const session = await connect(t, sim.fcm!.url, sim.ca)
  const headers = { authorization: `Bearer ${await accessToken(sim)}` }
  const tokens = Array.from({ length: 1_000 }, (_, index) => `device-${String(index).padStart(4, '0')}`)
  const replies = await Promise.all(
    tokens.map((token) => request(session, path, headers, JSON.stringify(message({ token }))))
  )
  assert.equal(new Set(replies.map((reply) => reply.json().name)).size, 1_000)
  assert.deepEqual(
    sim.ledger
      .items()
      .map(({ token }) => token)
      .sort(),
    tokens
  )
})

test('an access token of FCM expires', async (t) => {
  const sim = await simulator(t, { apns: false, webpush: false, fcm: { accessTokenSeconds: 0 } })
  const session = await connect(t, sim.fcm!.clearUrl)
  const reply = await request(
    session,
    path,
    { authorization: `Bearer ${await accessToken(sim)}` },
    JSON.stringify(message())
  )
  assert.equal(errorOf(reply).google, 'UNAUTHENTICATED')
  assert.equal(session.remoteSettings.maxConcurrentStreams, 100)
})
