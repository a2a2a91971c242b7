import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { describe, it } from 'node:test'
import { createAllowances } from '../../src/members/allowances.ts'
import { createHashing } from '../../src/members/hashing.ts'
import { createTurns } from '../../src/members/turns.ts'
import type { Json } from '../support/http.ts'
import { codeOf, cookiesOf, goodPassword, join, memberOf, quick, signIn } from '../support/members.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({ TRUST_PROXY: '1' }, quick)
const shop = await service.project()
let addresses = 0
const newAddress = () => `203.0.${Math.floor(++addresses / 250)}.${(addresses % 250) + 1}`
/** Signs in from an address. */
const from = (address: string, email: string, password: string, cookie?: string) =>
  service.ask('POST', '/console/session', {
    json: { email, password },
    headers: { 'x-forwarded-for': address, ...(cookie && { cookie }) }
  })
const wrong = 'not the password'
const times = (count: number) => Array.from({ length: count })

describe('a sign-in with a password', () => {
  it('responds the same to a wrong password, an unknown address, an open invitation and a text that is no address', async () => {
    const member = await join(service, 'viewer', shop.id)
    await service.manage('POST', '/members', { json: { email: 'open@example.com', role: 'viewer' } })
    const seen = new Set<string>()
    for (const email of [member.email, 'unknown@example.com', 'open@example.com', 'no address', '']) {
      const { status, json, headers } = await from(newAddress(), email, wrong)
      assert.equal(headers['set-cookie'], undefined)
      seen.add(`${status} ${JSON.stringify({ ...json, request_id: undefined })}`)
    }
    assert.deepEqual([...seen], ['401 {"error":"Email and password do not match.","code":"invalid_sign_in"}'])
  })

  it('does the same work for an account that does not exist', async () => {
    const costs: unknown[] = []
    const hashing = createHashing({ ln: 4, r: 8, p: 1 }, async (password, salt, bytes, options) => {
      costs.push(options)
      return scryptSync(password, salt, bytes, options)
    })
    const password = await hashing.hash(goodPassword, 'here')
    assert.ok(await hashing.verify(goodPassword, 'here', async () => ({ password })))
    assert.equal(await hashing.verify(wrong, 'here', async () => ({ password })), undefined)
    assert.equal(await hashing.verify(wrong, 'here', async () => undefined), undefined)
    assert.equal(await hashing.verify(wrong, 'here', async () => ({ password: null })), undefined)
    assert.deepEqual([costs.length, new Set(costs.map((cost) => JSON.stringify(cost))).size], [5, 1])
  })

  it('reads the same password in any form of its letters, and no other', async () => {
    const hashing = createHashing({ ln: 4, r: 8, p: 1 })
    const password = await hashing.hash('Grüße und\u00a0Küsse', 'here')
    const matches = async (text: string) =>
      (await hashing.verify(text, 'here', async () => ({ password }))) !== undefined
    assert.ok(await matches('Gru\u0308ße und Ku\u0308sse'))
    assert.ok(!(await matches('Grusse und Kusse')))
    assert.ok(!(await matches('grüße und küsse')))
  })

  it('makes a new hash when the cost has changed, and keeps the password', async () => {
    const member = await join(service, 'viewer', shop.id)
    const old = await createHashing({ ln: 5, r: 8, p: 1 }).hash(goodPassword, 'here')
    await service.sql('update members set password = $2 where id = $1', [member.id, old])
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 200)
    const [{ password }] = (await service.sql('select password from members where id = $1', [member.id])) as [
      { password: string }
    ]
    assert.match(password, /^\$scrypt\$ln=4,r=8,p=1\$/)
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 200)
  })

  it('is limited for an address that fails with any accounts, and for no other address', async () => {
    const address = newAddress()
    const member = await join(service, 'viewer', shop.id)
    for (const [index] of times(20).entries())
      assert.equal((await from(address, `guess${index}@example.com`, wrong)).status, 401)
    const refused = await from(address, member.email, goodPassword)
    assert.equal(refused.status, 429)
    assert.ok(Number(refused.headers['retry-after']) >= 1)
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 200)
  })

  it('is limited for an account from any addresses, known or not, but not in a browser of the right person', async () => {
    const member = await join(service, 'viewer', shop.id)
    for (const email of [member.email, 'nobody-here@example.com']) {
      for (const _ of times(20)) assert.equal((await from(newAddress(), email, wrong)).status, 401)
      assert.equal((await from(newAddress(), email, wrong)).status, 429)
    }
    // Strangers keep guessing; the member signs in where it has signed in before.
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 429)
    assert.match(member.cookie, /tidings_device=/)
    const own = await from(newAddress(), member.email, goodPassword, member.cookie)
    assert.equal(own.status, 200)
    // The cookie of one member is worth nothing for another account, nor is one that a stranger makes up.
    const other = await join(service, 'viewer', shop.id)
    for (const cookie of [other.cookie, `${member.cookie.slice(0, -4)}AAAA`, 'tidings_device=x.y', 'tidings_device='])
      assert.equal((await from(newAddress(), member.email, goodPassword, cookie)).status, 429, cookie)
  })

  it('limits guesses in a known browser too', async () => {
    const member = await join(service, 'viewer', shop.id)
    const seen: number[] = []
    const address = newAddress()
    for (const _ of times(40)) seen.push((await from(address, member.email, wrong, member.cookie)).status)
    assert.deepEqual([seen[0], seen.at(-1), seen.filter((status) => status === 401).length], [401, 429, 30])
  })

  it('is in the audit log of the projects of its member, and so are stopped guesses, however often', async () => {
    const [own, foreign] = [await service.project(), await service.project()]
    const member = await join(service, 'viewer', own.id, { name: 'Grace' })
    for (const _ of times(3)) assert.equal((await from(newAddress(), member.email, goodPassword)).status, 200)
    for (const _ of times(23)) await from(newAddress(), member.email, wrong)
    const linesOf = async (id: string) =>
      (await service.manage('GET', `/projects/${id}/audit?action=member.`)).json.items.map(
        (line: Json) => `${line.actor_name} ${line.phrase} ${line.target_name}`
      )
    const expected = [
      `Tidings stopped guesses of the password of ${member.email}`,
      `Grace signed in as ${member.email}`,
      `Grace accepted the invitation for ${member.email}`,
      `bootstrap invited ${member.email}`
    ]
    await eventually(async () => assert.deepEqual(await linesOf(own.id), expected))
    assert.deepEqual(await linesOf(foreign.id), [])
    // Admins of the whole installation see the sign-ins of all in one place.
    const { items } = (await service.manage('GET', '/audit?action=member.')).json
    const about = items.filter(({ target }: Json) => target === member.id).map(({ action }: Json) => action)
    assert.deepEqual(about, ['member.locked_out', 'member.sign_in'])
  })

  it('is not limited by its successes', async () => {
    const member = await join(service, 'viewer', shop.id)
    const address = newAddress()
    for (const _ of times(25)) assert.equal((await from(address, member.email, goodPassword)).status, 200)
  })

  it('ends the session that the browser had, so that a planted cookie opens nothing', async () => {
    const [planted, member] = [await join(service, 'viewer', shop.id), await join(service, 'admin', shop.id)]
    const reply = await from(newAddress(), member.email, goodPassword, planted.cookie)
    assert.equal(reply.json.member.id, member.id)
    assert.notEqual(cookiesOf(reply).split(';')[0], planted.cookie.split(';')[0])
    assert.equal((await planted.manage('GET', '/projects')).status, 401)
  })

  it('reads JSON only, which a form of another site cannot send, and no huge password', async () => {
    const body = JSON.stringify({ email: 'a@example.com', password: goodPassword })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const reply = await service.ask('POST', '/console/session', { body, headers: { 'content-type': type } })
      assert.equal(reply.status, 415)
    }
    assert.equal((await from(newAddress(), 'a@example.com', 'x'.repeat(513))).status, 400)
    assert.equal((await from(newAddress(), 'a@example.com', 'x'.repeat(100_000))).status, 413)
  })

  it('is refused where it is switched off, and tokens still sign in', async () => {
    const off = await service.another({ PASSWORD_SIGN_IN: 'false' })
    const member = await join(service, 'admin', shop.id)
    assert.equal((await signIn(off, member.email, goodPassword)).status, 403)
    const { ways } = (await off.ask('GET', '/console/session')).json
    assert.equal(ways.password, false)
    const invited = await off.manage('POST', '/members', { json: { email: 'pw-off@example.com', role: 'viewer' } })
    const json = { code: codeOf(invited.json.invitation), name: 'x', password: goodPassword }
    assert.equal((await off.ask('POST', '/console/link:accept', { json })).status, 403)
    const there = memberOf(off, member.id, member.email, member.cookie)
    assert.equal(
      (await there.manage('PUT', '/account/password', { current: goodPassword, password: 'another password' })).status,
      403
    )
    assert.equal((await off.ask('POST', '/console/session', { json: { token: off.adminToken } })).status, 200)
    await off.close()
  })
})

