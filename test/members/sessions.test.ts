import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deviceOf } from '../../src/members/device.ts'
import { cookiesOf, goodPassword, join, memberOf, quick, signIn } from '../support/members.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({}, quick)
const shop = await service.project()
const news = await service.project()
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
type Item = { id: string; current: boolean; member: { id: string } | null }
const sessionsOf = async (member: { manage: ReturnType<typeof memberOf>['manage'] }, query = '') =>
  (await member.manage('GET', `/sessions${query}`)).json.items as Item[]
/** Signs in once more, in another browser. */
async function elsewhere(member: { id: string; email: string }) {
  return memberOf(service, member.id, member.email, cookiesOf(await signIn(service, member.email, goodPassword)))
}

describe('sessions', () => {
  it('show device, address, times and how the browser signed in', async () => {
    const member = await join(service, 'viewer', shop.id)
    const json = { email: member.email, password: goodPassword }
    await service.ask('POST', '/console/session', { json, headers: { 'user-agent': firefox } })
    const [second, first] = (await member.manage('GET', '/sessions')).json.items
    assert.deepEqual([second.device, second.how, second.current], ['Firefox on Windows', 'password', false])
    assert.deepEqual([first.how, first.current, first.address, first.token], ['link', true, '127.0.0.1', null])
    assert.deepEqual(first.member, { id: member.id, email: member.email, name: 'Ada' })
    for (const time of ['created_at', 'last_seen_at', 'expires_at']) assert.ok(!Number.isNaN(Date.parse(first[time])))
  })

  it('are one’s own, and end one by one or all but the one that asks', async () => {
    const member = await join(service, 'viewer', shop.id)
    const [second, third] = [await elsewhere(member), await elsewhere(member)]
    await join(service, 'viewer', shop.id)
    const items = await sessionsOf(member)
    assert.equal(items.length, 3)
    const [newest] = items
    assert.equal((await member.manage('DELETE', `/sessions/${newest!.id}`)).status, 200)
    assert.deepEqual(
      [(await third.manage('GET', '/account')).status, (await second.manage('GET', '/account')).status],
      [401, 200]
    )
    assert.deepEqual((await member.manage('DELETE', '/sessions')).json, { ended: 1 })
    assert.equal((await second.manage('GET', '/account')).status, 401)
    assert.deepEqual(
      (await sessionsOf(member)).map(({ current }) => current),
      [true]
    )
    assert.equal((await member.manage('DELETE', `/sessions/${newest!.id}`)).status, 404)
    assert.equal((await member.manage('DELETE', '/sessions/x')).status, 404)
  })

  it('of others are seen and ended by an admin of all their projects only', async () => {
    const member = await join(service, 'viewer', shop.id)
    const [own, foreign, boss] = [
      await join(service, 'admin', shop.id),
      await join(service, 'admin', news.id),
      await join(service, 'admin')
    ]
    const peer = await join(service, 'editor', shop.id)
    const [{ id }] = (await sessionsOf(member)) as [Item]
    assert.equal((await peer.manage('GET', '/sessions?all=true')).status, 403)
    assert.equal((await peer.manage('GET', `/sessions?member_id=${member.id}`)).status, 403)
    for (const stranger of [peer, foreign])
      assert.equal((await stranger.manage('DELETE', `/sessions/${id}`)).status, 404)
    assert.deepEqual(await sessionsOf(foreign, `?member_id=${member.id}`), [])
    assert.deepEqual((await foreign.manage('DELETE', `/sessions?member_id=${member.id}`)).json, { ended: 0 })
    const seen = await sessionsOf(own, '?all=true&limit=200')
    assert.ok(seen.some((session) => session.id === id))
    assert.ok(seen.every((session) => session.member?.id !== boss.id && session.member?.id !== foreign.id))
    assert.ok((await sessionsOf(boss, '?all=true&limit=200')).some((session) => session.member?.id === foreign.id))
    const [{ id: ofBoss }] = (await sessionsOf(boss)) as [Item]
    assert.equal((await own.manage('DELETE', `/sessions/${ofBoss}`)).status, 404)
    assert.equal((await own.manage('DELETE', `/sessions/${id}`)).status, 200)
    assert.equal((await member.manage('GET', '/account')).status, 401)
    const back = await elsewhere(member)
    assert.deepEqual((await boss.manage('DELETE', `/sessions?member_id=${member.id}`)).json, { ended: 1 })
    assert.equal((await back.manage('GET', '/account')).status, 401)
  })

  it('of a token are listed and ended by the token itself', async () => {
    const { token } = (await service.manage('POST', '/tokens', { json: { name: 'ops', role: 'viewer' } })).json
    const headers = { authorization: `Bearer ${token}` }
    const cookie = cookiesOf(await service.ask('POST', '/console/session', { json: { token } }))
    const { items } = (await service.ask('GET', '/manage/v1/sessions', { headers })).json
    assert.deepEqual([items.length, items[0].how, items[0].token.name, items[0].member], [1, 'token', 'ops', null])
    assert.deepEqual((await service.ask('DELETE', '/manage/v1/sessions', { headers })).json, { ended: 1 })
    assert.equal((await service.ask('GET', '/manage/v1/projects', { headers: { cookie } })).status, 401)
  })

  it('remember when they were seen last, and end a month after the sign-in at the latest', async () => {
    const member = await join(service, 'viewer', shop.id)
    await service.sql("update sessions set created_at = now() - interval '31 days' where member_id = $1", [member.id])
    await eventually(async () => assert.equal((await member.manage('GET', '/account')).status, 401))
  })

  it('of tokens that an older node opened still work', async () => {
    const signed = await service.ask('POST', '/console/session', { json: { token: service.adminToken } })
    const cookie = cookiesOf(signed)
    await service.sql('update sessions set id = null, how = null, created_at = null, user_agent = null where id = $1', [
      signed.json.session_id
    ])
    const node = await service.another()
    assert.equal((await node.ask('GET', '/console/session', { headers: { cookie } })).json.role, 'admin')
    assert.equal((await node.ask('GET', '/manage/v1/projects', { headers: { cookie } })).status, 200)
    await node.close()
  })

  it('that end also end their streams', async () => {
    const lab = await service.project({ mode: 'simulator' })
    const member = await join(service, 'viewer', lab.id)
    const path = `/manage/v1/projects/${lab.id}/simulator/inbox`
    const stream = await fetch(service.url + path, { headers: { cookie: member.cookie, accept: 'text/event-stream' } })
    assert.equal(stream.status, 200)
    const reading = assert.rejects(stream.text())
    assert.equal((await service.manage('DELETE', `/members/${member.id}`)).status, 200)
    await reading
  })

  it('name devices in words', () => {
    const iphone =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1'
    const edge =
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0'
    const mac =
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
    assert.deepEqual([iphone, edge, mac, firefox, 'curl/8.0', 'x', null].map(deviceOf), [
      'Safari on iPhone',
      'Edge on Windows',
      'Chrome on macOS',
      'Firefox on Windows',
      'curl',
      'Unknown device',
      'Unknown device'
    ])
  })
})
