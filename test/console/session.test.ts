import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newConsole } from '../../src/cli/service/console-files.ts'
import type { ConsoleState } from '../../src/console/console.ts'
import { ask } from '../support/http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const signIn = (json: unknown) => service.ask('POST', '/console/session', { json })
const cookieOf = (reply: { headers: Record<string, unknown> }) => String(reply.headers['set-cookie']).split(';')[0]!
const writing = { 'x-tidings-console': '1' }

describe('a browser', () => {
  it('is signed in by a management token, with a cookie that scripts and other sites cannot use', async () => {
    const reply = await signIn({ token: service.adminToken })
    const { role, name, project_id, member, how } = reply.json
    assert.deepEqual(
      [reply.status, role, name, project_id, member, how],
      [200, 'admin', 'bootstrap', null, null, 'token']
    )
    const set = String(reply.headers['set-cookie'])
    // As long as a session that is used can last.
    assert.match(set, /^tidings_session=svc_ss_\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/)
    const cookie = cookieOf(reply)
    assert.equal((await service.ask('GET', '/manage/v1/projects', { headers: { cookie } })).status, 200)
    assert.equal((await service.ask('GET', '/console/session', { headers: { cookie } })).json.role, 'admin')
  })

  it('has a cookie of this host alone over https, and none that another host of its domain can plant', async () => {
    const other = await service.another({ TRUST_PROXY: '1' })
    const https = { 'x-forwarded-proto': 'https' }
    const read = async (cookie: string) =>
      (await ask(other.url, 'GET', '/manage/v1/projects', { headers: { ...https, cookie } })).status
    const reply = await ask(other.url, 'POST', '/console/session', {
      json: { token: service.adminToken },
      headers: https
    })
    const set = String(reply.headers['set-cookie'])
    assert.match(set, /^__Host-tidings_session=svc_ss_\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/)
    const cookie = cookieOf(reply)
    assert.equal(await read(cookie), 200)
    const planted = cookieOf(await signIn({ token: service.adminToken }))
    assert.equal((await service.ask('GET', '/manage/v1/projects', { headers: { cookie: planted } })).status, 200)
    // Browsers take both from any host of the domain: the prefix must come first.
    for (const one of [planted, `\xa0__Host-${planted}`]) {
      assert.equal(await read(one), 401, one)
      const session = await ask(other.url, 'GET', '/console/session', { headers: { ...https, cookie: one } })
      assert.equal(session.json.role, null, one)
      assert.equal(await read(`${one}; ${cookie}`), 200)
    }
    const out = await ask(other.url, 'DELETE', '/console/session', { headers: { ...https, cookie } })
    assert.match(String(out.headers['set-cookie']), /^__Host-tidings_session=; .*Max-Age=0; Secure$/)
    assert.equal(await read(cookie), 401)
    await other.close()
  })

  it('cannot be made to write by a page of another site', async () => {
    const cookie = cookieOf(await signIn({ token: service.adminToken }))
    const create = (headers: Record<string, string>) =>
      service.ask('POST', '/manage/v1/projects', { headers: { cookie, ...headers }, json: { name: 'x' } })
    assert.equal((await create({})).status, 403)
    assert.equal((await create(writing)).status, 201)
  })

  it('is signed out for good after signing out', async () => {
    const cookie = cookieOf(await signIn({ token: service.adminToken }))
    const out = await service.ask('DELETE', '/console/session', { headers: { cookie } })
    assert.match(String(out.headers['set-cookie']), /^tidings_session=; .*Max-Age=0/)
    assert.equal((await service.ask('GET', '/manage/v1/projects', { headers: { cookie } })).status, 401)
    assert.equal((await service.ask('GET', '/console/session', { headers: { cookie } })).json.role, null)
  })

  it('is signed out when its token is revoked, and never has more rights than the token', async () => {
    const { json } = await service.manage('POST', '/tokens', { json: { name: 'look', role: 'viewer' } })
    const cookie = cookieOf(await signIn({ token: json.token }))
    const headers = { cookie, ...writing }
    assert.equal((await service.ask('GET', '/manage/v1/projects', { headers })).status, 200)
    assert.equal((await service.ask('POST', '/manage/v1/projects', { headers, json: { name: 'x' } })).status, 403)
    assert.equal((await service.manage('DELETE', `/tokens/${json.id}`)).status, 200)
    assert.equal((await service.ask('GET', '/manage/v1/projects', { headers })).status, 401)
  })

  it('is signed in once by a link, with the rights of the token that created it', async () => {
    const { token } = (await service.manage('POST', '/tokens', { json: { name: 'reader', role: 'viewer' } })).json
    const headers = { authorization: `Bearer ${token}` }
    const made = await service.ask('POST', '/manage/v1/sign-in-links', { headers })
    assert.deepEqual([made.status, made.headers['cache-control']], [201, 'no-store'])
    const viewing = new URL(made.json.path, service.url).hash.slice('#code='.length)
    assert.equal((await signIn({ code: viewing })).json.role, 'viewer')
    assert.equal((await service.ask('POST', '/manage/v1/sign-in-links')).status, 401)
    const { path } = (await service.manage('POST', '/sign-in-links')).json
    const code = new URL(path, service.url).hash.slice('#code='.length)
    assert.match(code, /^svc_sc_/)
    assert.equal((await signIn({ code })).status, 200)
    assert.equal((await signIn({ code })).status, 401)
  })

  it('is rejected with a key, a wrong token, no proof, or a proof of another type', async () => {
    const { secretKey } = await service.project()
    for (const wrong of [{ token: secretKey }, { token: 'svc_at_x' }, {}, { code: 'svc_ss_x' }]) {
      assert.equal((await signIn(wrong)).status, 401)
    }
    assert.equal((await signIn({ token: 7 })).status, 400)
  })

  it('that guesses tokens is rate limited', async () => {
    const other = await service.another()
    const guess = () => other.ask('POST', '/console/session', { json: { token: 'svc_at_guess' } })
    const seen: number[] = []
    for (let index = 0; index < 12; index++) seen.push((await guess()).status)
    assert.deepEqual([seen[0], seen.at(-1)], [401, 429])
    await other.close()
  })
})

