import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAuthenticator } from '../support/authenticator.ts'
import type { Reply } from '../support/http.ts'
import { startService } from '../support/service.ts'

// Passkeys belong to a host name, so the service is addressed by one; the requests still go to 127.0.0.1.
const service = await startService()
const { port } = new URL(service.url)
const origin = `http://localhost:${port}`
const writing = { 'x-tidings-console': '1', host: `localhost:${port}` }
const cookieOf = ({ headers }: Reply) => (headers['set-cookie'] as string[])[0]!.split(';')[0]!

const post = (path: string, json: unknown = {}, headers: Record<string, string> = {}) =>
  service.ask('POST', path, { json, headers: { ...writing, ...headers } })

/** Invites a person, who joins with a passkey. Returns the authenticator and the session. */
async function join(email: string) {
  const { json } = await service.manage('POST', '/members', { json: { email, role: 'editor' } })
  const code = new URL(json.invitation.link).hash.split('=')[1]!
  const authenticator = createAuthenticator(origin)
  const options = (await post('/console/link:passkey-options', { code, name: 'Grace' })).json
  const passkey = { response: authenticator.create(options) }
  const joined = await post('/console/link:accept', { code, name: 'Grace', passkey })
  assert.equal(joined.status, 200, joined.text)
  return { authenticator, session: joined.json, headers: { cookie: cookieOf(joined), ...writing } }
}

const optionsOf = async () => (await post('/console/passkeys:options')).json
const signIn = async (response: unknown, headers: Record<string, string> = {}) =>
  post('/console/passkeys:sign-in', { response }, headers)

describe('a passkey', () => {
  it('made with an invitation signs its member in, without an email', async () => {
    const { authenticator, session } = await join('grace@example.com')
    assert.deepEqual([session.how, session.member.email], ['link', 'grace@example.com'])
    const options = await optionsOf()
    assert.equal(options.allowCredentials, undefined)
    assert.equal(options.rpId, 'localhost')
    const { status, json } = await signIn(authenticator.get(options))
    assert.deepEqual([status, json.how, json.member.id], [200, 'passkey', session.member.id])
  })

  it('signs each challenge once', async () => {
    const { authenticator } = await join('once@example.com')
    const options = await optionsOf()
    assert.equal((await signIn(authenticator.get(options))).status, 200)
    const again = await signIn(authenticator.get(options))
    assert.deepEqual([again.status, again.json.code], [401, 'invalid_sign_in'])
    assert.equal((await signIn(authenticator.get(await optionsOf()))).status, 200)
  })

  it('is refused for another origin, host, purpose or challenge, and without the verification of its holder', async () => {
    const { authenticator } = await join('bent@example.com')
    const other = await service.another({ MASTER_KEY: service.config.MASTER_KEY!.toString('base64') })
    const bents = [
      { origin: 'https://elsewhere.example' },
      { origin: `${origin}0` },
      { rpId: 'elsewhere.example' },
      { type: 'webauthn.create' },
      { challenge: Buffer.from('invented').toString('base64url') },
      { verified: false },
      { userHandle: Buffer.from('another member').toString('base64url') }
    ]
    for (const bent of bents) {
      // Each from the node with a fresh count of failures where the limit would come first.
      const reply = await other.ask('POST', '/console/passkeys:sign-in', {
        json: { response: authenticator.get(await optionsOf(), bent) },
        headers: { ...writing, host: `localhost:${port}` }
      })
      assert.equal(reply.status, 401, JSON.stringify(bent))
    }
    await other.close()
  })

  it('of another host is refused, also where the request claims that host', async () => {
    const { authenticator } = await join('host@example.com')
    const host = { host: 'elsewhere.example' }
    const options = (await post('/console/passkeys:options', {}, host)).json
    assert.equal(options.rpId, 'elsewhere.example')
    const bent = { origin: 'http://elsewhere.example', rpId: 'elsewhere.example' }
    assert.equal((await signIn(authenticator.get(options, bent), host)).status, 401)
    const plain = await post('/console/passkeys:options', {}, { host: `127.0.0.1:${port}` })
    assert.match(plain.json.error, /need a host name/)
    // A Host that is no address counts as localhost.
    for (const odd of ['[::1', 'a:99999', ':', '..:x']) {
      const { status, json } = await post('/console/passkeys:options', {}, { host: odd })
      assert.deepEqual([status, json.rpId], [200, 'localhost'], odd)
    }
  })

  it('whose counter does not rise is a copy', async () => {
    const { authenticator } = await join('copy@example.com')
    assert.equal((await signIn(authenticator.get(await optionsOf(), { counter: 7 }))).status, 200)
    assert.equal((await signIn(authenticator.get(await optionsOf(), { counter: 7 }))).status, 401)
    assert.equal((await signIn(authenticator.get(await optionsOf(), { counter: 8 }))).status, 200)
  })

  it('needs the header that pages of other sites cannot send', async () => {
    const { authenticator } = await join('forged@example.com')
    const response = authenticator.get(await optionsOf())
    const { 'x-tidings-console': _, ...plain } = writing
    const reply = await service.ask('POST', '/console/passkeys:sign-in', { json: { response }, headers: plain })
    assert.equal(reply.status, 403)
  })

  it('that is no passkey at all is refused without a fault of the service', async () => {
    for (const response of [
      {},
      { id: 7 },
      { id: 'x'.repeat(2_000) },
      { id: 'a', response: {} },
      { id: 'unknown', rawId: [] }
    ]) {
      const { status } = await signIn(response)
      assert.ok([401, 429].includes(status), String(status))
    }
    assert.equal((await post('/console/passkeys:sign-in', { response: 'text' })).status, 400)
  })
})

