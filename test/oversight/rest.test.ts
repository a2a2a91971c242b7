import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ended, everyone, givenCampaign, givenMany, trigger, users } from '../support/campaigns.ts'
import type { Json, Reply } from '../support/http.ts'
import { send, to } from '../support/messages.ts'
import { scriptedSender } from '../support/sender.ts'
import { startService, type TestProject } from '../support/service.ts'
import { agentKey, none, setPolicy } from './keys.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })

const codeOf = ({ status, json }: Reply) => [status, json?.code, json?.details?.[0]?.path]
const policyRefused = (rule: string) => [403, 'policy_refused', `policy.${rule}`]
const post = (project: TestProject, path: string, json: Json): Promise<Reply> =>
  project.call('POST', `/api/v1${path}`, { json })

/** Hours that contain this minute, and end within two. */
function now() {
  const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16)
  return { from: at(-60), to: at(2), timezone: 'UTC' }
}

async function givenPeople(count = 5) {
  const project = await service.project()
  await givenMany(service, project, count, project.id)
  await givenCampaign(service, project)
  return { project, names: (some: number) => Array.from({ length: some }, (_, n) => `${project.id}-user-${n + 1}`) }
}

const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

/** A key that has to confirm broadcasts. `confirm` previews one, and returns the body that triggers it. */
async function givenConfirming(policy: Json = {}) {
  const { project } = await givenPeople()
  const agent = await agentKey(service, project, { confirm_broadcasts: true, ...policy })
  const confirm = async () => {
    const { confirmation_id } = (await post(agent, '/campaigns/news:preview', everyone)).json
    return { ...everyone, confirmation_id }
  }
  const triggers = async () => {
    const rows = await service.sql('select id from triggers where project_id = $1 order by id', [project.id])
    return rows.map(({ id }) => id as string)
  }
  return { project, agent, confirm, triggers }
}

