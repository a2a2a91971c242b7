import assert from 'node:assert/strict'
import { it } from 'node:test'
import { codeOf, goodPassword, join, quick } from '../support/members.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService({}, quick)

it('an invitation by another project, which is not accepted, takes a member from no admin', async () => {
  const [shop, other] = [await service.project(), await service.project()]
  const admin = await join(service, 'admin', shop.id)
  const member = await join(service, 'editor', shop.id)
  const stranger = await join(service, 'admin', other.id)
  const before = codeOf((await admin.manage('POST', `/members/${member.id}:reset`)).json)
  const invited = { email: member.email, role: 'viewer', project_id: other.id }
  assert.equal((await stranger.manage('POST', '/members', invited)).status, 201)
  assert.equal((await stranger.manage('POST', `/members/${member.id}:reset`)).status, 403)

  const sessions = `/sessions?member_id=${member.id}`
  assert.equal((await admin.manage('GET', sessions)).json.items.length, 1)
  assert.equal((await stranger.manage('GET', sessions)).json.items.length, 0)
  assert.equal((await admin.manage('DELETE', sessions)).json.ended, 1)
  assert.equal((await member.manage('GET', '/projects')).status, 401)
  // The invitation is taken back, which takes no link of others with it.
  assert.equal((await stranger.manage('DELETE', `/members/${member.id}`)).status, 200)
  const used = await service.ask('POST', '/console/link:accept', { json: { code: before, password: goodPassword } })
  assert.equal(used.status, 200, used.text)
  assert.equal((await admin.manage('POST', `/members/${member.id}:reset`)).status, 201)
})

it('erasing a project takes reset links from its members, and from no one whom it had only invited', async () => {
  const [shop, other] = [await service.project(), await service.project()]
  const boss = await join(service, 'admin')
  const [invited, member] = [await join(service, 'editor', shop.id), await join(service, 'editor', other.id)]
  for (const [{ email }, project] of [[invited, other] as const, [member, shop] as const])
    assert.equal((await boss.manage('POST', '/members', { email, role: 'viewer', project_id: project.id })).status, 201)
  const codes = []
  for (const { id } of [invited, member]) codes.push(codeOf((await boss.manage('POST', `/members/${id}:reset`)).json))
  assert.equal((await boss.manage('DELETE', `/projects/${other.id}`)).status, 200)
  await eventually(async () =>
    assert.deepEqual(await service.sql('select 1 from memberships where project_id = $1', [other.id]), [])
  )
  const used = codes.map((code) =>
    service.ask('POST', '/console/link:accept', { json: { code, password: goodPassword } })
  )
  assert.deepEqual(
    (await Promise.all(used)).map(({ status }) => status),
    [200, 401]
  )
})

it('a member who is left with an open invitation alone is no business of other admins', async () => {
  const [shop, other, third] = [await service.project(), await service.project(), await service.project()]
  const member = await join(service, 'editor', shop.id)
  const [inviting, stranger] = [await join(service, 'admin', other.id), await join(service, 'admin', third.id)]
  const invited = { email: member.email, role: 'viewer', project_id: other.id }
  assert.equal((await inviting.manage('POST', '/members', invited)).status, 201)
  await service.sql('delete from memberships where member_id = $1 and project_id = $2', [member.id, shop.id])
  for (const admin of [inviting, stranger])
    assert.deepEqual((await admin.manage('GET', `/sessions?member_id=${member.id}`)).json.items, [])
})

it('an admin of the whole installation who is a member of a project too is no business of its admins', async () => {
  const shop = await service.project()
  const boss = await join(service, 'admin')
  const admin = await join(service, 'admin', shop.id)
  await service.sql(
    `insert into memberships (member_id, project_id, role, source, created_at, accepted_at)
     select member_id, $2, 'editor', source, created_at, accepted_at from memberships where member_id = $1`,
    [boss.id, shop.id]
  )
  assert.deepEqual((await admin.manage('GET', `/sessions?member_id=${boss.id}`)).json.items, [])
  assert.deepEqual((await admin.manage('DELETE', `/sessions?member_id=${boss.id}`)).json, { ended: 0 })
  assert.equal((await boss.manage('GET', '/account')).status, 200)
})
