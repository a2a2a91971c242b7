import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, trigger, users } from '../support/campaigns.ts'
import { ask } from '../support/http.ts'
import { send, to } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'
import { agentKey, withKey } from './keys.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

async function givenPeople(count: number, campaign: object = {}) {
  const project = await service.project()
  await givenMany(service, project, count, project.id)
  await givenCampaign(service, project, campaign)
  return project
}
const named = ({ id }: TestProject, from: number, some: number) =>
  Array.from({ length: some }, (_, n) => `${id}-user-${from + n}`)
const used = async ({ id }: TestProject) =>
  Number(
    (
      await service.sql(
        `select coalesce(sum(case when ended_at is null then most else reached end), 0) as n
           from recipient_reservations where project_id = $1`,
        [id]
      )
    )[0]!.n
  )

describe('recipients of 24 hours (B.5)', () => {
  it('are never oversold: of 50 concurrent triggers and sends on two nodes exactly those that fit are accepted', async () => {
    const project = await givenPeople(10)
    const node = await service.another()
    const agent = await agentKey(service, project, { max_recipients_per_day: 30 })
    const headers = { 'x-service-project-id': project.id, 'x-service-api-key': agent.secretKey }
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const url = n % 2 ? service.url : node.url
        const names = named(project, 1 + (n % 8), 3)
        return n % 3
          ? ask(url, 'POST', '/api/v1/campaigns/news:trigger', { headers, json: users(...names) })
          : ask(url, 'POST', '/api/v1/messages:send', {
              headers,
              json: { push_notifications: names.map((name) => to(name)) }
            })
      })
    )
    const statuses = Map.groupBy(replies, ({ status }) => status)
    assert.deepEqual([...statuses.keys()].sort(), [200, 403])
    assert.equal(statuses.get(200)!.length, 10, 'ten times three users')
    assert.ok(statuses.get(403)!.every(({ json }) => json.code === 'policy_refused'))
    for (const { json } of statuses.get(200)!) if (json.trigger_id) await ended(project, json.trigger_id)
    assert.equal(await used(project), 30)
    assert.equal((await send(agent, [to(`${project.id}-user-1`)])).status, 403)
  })

  it('that an action did not reach are given back when it ends', async () => {
    const project = await givenPeople(4, { segment: { attribute: 'user.odd', operator: 'equals', value: true } })
    const agent = await agentKey(service, project, { max_recipients_per_day: 5 })
    const reply = await trigger(agent, users(...named(project, 1, 4)))
    assert.equal(reply.status, 200, reply.text)
    await ended(project, reply.json.trigger_id)
    assert.equal(await used(project), 2, 'two of the four are in the segment')
    assert.equal(
      (
        await send(
          agent,
          [1, 2, 3].map((n) => to(`${project.id}-user-${n}`))
        )
      ).status,
      200
    )
  })

  it('of a canceled trigger are given back', async () => {
    const project = await givenPeople(5)
    const agent = await agentKey(service, project, { max_recipients_per_day: 5 })
    await service.manage('POST', `/projects/${project.id}:pause`)
    const { trigger_id } = (await trigger(agent, everyone)).json
    assert.equal(await used(project), 5)
    assert.equal((await trigger(agent, everyone)).status, 403)
    const canceled = await project.call('POST', `/api/v1/triggers/${trigger_id}:cancel`)
    assert.equal(canceled.json.state, 'canceled')
    assert.equal(await used(project), 0)
    assert.equal((await trigger(agent, everyone)).status, 200)
  })

  it('count again after 24 hours', async () => {
    const project = await givenPeople(2)
    const agent = await agentKey(service, project, { max_recipients_per_day: 2 })
    assert.equal(
      (
        await send(
          agent,
          [1, 2].map((n) => to(`${project.id}-user-${n}`))
        )
      ).status,
      200
    )
    assert.equal((await send(agent, [to(`${project.id}-user-1`)])).status, 403)
    await service.sql(
      `update recipient_reservations set at = (at at time zone 'UTC' - interval '24 hours') at time zone 'UTC' where project_id = $1`,
      [project.id]
    )
    assert.equal((await send(agent, [to(`${project.id}-user-1`)])).status, 200)
  })

  it('count over rotations of a key, and not for other keys and projects', async () => {
    const project = await givenPeople(3)
    const agent = await agentKey(service, project, { max_recipients_per_day: 2 })
    const one = [to(`${project.id}-user-1`)]
    assert.equal((await send(agent, one)).status, 200)
    const { json } = await service.manage('POST', `/projects/${project.id}/keys/${agent.keyId}:rotate`)
    const rotated = withKey(project, json.key)
    assert.equal((await send(rotated, one)).status, 200)
    for (const each of [agent, rotated]) assert.equal((await send(each, one)).status, 403)
    assert.equal((await send(await agentKey(service, project, { max_recipients_per_day: 2 }), one)).status, 200)
    assert.equal((await send(project, one)).status, 200, 'no policy')
  })

  it('a refused trigger reserves nothing', async () => {
    const project = await givenPeople(3, { status: 'draft' })
    const agent = await agentKey(service, project, { max_recipients_per_day: 3 })
    assert.equal((await trigger(agent, users(...named(project, 1, 2)))).status, 400)
    assert.equal(await used(project), 0)
  })
})

describe('an audience that grew after the check', () => {
  it('is not sent to beyond the limit, and the reason is kept', async () => {
    const project = await givenPeople(40)
    const agent = await agentKey(service, project, { max_recipients: 41 })
    // While the project is paused the trigger waits, and the audience doubles.
    await service.manage('POST', `/projects/${project.id}:pause`)
    const reply = await trigger(agent, everyone)
    assert.equal(reply.status, 200, reply.text)
    await service.sql(
      `insert into users (project_id, id, project_user_id, properties, created_at, updated_at)
       select project_id, ('10000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'late-' || n, '{}', now(), now()
         from projects cross join generate_series(1, 40) n where project_id = $1`,
      [project.id]
    )
    await service.sql(
      `insert into devices (project_id, id, user_id, platform, push_permission, facts, created_at, updated_at, last_seen_at)
       select project_id, 'late-' || d || '-' || n || project_id, ('10000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
              'IOS', true, '{}', now(), now(), now()
         from projects cross join generate_series(1, 40) n cross join generate_series(1, 2) d where project_id = $1`,
      [project.id]
    )
    await service.sql(
      `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
       select project_id, sha256((project_id || id)::bytea), id, encode(sha256((project_id || id)::bytea), 'hex'), 'APNS',
              'production', now() from devices where project_id = $1 and id like 'late-%'`,
      [project.id]
    )
    await service.manage('POST', `/projects/${project.id}:resume`)
    const end = await ended(project, reply.json.trigger_id)
    const [reached] = await service.sql(
      'select count(distinct user_id)::int as users from messages where project_id = $1 and trigger_id = $2',
      [project.id, end.trigger_id]
    )
    assert.equal(reached!.users, 41)
    assert.deepEqual([end.counts.targeted, end.counts.skipped], [120, 120 - end.counts.sent])
    assert.deepEqual(end.skipped, { policy_limit: end.counts.skipped })
    const [skipped] = await service.sql(
      `select u.project_user_id as name from trigger_skips s join users u on u.project_id = s.project_id and u.id = s.user_id
        where s.project_id = $1 limit 1`,
      [project.id]
    )
    const explained = await project.call(
      'GET',
      `/api/v1/triggers/${end.trigger_id}/explain?project_user_id=${skipped!.name}`
    )
    assert.match(explained.text, /as many users as the policy of its key allows/)
  })
})