describe('the pages of the console', () => {
  it('are reached from the root, and show that they are being built', async () => {
    const root = await service.ask('GET', '/')
    assert.deepEqual([root.status, root.headers.location], [302, '/console/'])
    const page = await service.ask('GET', '/console/')
    assert.deepEqual([page.status, page.headers['cache-control']], [200, 'no-store'])
    assert.equal((await service.ask('GET', '/console/assets/index.js')).status, 404)
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'; script-src 'self'/)
    // A script reloads the page: a meta refresh would only follow the # that holds the sign-in code.
    assert.match(page.text, /<script src="\/console\/waiting\.js"/)
    assert.match((await service.ask('GET', '/console/waiting.js')).text, /location\.reload/)
    assert.equal((await service.ask('GET', '/consoles')).status, 404)
  })

  it('that are open over a restart get the files they ask for while the service still reads them', async () => {
    const { promise: loading, resolve: loaded } = Promise.withResolvers<void>()
    const state: ConsoleState = { waiting: 'The console is being built.', loading }
    const restarted = await service.another({}, { console: state })
    const [file, page] = [restarted.ask('GET', '/console/assets/lab-1.js'), await restarted.ask('GET', '/console/lab')]
    assert.match(page.text, /The console is being built\./, 'a page does not wait')
    const body = Buffer.from('export {}')
    state.files = new Map([['assets/lab-1.js', { type: 'text/javascript', body, encoded: {}, hashed: true }]])
    loaded()
    assert.deepEqual([(await file).status, (await file).text], [200, 'export {}'])
    assert.equal((await restarted.ask('GET', '/console/assets/lab-2.js')).status, 404)
    await restarted.close()
  })

  it('wait for the files from the moment the service listens, and not at a worker, which has none', () => {
    assert.ok(newConsole('all').state.loading instanceof Promise)
    assert.equal(newConsole('worker').state.loading, undefined)
  })
})