describe('a password', () => {
  const change = (member: { manage: ReturnType<typeof memberOf>['manage'] }, json: unknown) =>
    member.manage('PUT', '/account/password', json)

  it('is changed with the old one, which ends the other sessions and no other', async () => {
    const member = await join(service, 'viewer', shop.id)
    const elsewhere = memberOf(
      service,
      member.id,
      member.email,
      cookiesOf(await from(newAddress(), member.email, goodPassword))
    )
    const refused = await change(member, { current: wrong, password: 'another password' })
    assert.deepEqual(
      [refused.status, refused.json.details],
      [400, [{ path: 'current', message: 'is not your password' }]]
    )
    assert.equal((await change(member, { password: 'another password' })).status, 400)
    assert.equal((await change(member, { current: goodPassword, password: 'short' })).status, 400)
    assert.equal((await change(member, { current: goodPassword, password: 'another password' })).status, 200)
    assert.deepEqual(
      [(await member.manage('GET', '/account')).status, (await elsewhere.manage('GET', '/account')).status],
      [200, 401]
    )
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 401)
    assert.equal((await from(newAddress(), member.email, 'another password')).status, 200)
  })

  it('cannot be changed by a token, nor by a page of another site', async () => {
    const json = { current: goodPassword, password: 'another password' }
    assert.equal((await service.manage('PUT', '/account/password', { json })).status, 403)
    const { cookie } = await join(service, 'viewer', shop.id)
    assert.equal((await service.ask('PUT', '/manage/v1/account/password', { json, headers: { cookie } })).status, 403)
  })

  it('is set anew by a link that an admin makes, once, which ends all sessions', async () => {
    const member = await join(service, 'viewer', shop.id)
    const made = await service.manage('POST', `/members/${member.id}:reset`)
    assert.deepEqual([made.status, made.headers['cache-control']], [201, 'no-store'])
    assert.match(made.json.path, /^\/console\/#reset=svc_rs_/)
    const code = codeOf(made.json)
    assert.equal((await service.ask('POST', '/console/link', { json: { code } })).json.kind, 'reset')
    const accept = (json: unknown) => service.ask('POST', '/console/link:accept', { json })
    assert.equal((await accept({ code, password: 'short' })).status, 400)
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 200)
    const accepted = await accept({ code, password: 'brand new password' })
    assert.deepEqual([accepted.status, accepted.json.member.id], [200, member.id])
    assert.equal((await member.manage('GET', '/projects')).status, 401)
    assert.equal((await accept({ code, password: 'brand new password' })).status, 401)
    assert.equal((await from(newAddress(), member.email, goodPassword)).status, 401)
  })

  it('is set without an old one only soon after the sign-in', async () => {
    const member = await join(service, 'viewer', shop.id)
    await service.sql('update members set password = null where id = $1', [member.id])
    await service.sql("update sessions set created_at = now() - interval '16 minutes' where member_id = $1", [
      member.id
    ])
    const reply = await service.another()
    const there = memberOf(reply, member.id, member.email, member.cookie)
    assert.equal((await change(there, { password: 'another password' })).status, 403)
    await service.sql('update sessions set created_at = now() where member_id = $1', [member.id])
    await reply.close()
    const later = await service.another()
    assert.equal(
      (await change(memberOf(later, member.id, member.email, member.cookie), { password: 'another password' })).status,
      200
    )
    await later.close()
  })
})

