import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { asApp, ios, link, put } from '../support/devices.ts'
import { ask, type Json } from '../support/http.ts'
import { startService, type TestProject } from '../support/service.ts'

const service = await startService()

const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url')
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds
/** A token as the library of a backend makes it. */
function token(secret: string, claims: Json = {}, header: Json = { alg: 'HS256', typ: 'JWT' }): string {
  const text = `${part(header)}.${part({ sub: 'ana', exp: inSeconds(60), ...claims })}`
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

const rotate = async (project: TestProject, json: Json = {}) => {
  const reply = await service.manage('POST', `/projects/${project.id}/identity-secret:rotate`, { json })
  assert.equal(reply.status, 201, reply.text)
  return reply.json
}
const verify = (project: TestProject, identity_verification = true) =>
  service.manage('PATCH', `/projects/${project.id}`, { json: { identity_verification } })

async function verified(): Promise<{ project: TestProject; secret: string }> {
  const project = await service.project()
  await put(project, ios)
  const { secret } = await rotate(project)
  assert.equal((await verify(project)).json.identity_verification, true)
  return { project, secret }
}

const app = (project: TestProject, userToken: string | undefined, method: string, path: string, json?: Json) =>
  ask(service.url, method, `/api/v1/devices/phone${path}`, {
    ...(json && { json }),
    headers: {
      'x-service-project-id': project.id,
      'x-service-api-key': project.publicKey,
      ...(userToken !== undefined && { 'x-service-user-token': userToken })
    }
  })
const login = (project: TestProject, userToken: string | undefined, user = 'ana') =>
  app(project, userToken, 'POST', '/user/project-user-id', { project_user_id: user })
const outcome = (reply: Awaited<ReturnType<typeof login>>) => [reply.status, reply.headers['x-service-error-code']]

describe('identity verification', () => {
  it('is off by default, and cannot be turned on without a secret', async () => {
    const project = await service.project()
    await put(project, ios)
    assert.equal((await service.manage('GET', `/projects/${project.id}`)).json.identity_verification, false)
    assert.equal((await login(project, 'nonsense')).status, 200)
    const refused = await verify(project)
    assert.deepEqual(
      [refused.status, refused.json.code, refused.json.details[0].path],
      [409, 'conflict', 'identity_verification']
    )
  })

  it('wants a token of the same user for logging in, properties and preferences with a public key', async () => {
    const { project, secret } = await verified()
    const ana = token(secret)
    assert.deepEqual(outcome(await login(project, undefined)), [401, 'missing_user_token'])
    assert.deepEqual(outcome(await login(project, ana, 'bo')), [403, 'user_token_mismatch'])
    assert.equal((await login(project, ana)).status, 200)
    const calls = [
      ['POST', '/user/properties', { properties: [{ name: 'plan', value: 'free' }] }],
      ['DELETE', '/user/properties?names=plan', undefined],
      ['GET', '/preferences', undefined],
      ['PATCH', '/preferences', { opted_out: true }]
    ] as const
    for (const [method, path, json] of calls) {
      assert.deepEqual(outcome(await app(project, undefined, method, path, json)), [401, 'missing_user_token'], path)
      const other = token(secret, { sub: 'bo' })
      assert.deepEqual(outcome(await app(project, other, method, path, json)), [403, 'user_token_mismatch'], path)
      assert.equal((await app(project, ana, method, path, json)).status, 200, path)
    }
    assert.equal(
      (await app(project, undefined, 'DELETE', '/user/project-user-id')).status,
      200,
      'logging out needs none'
    )
    const early = await app(project, ana, 'PATCH', '/preferences', { opted_out: false })
    assert.deepEqual(outcome(early), [403, 'user_token_mismatch'], 'an anonymous user has no token')
  })

  it('is passed by the browser client, which asks for a token and reads and sets preferences', async () => {
    const { project, secret } = await verified()
    for (const id of ['offers', 'news'])
      await service.manage('PUT', `/projects/${project.id}/topics/${id}`, { json: { name: id } })
    // The parts of a page that the client uses.
    Object.assign(globalThis, { location: new URL('https://shop.example.com/'), addEventListener: () => {} })
    const { text } = await service.ask('GET', '/sdk/tidings.js')
    const { createTidings } = await import(`data:text/javascript,${encodeURIComponent(text)}`)
    const settings = { baseUrl: service.url, projectId: project.id, publicKey: project.publicKey }
    let current: string | null = null
    const client = createTidings({ ...settings, userToken: async () => current })
    await assert.rejects(client.linkUser('ana'), { status: 401, code: 'missing_user_token' })
    current = token(secret)
    await client.linkUser('ana')
    assert.deepEqual(await client.preferences.get(), { opted_out: false, topics: { news: true, offers: true } })
    await client.preferences.set({ offers: false })
    const out = { opted_out: true, topics: { news: true, offers: false } }
    assert.deepEqual(await client.preferences.optOut(), out)
    assert.deepEqual((await project.call('GET', '/api/v1/users/ana/preferences')).json, out)
    assert.deepEqual(await client.preferences.optIn(), { ...out, opted_out: false })
    current = null
    await client.unlinkUser()
  })

  it('does not concern secret keys, management tokens and the registration of devices', async () => {
    const { project } = await verified()
    const json = { project_user_id: 'ana' }
    assert.equal((await project.call('POST', '/api/v1/devices/phone/user/project-user-id', { json })).status, 200)
    const path = `/projects/${project.id}/api/v1/devices/phone/preferences`
    assert.equal((await service.manage('GET', path)).status, 200)
    assert.equal((await project.call('GET', '/api/v1/users/ana/preferences')).status, 200)
    await put(project, { ...ios, id: 'tablet', push_token: 'b2' })
  })

  it('refuses every token that its secret did not sign with HS256, or whose time is over', async () => {
    const { project, secret } = await verified()
    const { secret: foreign } = await verified()
    const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'ana', exp: inSeconds(60) })}`
    const bad: Record<string, string> = {
      'another project': token(foreign),
      'no algorithm': token(secret, {}, {}),
      none: `${unsigned}.`,
      'none with a signature': token(secret, {}, { alg: 'none' }),
      HS512: token(secret, {}, { alg: 'HS512' }),
      critical: token(secret, {}, { alg: 'HS256', crit: ['b64'] }),
      'a changed claim': token(secret).replace(/\.[^.]+\./, `.${part({ sub: 'ana', exp: inSeconds(9_999) })}.`),
      'a cut signature': token(secret).slice(0, -2),
      expired: token(secret, { exp: inSeconds(-31) }),
      'without exp': token(secret, { exp: undefined }),
      'exp as text': token(secret, { exp: String(inSeconds(60)) }),
      'without sub': token(secret, { sub: undefined }),
      'sub as a number': token(secret, { sub: 7 }),
      'not yet valid': token(secret, { nbf: inSeconds(120) }),
      'no token': 'x'.repeat(9_000),
      'two parts': 'a.b'
    }
    for (const [what, text] of Object.entries(bad))
      assert.deepEqual(outcome(await login(project, text)), [401, 'invalid_user_token'], what)
    assert.equal((await login(project, bad.expired!)).text, 'Invalid user token: it has expired')
    assert.equal((await login(project, token(secret, { exp: inSeconds(-5) }))).status, 200, 'clocks differ a little')
  })

  it('a rotated secret works until its overlap ends, no secret is stored in the clear, and tokens of others fail', async () => {
    const { project, secret } = await verified()
    const { secret: second, previous_until } = await rotate(project, { overlap: '1h' })
    assert.ok(Date.parse(previous_until) > Date.now() + 3_000_000)
    for (const each of [secret, second]) assert.equal((await login(project, token(each))).status, 200)
    const { secret: third } = await rotate(project, { overlap: '0s' })
    assert.deepEqual(outcome(await login(project, token(second))), [401, 'invalid_user_token'])
    assert.equal((await login(project, token(third))).status, 200)
    const [row] = await service.sql('select * from identity_secrets where project_id = $1', [project.id])
    assert.ok(!JSON.stringify(row).includes('svc_is_'))
    const audit = (await service.manage('GET', `/projects/${project.id}/audit`)).text
    assert.ok(audit.includes('identity_secret.rotate') && !audit.includes('svc_is_'))
    await verify(project, false)
    assert.equal((await link(project, 'phone', 'bo')).status, 200)
    assert.equal((await asApp(project, 'GET', '/devices/phone/preferences')).status, 200)
  })
})
