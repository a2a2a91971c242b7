import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Json, type Reply } from '../support/http.ts'
import { type Person, startOidcProvider } from '../support/oidc.ts'
import { startService } from '../support/service.ts'

const callback = '/console/oidc/callback'
const outside = 'https://push.example'
const provider = await startOidcProvider(() => [service.url, outside].map((base) => `${base}${callback}`))
const service = await startService(provider.settings)

const alice: Person = {
  sub: 'alice',
  name: 'Alice',
  email: 'alice@example.com',
  email_verified: true,
  groups: ['staff']
}

type Jar = Map<string, string>

/** One request of a browser, with the cookies of one host. */
async function visit(jar: Jar, address: string): Promise<Reply> {
  const { origin, pathname, search } = new URL(address)
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const reply = await ask(origin, 'GET', pathname + search, { headers: { ...(cookie && { cookie }) } })
  for (const set of reply.headers['set-cookie'] ?? []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!
    if (/max-age=0/i.test(set)) jar.delete(name!)
    else jar.set(name!, value!)
  }
  return reply
}

/** Goes to the provider and back, up to the address that the provider leads to. */
async function toCallback(jar: Jar, person: Person, page = '', from = service.url): Promise<string> {
  provider.person = person
  const begun = await visit(jar, `${from}/console/oidc${page}`)
  assert.equal(begun.status, 302, begun.text)
  let at = begun.headers.location!
  const there: Jar = new Map()
  for (let steps = 0; !at.startsWith(service.url); steps++) {
    assert.ok(steps < 10, at)
    const reply = await visit(there, at)
    assert.ok(reply.headers.location, reply.text)
    at = new URL(reply.headers.location, at).href
  }
  return at
}