describe('the first member', () => {
  const start = () => startService({ BOOTSTRAP_ADMIN_TOKEN: `svc_at_${'f'.repeat(43)}` }, quick)
  const json = { email: 'first@example.com', name: 'First', password: goodPassword }

  it('is made by the browser that opened the link, once, and takes its session', async () => {
    const fresh = await start()
    const { path } = (await fresh.manage('POST', '/sign-in-links')).json
    const signed = await fresh.ask('POST', '/console/session', { json: { code: codeOf({ path }) } })
    assert.deepEqual([signed.json.first_member, signed.json.how, signed.json.member], [true, 'link', null])
    const headers = { cookie: cookiesOf(signed), 'x-tidings-console': '1' }
    const make = (more = {}) => fresh.ask('POST', '/console/member', { json: { ...json, ...more }, headers })
    assert.equal(
      (await fresh.ask('POST', '/console/member', { json, headers: { cookie: headers.cookie } })).status,
      403
    )
    assert.equal(
      (await fresh.ask('POST', '/console/member', { json, headers: { 'x-tidings-console': '1' } })).status,
      401
    )
    assert.equal((await make({ password: 'short' })).status, 400)
    const both = await Promise.all([make(), make({ email: 'second@example.com' })])
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
    const made = both.find(({ status }) => status === 200)!
    assert.deepEqual([made.json.installation_role, made.json.first_member], ['admin', false])
    assert.equal((await fresh.ask('GET', '/manage/v1/projects', { headers })).status, 401)
    const again = await fresh.ask('POST', '/console/session', { json: { token: fresh.adminToken } })
    assert.equal(again.json.first_member, false)
    assert.equal((await signIn(fresh, made.json.member.email, goodPassword)).status, 200)
  })

  it('is not made by a lesser token, and need not be made', async () => {
    const fresh = await start()
    for (const [role, project_id] of [['editor'], ['admin', (await fresh.project()).id]]) {
      const { token } = (await fresh.manage('POST', '/tokens', { json: { name: 'x', role, project_id } })).json
      const signed = await fresh.ask('POST', '/console/session', { json: { token } })
      assert.equal(signed.json.first_member, false)
      const headers = { cookie: cookiesOf(signed), 'x-tidings-console': '1' }
      assert.equal((await fresh.ask('POST', '/console/member', { json, headers })).status, 403)
      assert.equal((await fresh.ask('GET', '/manage/v1/projects', { headers })).status, 200)
    }
  })
})

