import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { agentQueue } from '../../src/a2a/jobs.ts'
import { eraseCopies } from '../../src/manage/privacy/copies.ts'
import { Touched } from '../../src/manage/privacy/rewriting.ts'
import type { Pool } from '../../src/platform/db/db.ts'
import type { Statement } from '../../src/platform/db/statement.ts'
import { newId, type ProjectId } from '../../src/platform/ids.ts'
import { add } from '../../src/platform/jobs/jobs.ts'
import { agentOf } from '../a2a/agent.ts'
import { contentsOf } from '../backup/support/backups.ts'
import { run } from '../cli/service.ts'
import { agentKey } from '../oversight/keys.ts'
import { givenCampaign, givenMany, triggered, users } from '../support/campaigns.ts'
import { link } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { plant, whereIs } from '../support/planted.ts'
import { filesWith } from '../support/planted-elsewhere.ts'
import { poolOf } from '../support/pooled.ts'
import { temporaryFolder } from '../support/program.ts'
import { startReceiver } from '../support/receiver.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()
const receiver = await startReceiver({ secure: false })
after(() => receiver.close())

const at = ({ id }: Pick<TestProject, 'id'>) => `/projects/${id}/erasures`
const erase = async (project: TestProject, project_user_id: string) => {
  const reply = await service.manage('POST', at(project), { json: { project_user_id } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

/** Erases the copies that name a user, with a pool of its own. */
const eraseIn = (pool: Pool, { id }: TestProject, projectUserId: string, touched = new Touched()) =>
  eraseCopies(
    { pool, rejectApproval: async () => {} },
    id as ProjectId,
    { projectUserId, userId: null, deviceIds: [] },
    touched
  )

const eventsAbout = (...ids: string[]) => ids.map((project_user_id) => ({ data: { project_user_id } }))

const insertCall = (project: TestProject, body: string) =>
  service.sql(
    `insert into webhook_calls (project_id, id, lane, position, state, source_kind, source_id, url, body, attempts,
                                created_at, next_at, expires_at, settled_at)
     values ($1, $2, 'lane', 1, 'delivered', 'webhook', 'w', 'https://example.com', $3, 1, now(), now(), now(), now())`,
    [project.id, newId(), body]
  )

describe('the erasure of a user', () => {
  it('leaves nothing of the person in any column of any table or in a file but what its receipt names, and others keep theirs', async (t) => {
    const mark = 'mk7f3q9x'
    const { project, userId, repeat } = await plant(service, `${receiver.url}/hook`, mark)
    const [{ id }] = await service.sql('select id from users where project_user_id = $1', [userId])
    const before = await whereIs(service, mark)
    for (const place of [
      'users.properties',
      'devices.facts',
      'events.properties',
      'messages.content',
      'journeys.properties',
      'trigger_skips.value',
      'triggers.audience',
      'triggers.properties',
      'webhook_calls.body',
      'a2a_tasks.content',
      'approvals.command',
      'approvals.note',
      'campaign_versions.definition',
      'consents.source',
      'live_activity_changes.activity',
      'live_activity_channels.content_state',
      'live_activity_tokens.activity_id',
      'push_tokens.token',
      'confirmations.command',
      'idempotency_keys.answer',
      'simulator_inbox.item'
    ])
      assert.ok(before[place], `${place} holds the mark before: ${JSON.stringify(before)}`)
    const { DATA_DIR } = service.config
    assert.match((await filesWith(DATA_DIR, mark)).join(), /journal/, 'the journal of accepted pushes names devices')
    const bos = await whereIs(service, 'bo-phone')

    const receipt = await erase(project, userId)
    const left = {
      'audit_log.details': 1,
      'campaign_versions.definition': 1,
      'idempotency_keys.key': 3,
      'live_activity_channels.content_state': 1
    }
    assert.deepEqual(await whereIs(service, mark), left)
    assert.deepEqual(await whereIs(service, id), {})
    const remaining = new Set(Object.keys(left).map((place) => place.split('.')[0]!))
    for (const table of Object.keys(before).map((place) => place.split('.')[0]!))
      if (table === 'idempotency_keys' || !remaining.has(table))
        assert.ok(receipt.erased[table] > 0, `${table}: ${JSON.stringify(receipt.erased)}`)
    assert.deepEqual(
      receipt.remaining.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
      [
        ['idempotency_keys', 3],
        ['audit_log', 1],
        ['campaign_versions', 1],
        ['live_activity_channels', 1]
      ]
    )
    await eventually(async () => assert.deepEqual(await filesWith(DATA_DIR, mark), []))
    const file = join(await temporaryFolder(t), 'after.backup')
    const MASTER_KEY = service.config.MASTER_KEY!.toString('base64')
    const env = { DATABASE_URL: service.databaseUrl, DATA_DIR: await temporaryFolder(t), MASTER_KEY }
    assert.equal((await run(['backup', file], { env })).code, 0)
    const backed = Object.entries((await contentsOf(file)).tables).filter(([, { rows }]) => rows.join().includes(mark))
    assert.deepEqual(new Set(backed.map(([table]) => table)), remaining, 'a backup made afterwards holds no more')
    assert.ok(Date.parse(receipt.remaining[0].until) > Date.now())
    assert.ok(!JSON.stringify(receipt).includes(mark))
    const still = await whereIs(service, 'bo-phone')
    for (const place of ['devices.id', 'messages.device_id', 'simulator_inbox.item', 'webhook_calls.body'])
      assert.equal(still[place], bos[place], place)
    assert.equal((await project.call('GET', '/api/v1/users/bo')).status, 200)
    // Repeats of requests that named the user get an answer, and do nothing again.
    await repeat()
    assert.deepEqual(await whereIs(service, id), {})
  })

  it('has a receipt that is listed, found by the id of the user, and proves itself; one that was changed does not', async () => {
    const [project, other] = [await service.project(), await service.project()]
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana.smith' } })
    const receipt = await erase(project, 'ana.smith')
    assert.deepEqual([receipt.erased.users, receipt.remaining], [1, []])
    const again = await erase(project, 'ana.smith')
    assert.deepEqual([again.erased.users, again.subject], [0, receipt.subject], 'an absent user has nothing left')
    await erase(project, 'bo.smith')

    const list = async (query = '') => (await service.manage('GET', `${at(project)}${query}`)).json.items
    assert.equal((await list()).length, 3)
    assert.deepEqual(await list('?project_user_id=ana.smith'), [again, receipt])
    assert.deepEqual(await list('?project_user_id=nobody'), [])
    assert.deepEqual((await service.manage('GET', `${at(project)}/${receipt.erasure_id}`)).json, receipt)

    const verify = async (json: object, where = project) =>
      (await service.manage('POST', `${at(where)}:verify`, { json })).json
    assert.deepEqual(await verify({ receipt }), { valid: true, same_user: null })
    assert.deepEqual(await verify({ receipt, project_user_id: 'ana.smith' }), { valid: true, same_user: true })
    assert.deepEqual(await verify({ receipt, project_user_id: 'bo.smith' }), { valid: true, same_user: false })
    const forged = { ...receipt, erased: { ...receipt.erased, users: 2 } }
    assert.equal((await verify({ receipt: forged })).valid, false)
    assert.equal((await verify({ receipt }, other)).valid, false)

    const audit = (await service.manage('GET', `/projects/${project.id}/audit?action=user.erase`)).json.items
    assert.equal(audit.length, 3)
    assert.ok(!JSON.stringify(audit).includes('smith'))
  })

  it('counts a row once that both of its readings rewrite', async (t) => {
    const project = await service.project()
    const pool = poolOf(service.databaseUrl, 2)
    t.after(() => pool.close())
    const body = JSON.stringify({ events: eventsAbout('ana.smith', 'bo.smith') })
    await insertCall(project, body)
    const touched = new Touched()
    for (const reading of ['before the deletion', 'after it']) {
      // As another node that writes while the erasure runs.
      await service.sql('update webhook_calls set body = $2 where project_id = $1', [project.id, body])
      await eraseIn(pool, project, 'ana.smith', touched)
      const [{ body: left }] = await service.sql('select body from webhook_calls where project_id = $1', [project.id])
      assert.equal(left, JSON.stringify({ events: eventsAbout('bo.smith') }), reading)
    }
    assert.equal(touched.counts().webhook_calls, 1)
  })

  it('does not bring back whom another erasure removed from a copy after it was read', async (t) => {
    const project = await service.project()
    const pool = poolOf(service.databaseUrl, 3)
    t.after(() => pool.close())
    await givenCampaign(service, project)
    const ids = ['dee.jones', 'eli.jones', 'fay.jones']
    for (const [rounds, table] of ['triggers', 'events', 'calls', 'keys'].entries()) {
      await triggered(project, { ...users(...ids), send_at: new Date(Date.now() + 86_400_000).toISOString() })
      await service.sql('insert into webhook_events (project_id, id, webhook_id, events) values ($1, $2, $3, $4)', [
        ...[project.id, newId(), newId()],
        JSON.stringify(eventsAbout(...ids))
      ])
      await insertCall(project, JSON.stringify({ events: eventsAbout(...ids) }))
      await service.sql(
        `insert into idempotency_keys (project_id, scope, key, fingerprint, work, answer, held_until, expires_at)
         values ($1, 'test', $2, '\\x00', '{}', $3, now(), now() + interval '1 day')`,
        [project.id, table, JSON.stringify({ ids })]
      )
      const query = async (statement: Statement, values: unknown[]) => {
        const rows = await pool.query(statement, values)
        if (statement.name === `erasures.read_${table}`) await eraseIn(pool, project, 'eli.jones')
        return rows
      }
      await eraseIn({ ...pool, query } as Pool, project, 'dee.jones')
      const left = await service.sql(
        `select audience::text as copy from triggers where project_id = $1
          union all select events::text from webhook_events where project_id = $1
          union all select body from webhook_calls where project_id = $1
          union all select answer::text from idempotency_keys where project_id = $1 and scope = 'test'`,
        [project.id]
      )
      const copies = left.map(({ copy }) => copy).filter((copy) => copy.includes('fay.jones'))
      assert.equal(copies.length, 4 * (rounds + 1), 'the other user stays')
      assert.doesNotMatch(copies.join(), /dee\.jones|eli\.jones/, table)
    }
  })

  it('leaves a broadcast that waits for an approval open without the user, and rejects a request that names the user', async () => {
    const project = await service.project({ mode: 'simulator' })
    const manage = (method: string, path: string, json?: Json) =>
      service.manage(method, `/projects/${project.id}${path}`, { json })
    const hook = { url: `${receiver.url}/decisions`, events: ['approval.decided'] }
    const hooked = await manage('POST', '/webhooks', hook)
    assert.equal(hooked.status, 201, hooked.text)
    await givenMany(service, project, 3, 'sample')
    await givenCampaign(service, project, { message: { title: 'Hello {{ user.id }}' } })
    const key = await agentKey(service, project, { approval_above: 0 })
    const agent = agentOf(service, key, 'plain')
    const everyone = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
    const wide = await agent.send(everyone)
    const asked = await agent.send(everyone, { metadata: { for: 'sample-user-2' } })
    const { broadcast: _, ...request } = everyone
    const named = await agent.send({ ...request, targets: [{ projectUserId: 'sample-user-2' }] })
    const idOf = (task: Json): string => task.status.message.metadata.approvalId

    const { erased } = await erase(project, 'sample-user-2')
    assert.deepEqual([erased.approvals, erased.a2a_tasks], [3, 2])
    assert.deepEqual(await whereIs(service, 'sample-user-2'), {})
    const still = (await manage('GET', `/approvals/${idOf(wide)}`)).json
    assert.deepEqual(
      [still.state, still.sample.map(({ title }: Json) => title).toSorted()],
      ['pending', ['Hello sample-user-1', 'Hello sample-user-3']]
    )
    const decided = await eventually(() => {
      const events = receiver.received
        .filter(({ path }) => path === '/decisions')
        .flatMap(({ body }) => JSON.parse(body).events as Json[])
      assert.equal(events.length, 2)
      return events
    })
    assert.deepEqual(
      new Set(decided.map(({ approval_id, state, note }) => `${approval_id} ${state} ${note}`)),
      new Set([asked, named].map((task) => `${idOf(task)} rejected A user that the request names was erased.`))
    )
    // The sample is another now, so a person is shown what is left.
    const changed = await manage('POST', `/approvals/${idOf(wide)}:approve`)
    assert.equal(changed.status, 409, changed.text)
    assert.equal((await manage('POST', `/approvals/${changed.json.details[0].message}:approve`)).status, 200)
    await eventually(async () => assert.equal((await agent.get(wide.id)).status.state, 'completed'))
  })

  it('counts changes of a channel that are being sent, and the next one removes them', async () => {
    const project = await service.project({ mode: 'simulator' })
    const path = '/api/v1/live-activity-channels'
    const channel = { attributes_type: 'Ride', storage: 'most_recent' }
    const { channel_id } = (await project.call('POST', path, { json: channel })).json
    const drivenBy = (driver: string) =>
      project.call('POST', `${path}/${channel_id}:update`, { json: { content_state: { driver } } })
    const changesLeft = async (id: string) =>
      (await erase(project, id)).remaining
        .filter(({ table }: { table: string }) => table === 'live_activity_changes')
        .map(({ rows, reason }: { rows: number; reason: string }) => [rows, reason.replace(/[,.] .*/, '')])

    assert.equal((await drivenBy('ana.smith')).status, 200)
    // The job looks for a next change before it ends, and would send again the one that is marked below.
    await eventually(async () =>
      assert.deepEqual(await service.sql(`select 1 from jobs where name = 'activity-channels.serve'`), [])
    )
    const [{ settled_at }] = await service.sql(`select settled_at from live_activity_changes where project_id = $1`, [
      project.id
    ])
    const settle = (at: Date | null) =>
      service.sql(`update live_activity_changes set state = $2, settled_at = $3 where project_id = $1`, [
        project.id,
        at ? 'accepted' : 'handed',
        at
      ])
    // As while its gateway has it.
    await settle(null)
    assert.deepEqual(await changesLeft('ana.smith'), [[1, 'Changes of a channel were being sent']])
    await settle(settled_at)
    assert.deepEqual(await changesLeft('ana.smith'), [])
    assert.equal((await drivenBy('anna')).status, 200)
    assert.deepEqual(await changesLeft('anna'), [[1, 'The id may be an ordinary word']])
  })

  it('is for administrators, and refuses a bad id and an unknown receipt', async () => {
    const project = await service.project()
    const bad = await service.manage('POST', at(project), { json: { project_user_id: '..' } })
    assert.deepEqual([bad.status, bad.json.code], [400, 'invalid_project_user_id'])
    for (const id of ['nonsense', '00000000-0000-7000-8000-000000000000'])
      assert.equal((await service.manage('GET', `${at(project)}/${id}`)).status, 404)
    const json = { name: 'editor', role: 'editor', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json })).json
    const headers = { authorization: `Bearer ${token}` }
    const refused = await service.manage('POST', at(project), { json: { project_user_id: 'ana' }, headers })
    assert.equal(refused.status, 403)
  })

  it('spares texts in which a short id is only a part of a word, and says so', async () => {
    const project = await service.project()
    for (const project_user_id of ['an', 'anna'])
      await project.call('POST', '/api/v1/users', { json: { project_user_id } })
    const receipt = await erase(project, 'an')
    assert.deepEqual(
      receipt.remaining.map(({ table, rows }: { table: string; rows: number }) => [table, rows]),
      [['a2a_tasks', 0]]
    )
    assert.equal((await project.call('GET', '/api/v1/users/anna')).status, 200)
  })

  it('spares what is about others if the id is an ordinary word, and finds what names the user in a field', async () => {
    const project = await service.project()
    const agent = agentOf(service, project, 'official')
    const create = (data: object) => agent.result('send', { message: agent.message({ skill: 'create-user', ...data }) })
    await create({ projectUserId: 'customer' })
    await create({ projectUserId: 'bo', properties: { kind: 'customer', device: 'phone' } })
    await project.call('POST', '/api/v1/devices', { json: { devices: [{ id: 'phone', platform: 'IOS' }] } })
    await link(project, 'phone', 'customer')
    const tasks = () => service.sql('select content::text from a2a_tasks where project_id = $1', [project.id])
    assert.equal((await tasks()).length, 2)
    await erase(project, 'customer')
    const left = await tasks()
    assert.equal(left.length, 1)
    assert.match(left[0]!.content, /"bo"/)
  })

  it('ends the job of a task that it removed', async (t) => {
    const project = await service.project()
    const pool = poolOf(service.databaseUrl)
    t.after(() => pool.close())
    const job = { name: 'a2a.run', queue: agentQueue }
    await add(pool, job, { projectId: project.id as ProjectId, taskId: newId() }, { projectId: project.id })
    await eventually(async () => {
      for (const table of ['jobs', 'dead_jobs'])
        assert.deepEqual(await service.sql(`select 1 from ${table} where name = 'a2a.run'`), [], table)
    })
  })
})
