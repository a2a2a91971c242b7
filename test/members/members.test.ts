import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Json } from '../support/http.ts'
import { codeOf, cookiesOf, goodPassword, join, memberOf, quick, signIn } from '../support/members.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({}, quick)
const shop = await service.project()
const news = await service.project()
const invite = (json: Record<string, unknown>) => service.manage('POST', '/members', { json })
const accept = (json: unknown, headers = {}) => service.ask('POST', '/console/link:accept', { json, headers })
const listOf = async (member: { manage: typeof ada.manage }, path = '/members') =>
  (await member.manage('GET', path)).json.items as {
    id: string
    email: string
    project_id: string | null
    role: string
  }[]
const ada = await join(service, 'admin', undefined, { email: 'Ada@Example.com', name: 'Ada Lovelace' })

describe('a member', () => {
  it('is invited by a link that works once, and is signed in by accepting it', async () => {
    const invited = await invite({ email: 'grace@example.com', role: 'editor', project_id: shop.id })
    assert.deepEqual([invited.status, invited.headers['cache-control']], [201, 'no-store'])
    const { invitation, ...member } = invited.json
    const { id, state, name, role, project_id } = member
    assert.deepEqual([state, name, role, project_id], ['invited', null, 'editor', shop.id])
    assert.match(invitation.link, /^http:\/\/.+\/console\/#invitation=svc_in_[\w-]{43}$/)
    const code = codeOf(invitation)
    const read = await service.ask('POST', '/console/link', { json: { code } })
    const { expires_at, ...about } = read.json
    assert.deepEqual(about, {
      kind: 'invitation',
      email: 'grace@example.com',
      joined: false,
      role: 'editor',
      project: { id: shop.id, name: 'Test' }
    })
    assert.equal(expires_at, invitation.expires_at)
    const accepted = await accept({ code, name: 'Grace', password: goodPassword })
    assert.deepEqual(accepted.json.member, { id, email: 'grace@example.com', name: 'Grace' })
    const { role: own, project_id: only, roles, installation_role, how } = accepted.json
    assert.deepEqual(
      [own, only, roles, installation_role, how],
      ['editor', shop.id, { [shop.id]: 'editor' }, null, 'link']
    )
    assert.equal((await accept({ code, name: 'Grace', password: goodPassword })).status, 401)
    assert.equal((await service.ask('POST', '/console/link', { json: { code } })).status, 401)
  })

  it('signs in with a password, whatever the case of the address and the form of its letters', async () => {
    await join(service, 'viewer', shop.id, { email: 'Zoë@bücher.example' })
    for (const email of ['ZOË@BÜCHER.EXAMPLE', ' zoe\u0308@xn--bcher-kva.example '])
      assert.equal((await signIn(service, email, goodPassword)).status, 200, email)
  })

  it('has its role in each project, and the role in the installation everywhere', async () => {
    const member = await join(service, 'viewer', shop.id)
    const again = await invite({ email: member.email, role: 'admin', project_id: news.id })
    assert.equal(again.json.id, member.id)
    const joined = await accept(
      { code: codeOf(again.json.invitation) },
      { cookie: member.cookie, 'x-tidings-console': '1' }
    )
    assert.deepEqual([joined.status, joined.json.roles], [200, { [shop.id]: 'viewer', [news.id]: 'admin' }])
    const both = memberOf(service, member.id, member.email, cookiesOf(joined))
    const topic = { name: 'Offers', default: 'subscribed' }
    const put = (project: string) => both.manage('PUT', `/projects/${project}/topics/offers`, topic)
    assert.deepEqual([(await put(shop.id)).status, (await put(news.id)).status], [403, 200])
    const projects = (await both.manage('GET', '/projects')).json.items.map(({ id }: { id: string }) => id)
    assert.deepEqual(projects.sort(), [shop.id, news.id].sort())
    assert.equal((await both.manage('POST', '/projects', { name: 'x' })).status, 403)
    assert.equal((await both.manage('GET', '/projects/demo')).status, 404)
    assert.equal((await ada.manage('PUT', `/projects/${shop.id}/topics/offers`, topic)).status, 200)
    assert.equal((await ada.manage('POST', '/projects', { name: 'x' })).status, 201)
  })

  it('is the actor of what it does, and is named also after its removal', async () => {
    const member = await join(service, 'admin', shop.id, { name: 'Barbara' })
    assert.equal((await member.manage('POST', `/projects/${shop.id}:pause`)).status, 200)
    assert.equal((await member.manage('POST', `/projects/${shop.id}:resume`)).status, 200)
    const [entry] = (await service.manage('GET', `/projects/${shop.id}/audit?limit=1`)).json.items
    assert.deepEqual([entry.actor, entry.action], [`member ${member.id}`, 'project.resume'])
    assert.equal((await service.manage('DELETE', `/members/${member.id}`)).status, 200)
    const log = (await service.manage('GET', `/projects/${shop.id}/audit?limit=5`)).json.items
    assert.deepEqual(
      log.map((line: Json) => `${line.actor_name} ${line.phrase} ${line.target_name}`),
      [
        `bootstrap removed the member ${member.email}`,
        `Barbara resumed the project ${shop.id}`,
        `Barbara paused the project ${shop.id}`,
        `Barbara accepted the invitation for ${member.email}`,
        `bootstrap invited ${member.email}`
      ]
    )
    const rows = await service.sql('select name, password, removed_at from members where id = $1', [member.id])
    assert.deepEqual([rows[0]!.name, rows[0]!.password], ['Barbara', null])
    assert.ok(rows[0]!.removed_at)
  })

  it('is signed out at once on every node when it is removed, and can be invited again', async () => {
    const other = await service.another()
    const member = await join(service, 'viewer', shop.id)
    const there = memberOf(other, member.id, member.email, member.cookie)
    assert.equal((await there.manage('GET', '/projects')).status, 200)
    assert.equal((await ada.manage('DELETE', `/members/${member.id}`)).status, 200)
    assert.equal((await member.manage('GET', '/projects')).status, 401)
    await eventually(async () => assert.equal((await there.manage('GET', '/projects')).status, 401))
    assert.equal((await signIn(service, member.email, goodPassword)).status, 401)
    const back = await join(service, 'viewer', news.id, { email: member.email })
    assert.equal(back.id, member.id)
    assert.deepEqual((await listOf(ada, `/members?member_id=${back.id}`)).length, 1)
    await other.close()
  })

  it('has a changed role at once', async () => {
    const member = await join(service, 'viewer', shop.id)
    const pause = () => member.manage('POST', `/projects/${shop.id}:resume`)
    assert.equal((await pause()).status, 403)
    const changed = await service.manage('PATCH', `/members/${member.id}`, {
      json: { role: 'editor', project_id: shop.id }
    })
    assert.deepEqual([changed.status, changed.json.role], [200, 'editor'])
    assert.equal((await pause()).status, 200)
  })

  it('loses its membership with its project', async () => {
    const gone = await service.project()
    const member = await join(service, 'admin', gone.id)
    await invite({ email: 'late@example.com', role: 'viewer', project_id: gone.id })
    assert.equal((await service.manage('DELETE', `/projects/${gone.id}`)).status, 200)
    await service.app.idle()
    assert.deepEqual(await service.sql('select 1 from memberships where project_id = $1', [gone.id]), [])
    assert.deepEqual(await service.sql('select 1 from member_links where project_id = $1', [gone.id]), [])
    assert.equal((await signIn(service, member.email, goodPassword)).status, 401)
  })
})

describe('members', () => {
  it('are listed by page, with an item for each role', async () => {
    const all: string[] = []
    let cursor = ''
    do {
      const { items, next_cursor } = (await service.manage('GET', `/members?limit=2${cursor}`)).json
      all.push(...items.map((item: { id: string; project_id: string }) => `${item.id} ${item.project_id}`))
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
    } while (cursor)
    assert.deepEqual(all, [...new Set(all)])
    const [{ count }] = (await service.sql('select count(*)::int from memberships')) as [{ count: number }]
    assert.equal(all.length, count)
  })

  it('are described as they are returned', async () => {
    const { paths } = (await service.ask('GET', '/openapi-complete.json')).json
    const member = await join(service, 'admin', shop.id)
    const invited = await invite({ email: 'described@example.com', role: 'viewer' })
    const own = `/members/${member.id}`
    const seen = {
      'post /manage/v1/members': invited.json,
      'get /manage/v1/members': (await member.manage('GET', '/members')).json,
      'get /manage/v1/sessions': (await member.manage('GET', '/sessions')).json,
      'get /manage/v1/account': (await member.manage('GET', '/account')).json,
      'patch /manage/v1/members/{member_id}': (
        await service.manage('PATCH', own, { json: { role: 'viewer', project_id: shop.id } })
      ).json,
      'post /manage/v1/members/{member_id}:reset': (await service.manage('POST', `${own}:reset`)).json,
      'get /console/session': (await service.ask('GET', '/console/session', { headers: { cookie: member.cookie } }))
        .json
    }
    const shapeOf = (schema: Json): Json =>
      schema.type === 'array' ? [shapeOf(schema.items)] : Object.keys(schema.properties).sort()
    for (const [name, reply] of Object.entries<Json>(seen)) {
      const [method, path] = name.split(' ') as [string, string]
      const { responses } = paths[path][method]
      const { schema } = (responses[200] ?? responses[201]).content['application/json']
      const [described, returned] = reply.items ? [schema.properties.items.items, reply.items[0]] : [schema, reply]
      assert.deepEqual(shapeOf(described), Object.keys(returned).sort(), name)
    }
  })

  it('of other projects are hidden from an admin of one, who invites, changes and removes there only', async () => {
    const admin = await join(service, 'admin', shop.id)
    const stranger = await join(service, 'viewer', news.id)
    const items = await listOf(admin)
    assert.deepEqual([...new Set(items.map(({ project_id }) => project_id))], [shop.id])
    assert.deepEqual(await listOf(admin, `/members?project_id=${news.id}`), [])
    const asked = await Promise.all([
      admin.manage('POST', '/members', { email: 'x@example.com', role: 'viewer', project_id: news.id }),
      admin.manage('POST', '/members', { email: 'x@example.com', role: 'viewer' }),
      admin.manage('PATCH', `/members/${admin.id}`, { role: 'admin' }),
      admin.manage('PATCH', `/members/${stranger.id}`, { role: 'admin', project_id: shop.id }),
      admin.manage('DELETE', `/members/${stranger.id}`),
      admin.manage('DELETE', `/members/${ada.id}`),
      admin.manage('POST', `/members/${stranger.id}:reset`),
      admin.manage('POST', `/members/${ada.id}:reset`)
    ])
    assert.deepEqual(
      asked.map(({ status }) => status),
      [403, 403, 403, 404, 404, 404, 404, 404]
    )
    for (const role of ['viewer', 'editor']) {
      const lesser = await join(service, role, shop.id)
      assert.equal((await lesser.manage('GET', '/members')).status, 403)
      const json = { email: 'y@example.com', role, project_id: shop.id }
      assert.equal((await lesser.manage('POST', '/members', json)).status, 403)
    }
  })

  it('who also belong elsewhere cannot be taken over by the admin of one project', async () => {
    const admin = await join(service, 'admin', shop.id)
    const boss = await join(service, 'admin', undefined, { name: 'The boss' })
    const invited = await admin.manage('POST', '/members', { email: boss.email, role: 'viewer', project_id: shop.id })
    assert.deepEqual([invited.status, invited.json.name, invited.json.last_seen_at], [201, null, null])
    const code = codeOf(invited.json.invitation)
    // The admin holds the link and has no password of the boss.
    assert.equal((await accept({ code, name: 'Me', password: 'a password of mine' })).status, 401)
    assert.equal((await accept({ code, name: 'Me' }, { cookie: admin.cookie, 'x-tidings-console': '1' })).status, 403)
    assert.equal((await admin.manage('POST', `/members/${boss.id}:reset`)).status, 403)
    assert.equal((await accept({ code, password: goodPassword })).status, 200)
    assert.equal((await admin.manage('POST', `/members/${boss.id}:reset`)).status, 403)
    assert.equal((await admin.manage('DELETE', `/members/${boss.id}`)).status, 200)
    assert.equal((await signIn(service, boss.email, goodPassword)).json.installation_role, 'admin')
  })

  it('whose invitation is taken back stay signed in where they belong', async () => {
    const admin = await join(service, 'admin', shop.id)
    const other = await join(service, 'viewer', news.id)
    await admin.manage('POST', '/members', { email: other.email, role: 'viewer', project_id: shop.id })
    assert.equal((await admin.manage('DELETE', `/members/${other.id}`)).status, 200)
    assert.equal((await other.manage('GET', '/account')).status, 200)
  })

  it('keep a name that can be seen', async () => {
    const member = await join(service, 'viewer', shop.id)
    for (const name of [' ', '\u200b', '\u202e'])
      assert.equal((await member.manage('PATCH', '/account', { name })).status, 400)
    assert.equal((await member.manage('GET', '/account')).json.name, 'Ada')
  })

  it('whose reset link an admin of one project keeps are safe once they belong elsewhere', async () => {
    const admin = await join(service, 'admin', shop.id)
    const member = await join(service, 'viewer', shop.id)
    const reset = await admin.manage('POST', `/members/${member.id}:reset`)
    assert.equal(reset.status, 201)
    const wider = await invite({ email: member.email, role: 'admin' })
    assert.equal((await accept({ code: codeOf(wider.json.invitation), password: goodPassword })).status, 200)
    assert.equal((await accept({ code: codeOf(reset.json), password: 'taken over by admin' })).status, 401)
  })

  it('include an admin of the installation as long as no token is one', async () => {
    const alone = await startService({ BOOTSTRAP_ADMIN_TOKEN: `svc_at_${'x'.repeat(43)}` }, quick)
    const boss = await join(alone, 'admin')
    const second = await join(alone, 'admin')
    const [token] = (await alone.manage('GET', '/tokens')).json.items
    assert.equal((await boss.manage('DELETE', `/tokens/${token.id}`)).status, 200)
    const both = await Promise.all([
      boss.manage('DELETE', `/members/${second.id}`),
      second.manage('DELETE', `/members/${boss.id}`)
    ])
    assert.deepEqual(both.map(({ status }) => status).filter((status) => status === 200).length, 1)
    const left = both[0].status === 200 ? boss : second
    assert.equal((await left.manage('DELETE', `/members/${left.id}`)).status, 409)
    assert.equal((await left.manage('PATCH', `/members/${left.id}`, { role: 'viewer' })).status, 409)
    assert.equal((await left.manage('GET', '/members')).status, 200)
  })
})

describe('an invitation', () => {
  it('is refused for what is not an address, a role or a project', async () => {
    for (const email of [
      '',
      'x',
      '@x',
      'a@b@c',
      'a b@example.com',
      'a@exa mple.com',
      'ﬁ@example.com',
      'a\r\nb@example.com',
      // Characters that cannot be seen, and domains that would be read as another one.
      'ad\u034fa@example.com',
      'ada@example.com?x',
      'ada@example.com#x',
      'ada@example.com\\x',
      'ada@ex%61mple.com',
      'ada@[::1]'
    ])
      assert.equal((await invite({ email, role: 'viewer' })).status, 400, email)
    assert.equal((await invite({ email: `${'a'.repeat(250)}@example.com`, role: 'viewer' })).status, 400)
    assert.equal((await invite({ email: 'a@example.com', role: 'owner' })).status, 400)
    assert.equal((await invite({ email: 'a@example.com', role: 'viewer', project_id: 'absent' })).status, 404)
    assert.equal((await invite({ email: ada.email, role: 'viewer' })).status, 409)
  })

  it('is replaced by a newer one, withdrawn by a removal, and stored only as a hash', async () => {
    const first = (await invite({ email: 'twice@example.com', role: 'viewer' })).json
    const second = (await invite({ email: 'twice@example.com', role: 'editor' })).json
    assert.equal((await accept({ code: codeOf(first.invitation), name: 'x', password: goodPassword })).status, 401)
    assert.equal(second.role, 'editor')
    const stored = await service.sql("select hash::text || coalesce(project_id, '') as text from member_links")
    assert.ok(stored.every(({ text }) => !text.includes(codeOf(second.invitation))))
    assert.equal((await service.manage('DELETE', `/members/${second.id}`)).status, 200)
    assert.equal((await accept({ code: codeOf(second.invitation), name: 'x', password: goodPassword })).status, 401)
  })

  it('ends when the admin who made it is demoted, removed or a revoked token, and so does a reset link', async () => {
    // Another node counts failures of its own.
    const node = await service.another()
    const open = (name: 'link' | 'link:accept', json: Json) => ask(node.url, 'POST', `/console/${name}`, { json })
    const member = await join(service, 'viewer', shop.id)
    const scopes = [shop.id, undefined]
    for (const scope of scopes)
      for (const end of ['demote', 'remove'] as const) {
        const admin = await join(service, 'admin', scope)
        const email = `late-${end}-${scope ?? 'all'}@example.com`
        const made = (await admin.manage('POST', '/members', { email, role: 'admin', project_id: scope ?? null })).json
        const reset = (await admin.manage('POST', `/members/${member.id}:reset`)).json
        assert.ok(made.invitation_expires_at)
        const own = { role: 'editor', ...(scope && { project_id: scope }) }
        const ended =
          end === 'remove'
            ? await service.manage('DELETE', `/members/${admin.id}`)
            : await service.manage('PATCH', `/members/${admin.id}`, { json: own })
        assert.equal(ended.status, 200)
        const code = codeOf(made.invitation)
        assert.equal((await open('link:accept', { code, name: 'x', password: goodPassword })).status, 401, email)
        assert.equal(
          (await open('link:accept', { code: codeOf(reset), password: 'another good one' })).status,
          401,
          email
        )
        const [listed] = await listOf(ada, `/members?member_id=${made.id}`)
        assert.equal((listed as Json).invitation_expires_at, null)
        // Another admin renews it.
        const renewed = (await invite({ email, role: 'viewer', project_id: scope ?? null })).json
        const joined = await open('link:accept', {
          code: codeOf(renewed.invitation),
          name: 'x',
          password: goodPassword
        })
        assert.equal(joined.status, 200)
      }
    const { token, id } = (await service.manage('POST', '/tokens', { json: { name: 'leaked', role: 'admin' } })).json
    const json = { email: 'of-a-token@example.com', role: 'admin' }
    const headers = { authorization: `Bearer ${token}` }
    const { invitation } = (await service.ask('POST', '/manage/v1/members', { headers, json })).json
    assert.equal((await open('link', { code: codeOf(invitation) })).status, 200)
    assert.equal((await service.manage('DELETE', `/tokens/${id}`)).status, 200)
    assert.equal((await open('link', { code: codeOf(invitation) })).status, 401)
    await node.close()
  })

  it('expires', async () => {
    const { invitation, id } = (await invite({ email: 'late@example.com', role: 'viewer' })).json
    await service.sql("update member_links set expires_at = now() - interval '1 second' where member_id = $1", [id])
    assert.equal((await accept({ code: codeOf(invitation), name: 'x', password: goodPassword })).status, 401)
  })

  it('wants a name and a password of 12 characters, and is not used up by a refusal', async () => {
    const { invitation } = (await invite({ email: 'short@example.com', role: 'viewer' })).json
    const code = codeOf(invitation)
    const unseen = ['', ' ', '\u200b', '\u202e \u2060'].map((name) => ({ name, password: goodPassword }))
    const wrong = [{}, { name: 'x' }, ...unseen, { name: 'x', password: 'elevenchars' }]
    for (const given of wrong) assert.equal((await accept({ code, ...given })).status, 400, JSON.stringify(given))
    assert.equal((await accept({ code, name: 'x', password: 'x'.repeat(513) })).status, 400)
    assert.equal((await accept({ code, name: 'a\u0000b', password: goodPassword })).status, 400)
    assert.equal((await accept({ code, name: 'x', password: '🐎'.repeat(12) })).status, 200)
    assert.equal((await signIn(service, 'short@example.com', '🐎'.repeat(12))).status, 200)
  })

  it('accepted twice at the same time makes one account', async () => {
    const { invitation } = (await invite({ email: 'race@example.com', role: 'viewer' })).json
    const replies = await Promise.all(
      [1, 2, 3, 4].map((n) => accept({ code: codeOf(invitation), name: `n${n}`, password: goodPassword }))
    )
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401])
  })
})