describe('a policy on the REST API (B.5)', () => {
  it('skills open the routes that do the same, and nothing else', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, { skills: ['create-user'] })
    assert.equal((await post(agent, '/users', { project_user_id: 'ana' })).status, 200)
    const others: [string, string, Json?][] = [
      ['POST', '/events', { events: [] }],
      ['POST', '/messages:send', { push_notifications: [to('ana')] }],
      ['POST', '/campaigns/news:trigger', everyone],
      ['POST', '/campaigns/news:preview', everyone],
      ['GET', '/users/ana'],
      ['DELETE', '/users/ana'],
      ['GET', '/triggers'],
      ['POST', '/live-activities:start', {}]
    ]
    for (const [method, path, json] of others) {
      const reply = await agent.call(method, `/api/v1${path}`, json ? { json } : {})
      assert.deepEqual(codeOf(reply), policyRefused('skills'), `${method} ${path}`)
      assert.match(reply.json.error, /It allows create-user\./)
    }
    assert.equal(sender.to(`${project.id}-1`).length, 0)
  })

  it('each of the contract’s skills opens its own route', async () => {
    const { project } = await givenPeople()
    const routes: [string, string, Json][] = [
      ['create-user', '/users', { project_user_id: 'ana' }],
      ['track-event', '/events', { events: [{ name: 'x', project_user_id: 'ana' }] }],
      ['send-push-notification', '/messages:send', { push_notifications: [to('ana')] }],
      ['trigger-campaign', '/campaigns/news:trigger', users('ana')]
    ]
    for (const [skill] of routes) {
      const agent = await agentKey(service, project, { skills: [skill] })
      for (const [other, where, body] of routes)
        assert.equal((await post(agent, where, body)).status === 403, other !== skill, `${skill} at ${where}`)
    }
  })

  it('skills that read open their GETs and the preview', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, { skills: ['list-campaigns', 'preview-campaign'] })
    assert.equal((await agent.call('GET', '/api/v1/campaigns')).status, 200)
    assert.equal((await post(agent, '/campaigns/news:preview', everyone)).status, 200)
    assert.deepEqual(codeOf(await agent.call('GET', '/api/v1/messages')), policyRefused('skills'))
  })

  it('dry_run refuses everything that changes or sends; reading and previews work', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, { dry_run: true })
    for (const [path, json] of [
      ['/users', { project_user_id: 'ana' }],
      ['/campaigns/news:trigger', everyone],
      ['/messages:send', { push_notifications: [to('ana')] }]
    ] as const)
      assert.deepEqual(codeOf(await post(agent, path, json)), [403, 'dry_run_only', 'policy.dry_run'])
    assert.equal((await agent.call('GET', '/api/v1/triggers')).json.items.length, 0)
    assert.equal((await post(agent, '/campaigns/news:preview', everyone)).status, 200)
  })

  it('quiet_hours refuse sends and say when they end; other actions go on', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, { quiet_hours: now() })
    for (const reply of [await trigger(agent, everyone), await send(agent, [to(`${project.id}-user-1`)])]) {
      assert.deepEqual(codeOf(reply), policyRefused('quiet_hours'))
      assert.match(reply.json.error, new RegExp(`until ${new Date().toISOString().slice(0, 4)}-.*Z`))
    }
    assert.equal((await post(agent, '/users', { project_user_id: 'ana' })).status, 200)
  })

  it('max_recipients counts distinct users of an action', async () => {
    const { project, names } = await givenPeople()
    const agent = await agentKey(service, project, { max_recipients: 3 })
    assert.deepEqual(codeOf(await trigger(agent, everyone)), policyRefused('max_recipients'))
    assert.equal((await trigger(agent, users(...names(3)))).status, 200)
    assert.deepEqual(codeOf(await trigger(agent, users(...names(4)))), policyRefused('max_recipients'))
    assert.equal((await trigger(agent, users(...names(3), 'absent', 'absent too'))).status, 200, 'these are no users')
    const items = names(4).map((name) => to(name))
    assert.deepEqual(codeOf(await send(agent, items)), policyRefused('max_recipients'))
    const twice = [...items.slice(0, 3), ...items.slice(0, 3)]
    assert.equal((await send(agent, twice)).status, 200, 'the same three users')
  })

  it('approval_above and confirm_broadcasts are refused with what to do instead', async () => {
    const { project, names } = await givenPeople()
    const agent = await agentKey(service, project, { approval_above: 2 })
    for (const reply of [
      await trigger(agent, everyone),
      await send(
        agent,
        names(3).map((name) => to(name))
      )
    ]) {
      assert.deepEqual(codeOf(reply), [403, 'approval_required', 'policy.approval_above'])
      assert.match(reply.json.error, /A2A or MCP/)
    }
    assert.equal((await trigger(agent, users(...names(2)))).status, 200)
    await setPolicy(service, agent, { approval_above: null, confirm_broadcasts: true })
    const reply = await trigger(agent, everyone)
    assert.deepEqual(codeOf(reply), [403, 'confirmation_required', 'policy.confirm_broadcasts'])
    assert.equal((await trigger(agent, users(...names(5)))).status, 200, 'named users are no broadcast')
  })

  it('a broadcast is confirmed by the id of a preview of the same request, once', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, { confirm_broadcasts: true })
    const body = { ...everyone, properties: { code: 'A' } }
    const preview = async () => (await post(agent, '/campaigns/news:preview', body)).json
    const { confirmation_id, campaign_version, audience } = await preview()
    assert.deepEqual([campaign_version, audience.users], [1, 5])
    const other = await trigger(agent, { ...everyone, properties: { code: 'B' }, confirmation_id })
    assert.deepEqual(codeOf(other), [403, 'confirmation_required', 'confirmation_id'])
    const done = await trigger(agent, { ...body, confirmation_id })
    assert.equal(done.status, 200, done.text)
    assert.equal(done.headers['x-service-warning'], undefined)
    assert.deepEqual((await trigger(agent, { ...body, confirmation_id })).json, done.json, 'a repeat')
    for (const wrong of ['nonsense', confirmation_id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))])
      assert.equal((await trigger(agent, { ...body, confirmation_id: wrong })).json.code, 'confirmation_required')
    assert.equal((await trigger(agent, { ...body, confirmation_id: 7 })).status, 400)
    const late = await preview()
    await givenCampaign(service, project, { message: { title: 'Changed' } })
    const refused = await trigger(agent, { ...body, confirmation_id: late.confirmation_id })
    assert.deepEqual(codeOf(refused), [403, 'confirmation_required', 'confirmation_id'])
    assert.match(refused.json.error, /version 2, not 1/)
    const rows = await service.sql('select id from triggers where project_id = $1', [project.id])
    assert.deepEqual(rows, [{ id: done.json.trigger_id }])
  })

  it('a key without such a policy gets no confirmation id, and a warning where it sends one', async () => {
    const { project } = await givenPeople()
    const preview = (await post(project, '/campaigns/news:preview', everyone)).json
    assert.equal(preview.confirmation_id, undefined)
    const reply = await trigger(project, { ...everyone, confirmation_id: 7 })
    assert.deepEqual([reply.status, reply.headers['x-service-warning']], [200, 'unknown field "confirmation_id"'])
  })

  it('an audience left out is judged by what it would reach', async () => {
    const { project } = await givenPeople()
    const campaign = { campaign_id: 'all', default_audience: { broadcast: true } }
    await givenCampaign(service, project, campaign)
    const agent = await agentKey(service, project, { confirm_broadcasts: true })
    assert.equal((await trigger(agent, {}, 'all')).json.code, 'confirmation_required')
    await setPolicy(service, agent, { max_recipients: 4 })
    assert.equal((await trigger(agent, {}, 'all')).json.code, 'policy_refused')
  })

  it('a repeat with the same key returns the first response, whatever the policy says by then', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, { max_recipients_per_day: 5 })
    const first = await trigger(agent, everyone, 'news', keyed('once'))
    assert.equal(first.status, 200, first.text)
    const again = await trigger(agent, everyone, 'news', keyed('once'))
    assert.deepEqual([again.status, again.json], [200, first.json])
    assert.deepEqual(codeOf(await trigger(agent, everyone)), policyRefused('max_recipients_per_day'))
    await ended(project, first.json.trigger_id)
  })

  it('a confirmed broadcast is sent once per idempotency key, also with another confirmation or without the policy', async () => {
    const { project, agent, confirm, triggers } = await givenConfirming({ max_recipients_per_day: 5 })
    const first = await confirm()
    const done = await trigger(agent, first, 'news', keyed('op-4711'))
    assert.equal(done.status, 200, done.text)
    const other = await trigger(agent, await confirm(), 'news', keyed('op-4711'))
    assert.deepEqual([other.status, other.text], [409, 'Idempotency key was used with another body'])
    const late = await trigger(agent, first, 'news', keyed('op-4712'))
    assert.deepEqual([late.text, late.headers['idempotent-replay']], [done.text, 'true'], 'of one confirmation')
    await setPolicy(service, agent, null)
    for (const key of ['op-4711', 'op-4712']) {
      const again = await trigger(agent, first, 'news', keyed(key))
      assert.deepEqual([again.text, again.headers['idempotent-replay']], [done.text, 'true'], key)
    }
    assert.deepEqual(await triggers(), [done.json.trigger_id])
    await ended(project, done.json.trigger_id)
  })

  it('a confirmed broadcast that is refused leaves its idempotency key free, and an expired key is new', async () => {
    const { project, agent, confirm, triggers } = await givenConfirming()
    const late = await confirm()
    await givenCampaign(service, project, { message: { title: 'Changed' } })
    assert.equal((await trigger(agent, late, 'news', keyed('op-4711'))).json.code, 'confirmation_required')
    const done = await trigger(agent, await confirm(), 'news', keyed('op-4711'))
    assert.equal(done.status, 200, done.text)
    await service.sql(`update idempotency_keys set expires_at = now() where project_id = $1`, [project.id])
    const next = await trigger(agent, await confirm(), 'news', keyed('op-4711'))
    assert.equal(next.status, 200, next.text)
    assert.deepEqual(await triggers(), [done.json.trigger_id, next.json.trigger_id])
  })

  it('requests at once that share an idempotency key or a confirmation lead to one trigger for each', async () => {
    const { agent, confirm, triggers } = await givenConfirming()
    const [one, two] = [await confirm(), await confirm()]
    const [first, ...same] = await Promise.all([1, 2, 3, 4].map(() => trigger(agent, one, 'news', keyed('a'))))
    assert.equal(first!.status, 200, first!.text)
    for (const reply of same) assert.deepEqual([reply.status, reply.text], [200, first!.text])
    const keys = ['a', 'b', 'c']
    const crossed = await Promise.all(
      keys.map((key) => Promise.all([one, two].map((body) => trigger(agent, body, 'news', keyed(key)))))
    )
    for (const replies of crossed)
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409], 'each key has one body')
    const made = new Set(
      crossed.flatMap((replies) => replies.filter(({ status }) => status === 200).map(({ text }) => text))
    )
    assert.ok(made.has(first!.text))
    assert.equal((await triggers()).length, made.size)
  })

  it('a channel of Live Activities is changed by no key that has a limit on recipients, nor in its quiet hours', async () => {
    const project = await service.project({ mode: 'simulator' })
    const made = await post(project, '/live-activity-channels', { attributes_type: 'Match', storage: 'none' })
    const change = (agent: TestProject, verb: string) =>
      post(agent, `/live-activity-channels/${made.json.channel_id}:${verb}`, { content_state: { home: 1 } })
    const agent = await agentKey(service, project, { quiet_hours: now() })
    assert.deepEqual(codeOf(await change(agent, 'update')), policyRefused('quiet_hours'))
    for (const policy of [
      { max_recipients: 100_000 },
      { max_recipients_per_day: 100_000 },
      { approval_above: 100_000 },
      { confirm_broadcasts: true }
    ]) {
      await setPolicy(service, agent, { ...none, ...policy })
      for (const verb of ['update', 'end'])
        assert.deepEqual(codeOf(await change(agent, verb)), policyRefused(Object.keys(policy)[0]!))
    }
    await setPolicy(service, agent, none)
    assert.equal((await change(agent, 'update')).status, 200)
  })

  it('keys without a policy meet none of it, and their refusals keep their texts', async () => {
    const { project } = await givenPeople()
    const agent = await agentKey(service, project, null)
    assert.equal((await trigger(agent, everyone)).status, 200)
    assert.equal((await trigger(agent, everyone, 'absent')).text, 'Failed to send campaign trigger message')
  })
})
