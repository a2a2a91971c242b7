import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { metricOf } from '../support/metrics.ts'
import { startService } from '../support/service.ts'

// TIDINGS_LONG=1 sends 10,000 guesses of each kind instead of 300: more than the connections, so that some come later.
const guesses = process.env.TIDINGS_LONG ? 10_000 : 300
// The test's own client keeps 200; ten are for the other caller.
const connections = 190
const service = await startService({ DATABASE_POOL_SIZE: '4' })
const random = (prefix: string) => prefix + randomBytes(32).toString('base64url')

type Guess = () => { method: string; path: string; headers: Record<string, string> }
const kinds: [string, string, number, Guess][] = [
  [
    'keys',
    'key',
    401,
    () => ({
      method: 'POST',
      path: '/api/v1/users',
      headers: { 'x-service-project-id': 'p', 'x-service-api-key': random('svc_sk_') }
    })
  ],
  ['keys of agents', 'key', 401, () => ({ method: 'POST', path: '/a2a', headers: { 'x-api-key': random('svc_sk_') } })],
  [
    'management tokens',
    'token',
    401,
    () => ({ method: 'GET', path: '/manage/v1/projects', headers: { authorization: `Bearer ${random('svc_at_')}` } })
  ],
  [
    'cookies',
    'session',
    200,
    () => ({
      method: 'GET',
      path: '/console/session',
      headers: { cookie: `tidings_session=${random('svc_ss_')}` }
    })
  ],
  [
    'cookies that sign out',
    'session',
    200,
    () => ({
      method: 'DELETE',
      path: '/console/session',
      headers: { cookie: `tidings_session=${random('svc_ss_')}` }
    })
  ]
]

/** Runs this many at once until all are done; returns the count of each status. */
async function flood(guess: Guess, count: number): Promise<Map<number, number>> {
  const seen = new Map<number, number>()
  let left = count
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left-- > 0) {
        const { method, path, headers } = guess()
        const { status } = await service.ask(method, path, { headers })
        seen.set(status, (seen.get(status) ?? 0) + 1)
      }
    })
  )
  return seen
}

describe('random credentials without an account', () => {
  for (const [what, kind, refused, guess] of kinds) {
    it(`${what}: are looked up many in one statement, while the writes of another caller succeed`, async () => {
      const project = await service.project()
      const rounds = () => metricOf(service, 'tidings_credential_rounds_total', { kind })
      const before = await rounds()
      let over = false
      const attack = flood(guess, guesses).finally(() => {
        over = true
      })
      let writes = 0
      while (!over || writes === 0) {
        const reply = await project.call('POST', '/api/v1/users', { json: { project_user_id: `user-${writes++}` } })
        assert.equal(reply.status, 200)
      }
      const seen = await attack
      assert.deepEqual(
        [...seen.keys()].filter((status) => status !== refused && status !== 429),
        []
      )
      const used = (await rounds()) - before
      // Refreshes of the other caller's key are among them, two a second. On a busy machine guesses arrive further apart.
      assert.ok(used < guesses / 2, `${used} rounds for ${guesses} guesses`)
    })
  }

  it('an impossible credential is refused without a look-up', async () => {
    const unknown = () => metricOf(service, 'tidings_credential_lookups_total', { kind: 'key', result: 'unknown' })
    const before = await unknown()
    for (const key of ['x', 'sk_live_abc', 'SVC_SK_x', `svc_sk_${'x'.repeat(600)}`]) {
      const headers = { 'x-service-project-id': 'p', 'x-service-api-key': key }
      const reply = await service.ask('GET', '/api/v1/users/x', { headers })
      assert.deepEqual([reply.status, reply.text], [401, 'Invalid API key'])
      assert.equal((await service.ask('POST', '/a2a', { headers: { 'x-api-key': key } })).status, 401)
    }
    assert.equal(await unknown(), before)
  })

  it('a secret key as a management token is refused with what is needed, whether it is known or not', async () => {
    const refusal = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const { status, json } = await service.ask('GET', '/manage/v1/projects', { headers })
      return [status, json.code, json.error]
    }
    const expected = 'A secret key was given; /manage needs a management token, which starts with svc_at_.'
    for (const key of [(await service.project()).secretKey, random('svc_sk_')])
      assert.deepEqual(await refusal(key), [401, 'invalid_token', expected])
    const unknown = [401, 'invalid_token', 'The management token is unknown or revoked.']
    assert.deepEqual(await refusal(random('svc_at_')), unknown)
  })
})

describe('an address that guesses', () => {
  it('still signs in with a valid token, and its wrong ones get 429 after ten', async () => {
    const signIn = (token: string) => service.ask('POST', '/console/session', { json: { token } })
    const seen: number[] = []
    for (let index = 0; index < 12; index++) seen.push((await signIn(random('svc_at_'))).status)
    assert.deepEqual(seen, [...Array(10).fill(401), 429, 429])
    const valid = await signIn(service.adminToken)
    assert.equal(valid.status, 200)
    const last = await signIn(random('svc_at_'))
    assert.equal(last.status, 429)
    assert.ok(Number(last.headers['retry-after']) >= 1)
  })
})