/** Where the page of a response leads to. */
const opened = ({ text }: Reply) => /url=([^"]+)"/.exec(text)?.[1]?.replaceAll('&#38;', '&')

/** Signs a person in. Returns the page that opens, and who the browser is then. */
async function signIn(person: Person, jar: Jar = new Map()) {
  const page = opened(await visit(jar, await toCallback(jar, person)))
  const { json } = await visit(jar, `${service.url}/console/session`)
  return { page, session: json, jar }
}

describe('a person whom the provider knows', () => {
  it('becomes a member with the roles of the groups, and opens the page that was asked for', async () => {
    const jar: Jar = new Map()
    const back = await toCallback(jar, alice, '?page=%2Fconsole%2Fp%2Fdemo%2Fusers%3Ftab%3Da%26q%3Db')
    const reply = await visit(jar, back)
    assert.equal(opened(reply), '/console/p/demo/users?tab=a&q=b')
    const cookies = (reply.headers['set-cookie'] as string[]).join('\n')
    assert.match(cookies, /tidings_session=\S+; Path=\/; HttpOnly; SameSite=Strict/)
    assert.match(cookies, /tidings_oidc=; HttpOnly; SameSite=Lax; Max-Age=0/)
    const { json } = await visit(jar, `${service.url}/console/session`)
    assert.deepEqual(
      [json.member.name, json.member.email, json.role, json.how],
      ['Alice', 'alice@example.com', 'viewer', 'oidc']
    )
    assert.deepEqual([json.installation_role, json.roles], ['viewer', {}])
  })

  it('has the role of one project only, if the group is mapped to it', async () => {
    const { session } = await signIn({ sub: 'greta', name: 'Greta', groups: ['growth', 'another'] })
    assert.deepEqual([session.installation_role, session.roles], [null, { demo: 'editor' }])
  })

  it('has the highest role of several groups', async () => {
    const { session } = await signIn({ sub: 'olga', groups: ['staff', 'ops'] })
    assert.deepEqual([session.installation_role, session.name], ['admin', 'olga'])
  })

  it('gets changed roles at the next sign-in, and is the same member', async () => {
    const first = await signIn({ sub: 'bob', groups: ['ops'] })
    const second = await signIn({ sub: 'bob', groups: ['staff', 'growth'] })
    assert.equal(second.session.member.id, first.session.member.id)
    assert.deepEqual([second.session.installation_role, second.session.roles], ['viewer', { demo: 'editor' }])
    // The roles belong to the member: the older session has the new ones too.
    assert.equal((await visit(first.jar, `${service.url}/console/session`)).json.installation_role, 'viewer')
    const { items } = (await service.manage('GET', '/audit?action=member.')).json
    const about = items.filter(({ target }: Json) => target === first.session.member.id)
    assert.deepEqual(
      about.map(({ action, details }: Json) => `${action} ${details.role ?? details.how}`),
      ['member.role viewer', 'member.sign_in oidc', 'member.join admin']
    )
  })

  it('without a mapped group a person does not enter, and one who had a group before loses roles and sessions', async () => {
    assert.equal((await signIn({ sub: 'nina', groups: ['guests'] })).page, '/console/#problem=no_role')
    assert.equal((await signIn({ sub: 'nora' })).page, '/console/#problem=no_role')
    const before = await signIn({ sub: 'carl', groups: ['ops'] })
    assert.equal(before.session.installation_role, 'admin')
    assert.equal((await signIn({ sub: 'carl', groups: [] })).page, '/console/#problem=no_role')
    assert.equal((await visit(before.jar, `${service.url}/manage/v1/projects`)).status, 401)
    const after = await signIn({ sub: 'carl', groups: ['staff'] })
    assert.deepEqual([after.session.member.id, after.session.role], [before.session.member.id, 'viewer'])
  })
})

describe('an email of the provider', () => {
  const invite = async (email: string) =>
    (await service.manage('POST', '/members', { json: { email, role: 'admin', project_id: 'demo' } })).json

  it('leads to an open invitation if it is verified; the groups still decide about the roles', async () => {
    const invited = await invite('ivy@example.com')
    const { session } = await signIn({ sub: 'ivy', email: 'Ivy@Example.com', email_verified: true, groups: ['staff'] })
    assert.deepEqual([session.member.id, session.installation_role, session.roles], [invited.id, 'viewer', {}])
    const code = new URL(invited.invitation.link).hash.split('=')[1]!
    assert.equal((await service.ask('POST', '/console/link', { json: { code } })).status, 401)
    for (const [method, path, json] of [
      ['POST', `/members/${invited.id}:reset`, undefined],
      ['POST', '/members', { email: 'ivy@example.com', role: 'admin', project_id: 'demo' }]
    ] as const)
      assert.equal((await service.manage(method, path, json && { json })).status, 409)
  })

  it('leads to none without the mark that it is verified, or with the mark as a text', async () => {
    const invited = await invite('una@example.com')
    for (const [sub, email_verified] of [
      ['una-1', undefined],
      ['una-2', false],
      ['una-3', 'true' as never]
    ] as const) {
      const person = {
        sub,
        email: 'una@example.com',
        groups: ['staff'],
        ...(email_verified !== undefined && { email_verified })
      }
      const { session } = await signIn(person)
      assert.notEqual(session.member.id, invited.id)
      assert.deepEqual([session.member.email, session.installation_role], ['', 'viewer'])
    }
  })

  it('never leads to a member who signs in with a password', async () => {
    const invited = await invite('paul@example.com')
    const code = new URL(invited.invitation.link).hash.split('=')[1]!
    const json = { code, name: 'Paul', password: 'a password of many words' }
    assert.equal((await service.ask('POST', '/console/link:accept', { json })).status, 200)
    const { session } = await signIn({
      sub: 'paul',
      email: 'paul@example.com',
      email_verified: true,
      groups: ['staff']
    })
    assert.notEqual(session.member.id, invited.id)
    assert.deepEqual([session.member.email, session.roles], ['', {}])
  })
})

describe('a response of the provider', () => {
  const refused = async (jar: Jar, address: string, why: string) => {
    const reply = await visit(jar, address)
    assert.deepEqual([reply.status, opened(reply)], [200, `/console/#problem=${why}`])
    assert.ok(!jar.has('tidings_session'))
  }

  it('is refused in a browser that did not begin the sign-in, and with another state', async () => {
    const jar: Jar = new Map()
    const back = await toCallback(jar, alice)
    await refused(new Map(), back, 'expired')
    // The cookie of another sign-in, as in a link that an attacker sends.
    const other: Jar = new Map()
    await toCallback(other, { sub: 'mallory', groups: ['staff'] })
    await refused(other, back, 'failed')
    const changed = new URL(back)
    changed.searchParams.set('state', 'x')
    await refused(jar, changed.href, 'failed')
  })

  it('works once', async () => {
    const jar: Jar = new Map()
    const back = await toCallback(jar, alice)
    const again: Jar = new Map(jar)
    assert.equal(opened(await visit(jar, back)), '/console/')
    await refused(again, back, 'expired')
  })

  it('of another issuer is refused', async () => {
    const jar: Jar = new Map()
    const back = new URL(await toCallback(jar, alice))
    back.searchParams.set('iss', 'https://elsewhere.example')
    await refused(jar, back.href, 'failed')
  })

  it('that says no is shown as that', async () => {
    const jar: Jar = new Map()
    const { searchParams } = new URL(await toCallback(jar, alice))
    const answer = new URLSearchParams({
      error: 'access_denied',
      state: searchParams.get('state')!,
      iss: provider.issuer
    })
    await refused(jar, `${service.url}${callback}?${answer}`, 'declined')
  })

  it('never leads to another site', async () => {
    for (const page of [
      '//elsewhere.example',
      'https://elsewhere.example/console/',
      '/\\elsewhere.example',
      '/manage/v1',
      '/console/../docs'
    ]) {
      const jar: Jar = new Map()
      assert.equal(
        opened(await visit(jar, await toCallback(jar, alice, `?page=${encodeURIComponent(page)}`))),
        '/console/'
      )
    }
  })
})

describe('behind a proxy', () => {
  const forwarded = { host: 'node-1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'push.example' }
  const begin = async (url: string, headers: Record<string, string>) => {
    const { status, text, headers: got } = await ask(url, 'GET', '/console/oidc', { headers })
    assert.equal(status, 302, text)
    const at = got.location!
    return { at, back: new URL(at).searchParams.get('redirect_uri'), cookie: got['set-cookie']![0]! }
  }

  it('that is trusted, the provider leads back to the address that the browser sees, with cookies for https', async () => {
    const node = await service.another({ TRUST_PROXY: '1' })
    provider.person = alice
    let { at, back, cookie } = await begin(node.url, forwarded)
    assert.equal(back, `${outside}${callback}`)
    assert.match(cookie, /^__Host-tidings_oidc=\S+; HttpOnly; SameSite=Lax; Max-Age=\d+; Path=\/; Secure$/)
    const there: Jar = new Map()
    for (let steps = 0; !at.startsWith(outside) && steps < 10; steps++)
      at = new URL((await visit(there, at)).headers.location!, at).href
    const headers = { ...forwarded, cookie: cookie.split(';')[0] }
    const reply = await ask(node.url, 'GET', at.slice(outside.length), { headers })
    assert.equal(opened(reply), '/console/')
    assert.match(
      reply.headers['set-cookie']!.join('\n'),
      /^__Host-\w+=\S+; Path=\/; HttpOnly; SameSite=Strict; .*Secure$/m
    )
    await node.close()
  })

  it('that is not trusted, and beside PUBLIC_URL, forged headers lead nowhere else', async () => {
    const forged = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'elsewhere.example' }
    assert.equal((await begin(service.url, forged)).back, `${service.url}${callback}`)
    const node = await service.another({ TRUST_PROXY: '1', PUBLIC_URL: `${outside}/` })
    const { back, cookie } = await begin(node.url, { ...forged, host: 'elsewhere.example' })
    assert.equal(back, `${outside}${callback}`)
    // What is no response of the provider ends on the sign-in page too.
    const own = cookie.split(';')[0]!
    const name = '__Host-tidings_oidc='
    for (const query of ['', '?', '?code=%', '?code=a&state=', `?code=${'x'.repeat(9_000)}`, '?error[]=1&state=%00'])
      for (const sent of [own, `${own.slice(0, -4)}AAAA`, name, `${name}${'%'.repeat(500)}`]) {
        const reply = await ask(node.url, 'GET', callback + query, { headers: { cookie: sent } })
        assert.deepEqual([reply.status, opened(reply)?.split('=')[0]], [200, '/console/#problem'], `${query} ${sent}`)
      }
    await node.close()
  })
})

describe('a provider', () => {
  it('that is down is named on the sign-in page, and works again when it is back', async () => {
    const other = await service.another()
    const begin = () => ask(other.url, 'GET', '/console/oidc')
    await provider.stop()
    assert.equal(opened(await begin()), '/console/#problem=unreachable')
    const { json } = await other.ask('GET', '/console/session')
    assert.equal(json.ways.oidc, new URL(provider.issuer).host)
    await provider.start()
    await new Promise((resolve) => setTimeout(resolve, 3_100))
    assert.equal((await begin()).status, 302)
    await other.close()
  })

  it('that does not accept the secret of the client signs nobody in, and says so', async () => {
    const wrong = await service.another({ OIDC_CLIENT_SECRET: 'another-secret', PUBLIC_URL: service.url })
    const jar: Jar = new Map()
    const { search } = new URL(await toCallback(jar, alice, '', wrong.url))
    assert.equal(opened(await visit(jar, `${wrong.url}${callback}${search}`)), '/console/#problem=misconfigured')
    assert.ok(!jar.has('tidings_session'))
    await wrong.close()
  })

  it('that is none does not stop the start', async () => {
    const wrong = await service.another({ OIDC_ISSUER: service.url })
    assert.equal(opened(await ask(wrong.url, 'GET', '/console/oidc')), '/console/#problem=unreachable')
    await wrong.close()
  })
})