describe('limits and turns', () => {
  it('allow a burst, then one at a time, and share both among nodes', () => {
    let nowMs = 0
    const allowances = createAllowances(
      4,
      10,
      () => 2,
      () => nowMs
    )
    assert.deepEqual([allowances.take('a'), allowances.take('a'), allowances.take('b')], [0, 0, 0])
    const wait = allowances.take('a')
    assert.equal(wait, 20)
    nowMs += wait * 1000
    assert.equal(allowances.take('a'), 0)
    allowances.giveBack('a')
    assert.equal(allowances.take('a'), 0)
  })

  it('run a few tasks at once, addresses by turns, and refuse what is too much', async () => {
    const turns = createTurns(1)
    const order: string[] = []
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const task = (name: string) =>
      turns.take(name, async () => {
        order.push(name)
        await held
      })
    const started = [task('flood'), ...times(8).map(() => task('flood'))]
    const calm = task('calm')
    await new Promise(setImmediate)
    assert.deepEqual(order, ['flood'])
    await assert.rejects(task('flood'), /Too many sign-ins/)
    release()
    await Promise.all([...started, calm])
    assert.deepEqual(order.slice(0, 3), ['flood', 'flood', 'calm'])
  })

  it('let a member in a known browser in while a flood from many addresses waits', async () => {
    const turns = createTurns(1)
    const order: string[] = []
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const task = (name: string, isKnown: boolean) => {
      const run = async () => {
        order.push(name)
        await held
      }
      return turns.take(name, run, isKnown)
    }
    const flood = times(65).map((_, index) => task(`address ${index}`, false))
    await assert.rejects(task('stranger', false), /Too many sign-ins/)
    const members = [task('ada', true), task('grace', true)]
    release()
    await Promise.all([...flood, ...members])
    // Nor do members keep strangers out.
    assert.deepEqual(order.slice(0, 4), ['address 0', 'ada', 'address 1', 'grace'])
  })
})