describe('the passkeys of a member', () => {
  const account = (headers: Record<string, string>, method: string, path: string, json?: unknown) =>
    service.ask(method, `/manage/v1/account/passkeys${path}`, { headers, ...(json !== undefined && { json }) })

  it('are listed, added, renamed and removed, except for the last way to sign in', async () => {
    const { headers, session } = await join('several@example.com')
    const [first] = (await account(headers, 'GET', '')).json.items
    const last = await account(headers, 'DELETE', `/${first.id}`)
    assert.deepEqual([last.status, last.json.code], [409, 'conflict'])
    const second = createAuthenticator(origin)
    const options = (await account(headers, 'POST', ':options')).json
    assert.equal(options.excludeCredentials.length, 1)
    const added = await account(headers, 'POST', '', { response: second.create(options) })
    assert.equal(added.status, 201, added.text)
    assert.equal(
      (await account(headers, 'PATCH', `/${added.json.id}`, { name: 'Key in a drawer' })).json.name,
      'Key in a drawer'
    )
    assert.equal((await signIn(second.get(await optionsOf()))).json.member.id, session.member.id)
    assert.equal((await account(headers, 'DELETE', `/${first.id}`)).status, 200)
    assert.deepEqual(
      (await account(headers, 'GET', '')).json.items.map(({ name }: { name: string }) => name),
      ['Key in a drawer']
    )
  })

  it('cannot be seen, renamed, removed or made by another member', async () => {
    const [victim, other] = [await join('victim@example.com'), await join('other@example.com')]
    const [theirs] = (await account(victim.headers, 'GET', '')).json.items
    assert.equal((await account(other.headers, 'PATCH', `/${theirs.id}`, { name: 'mine' })).status, 404)
    const removed = await account(other.headers, 'DELETE', `/${theirs.id}`)
    assert.ok([404, 409].includes(removed.status))
    // A challenge that was made for one member registers nothing for another.
    const options = (await account(victim.headers, 'POST', ':options')).json
    const made = await account(other.headers, 'POST', '', { response: createAuthenticator(origin).create(options) })
    assert.deepEqual([made.status, made.json.code], [400, 'invalid_parameter'])
    // Neither does the credential of one become that of another.
    const own = (await account(other.headers, 'POST', ':options')).json
    const stolen = await account(other.headers, 'POST', '', { response: victim.authenticator.create(own) })
    assert.equal(stolen.status, 409)
  })

  it('are not for management tokens', async () => {
    assert.equal((await service.manage('GET', '/account/passkeys')).status, 403)
  })

  it('end with the member, and with a reset link', async () => {
    const { authenticator, session } = await join('leaving@example.com')
    const { json } = await service.manage('POST', `/members/${session.member.id}:reset`)
    const code = new URL(json.link).hash.split('=')[1]!
    const second = createAuthenticator(origin)
    const options = (await post('/console/link:passkey-options', { code })).json
    assert.equal(
      (await post('/console/link:accept', { code, passkey: { response: second.create(options) } })).status,
      200
    )
    const other = await service.another()
    const signInThere = async (response: unknown) =>
      (await other.ask('POST', '/console/passkeys:sign-in', { json: { response }, headers: writing })).status
    assert.equal(await signInThere(authenticator.get(await optionsOf())), 401)
    assert.equal(await signInThere(second.get(await optionsOf())), 200)
    assert.equal((await service.manage('DELETE', `/members/${session.member.id}`)).status, 200)
    assert.equal(await signInThere(second.get(await optionsOf())), 401)
    await other.close()
  })
})

describe('the first member', () => {
  it('can be made with a passkey', async () => {
    const fresh = await startService()
    const at = `localhost:${new URL(fresh.url).port}`
    const headers = { ...writing, host: at }
    const signedIn = await fresh.ask('POST', '/console/session', { json: { token: fresh.adminToken }, headers })
    const all = { ...headers, cookie: cookieOf(signedIn) }
    const who = { name: 'Ada', email: 'ada@example.com' }
    const options = (await fresh.ask('POST', '/console/member:passkey-options', { json: who, headers: all })).json
    const authenticator = createAuthenticator(`http://${at}`)
    const passkey = { response: authenticator.create(options) }
    const made = await fresh.ask('POST', '/console/member', { json: { ...who, passkey }, headers: all })
    assert.deepEqual([made.status, made.json.installation_role], [200, 'admin'])
    const asked = (await fresh.ask('POST', '/console/passkeys:options', { json: {}, headers })).json
    const again = await fresh.ask('POST', '/console/passkeys:sign-in', {
      json: { response: authenticator.get(asked) },
      headers
    })
    assert.equal(again.json.member.id, made.json.member.id)
  })
})
