import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withClient } from '../support/database.ts'
import { startService } from './service.ts'

interface Page<Row> {
  items: Row[]
  next_cursor: string | null
}

test('projects, keys, tokens, the audit log and nodes are managed from the command line', async (t) => {
  const { tidings, credentials, url, databaseUrl } = await startService(t)

  await t.test('a project is created, shown, changed and listed', async () => {
    const created = await tidings(
      'project',
      'create',
      'Web shop',
      '--id',
      'shop',
      '--plan',
      'free',
      '--events-days',
      '7'
    )
    assert.equal(created.code, 0, created.stderr)
    assert.match(created.stdout, /^Project +shop$/m)
    assert.match(created.stdout, /^Events kept +7 days$/m)

    const changed = await tidings(
      'project',
      'update',
      'shop',
      '--mode',
      'simulator',
      '--requests-per-second',
      '5',
      '--json'
    )
    const project = changed.json<{ mode: string; limits: object; retention: object }>()
    assert.equal(project.mode, 'simulator')
    assert.deepEqual(project.limits, {
      requests_per_second: 5,
      client_requests_per_second: 5000,
      triggers_per_second: 10
    })
    assert.deepEqual(project.retention, { events_days: 7, messages_days: 90 })

    const shown = await tidings('project', 'show', 'shop')
    assert.match(shown.stdout, /^Requests +5 per second$/m)
    const back = await tidings('project', 'update', 'shop', '--requests-per-second', 'default')
    assert.equal(back.code, 0, back.stderr)
    assert.match(back.stdout, /^Requests +1,?000 per second$/m)

    const listed = await tidings('project', 'list')
    assert.match(listed.stdout, /^ID +NAME +MODE +PLAN +STATE +CREATED$/m)
    assert.match(listed.stdout, /^shop +Web shop +simulator +free +running +\d{4}-\d\d-\d\dT/m)
    assert.match(listed.stdout, /^demo /m)
  })

  await t.test('a project that exists, a plan that does not and an empty change are refused', async () => {
    const twice = await tidings('project', 'create', 'Shop', '--id', 'shop')
    assert.equal(twice.code, 1)
    assert.match(twice.stderr, /A project shop exists already/)
    const plan = await tidings('project', 'create', 'X', '--plan', 'gold', '--json')
    assert.equal(plan.code, 1)
    const refused = JSON.parse(plan.stderr)
    assert.equal(refused.code, 'invalid_parameter')
    assert.match(refused.error, /plan: must be one of/)
    assert.equal(plan.stdout, '')
    assert.equal((await tidings('project', 'update', 'shop')).code, 2)
    assert.equal((await tidings('project', 'update', 'shop', '--events-days', '0')).code, 2)
    assert.equal((await tidings('project', 'show', 'nope')).code, 3)
  })

  await t.test('a project is paused and resumed, and its state is shown', async () => {
    const paused = await tidings('project', 'pause', 'shop')
    assert.equal(paused.code, 0, paused.stderr)
    assert.match(paused.stdout, /^The project shop is paused since 2\S+Z\. It sends nothing\.$/m)
    assert.match((await tidings('project', 'list')).stdout, /^shop .* paused /m)
    assert.match((await tidings('project', 'show', 'shop')).stdout, /^State +paused since 2\S+Z$/m)
    const report = await tidings('doctor', '--json')
    const { checks } = report.json<{ checks: { name: string; message: string; status: string }[] }>()
    const found = checks.filter(({ name }) => name === 'Projects')
    assert.deepEqual([found.length, found[0]?.status], [1, 'warn'])
    assert.match(found[0]!.message, /^shop is paused since 2\S+Z and sends nothing\. .*tidings project resume shop$/)
    const resumed = await tidings('project', 'resume', 'shop', '--json')
    assert.equal(resumed.json<{ paused_at: null }>().paused_at, null)
    assert.equal((await tidings('project', 'resume', 'shop')).stdout, 'The project shop is running.\n')
    assert.equal((await tidings('project', 'pause', 'nope')).code, 3)
  })

  await t.test('a key is shown once, works, is listed without its text, and stops working when revoked', async () => {
    const created = await tidings('key', 'create', 'backend', '--kind', 'secret', '--json')
    const { id, key } = created.json<{ id: string; key: string }>()
    assert.match(key, /^svc_sk_/)
    const call = () =>
      fetch(`${url}/api/v1/users`, {
        method: 'POST',
        headers: { 'x-service-project-id': 'demo', 'x-service-api-key': key, 'content-type': 'application/json' },
        body: '{"project_user_id":"ana"}'
      })
    assert.equal((await call()).status, 200)

    const listed = await tidings('key', 'list')
    assert.match(listed.stdout, new RegExp(`^${id} +secret +backend `, 'm'))
    const asJson = await tidings('key', 'list', '--json')
    assert.equal(asJson.json<Page<object>>().items.length, 3)
    for (const secret of [key, credentials.secret_key, credentials.public_key]) {
      assert.ok(!listed.stdout.includes(secret) && !asJson.stdout.includes(secret))
    }

    assert.match((await tidings('key', 'revoke', id)).stdout, /^Revoked the key /)
    assert.equal((await call()).status, 401)
    assert.equal((await tidings('key', 'revoke', id)).code, 3)
    assert.equal((await tidings('key', 'create', 'backend')).code, 2)
    assert.equal((await tidings('key', 'create', 'backend', '--kind', 'golden')).code, 2)
  })

  await t.test('a key expires at its time, and after a rotation the old one works for the overlap', async () => {
    const created = await tidings('key', 'create', 'ci', '--kind', 'secret', '--expires', '90d', '--json')
    const { id, key, expires_at } = created.json<{ id: string; key: string; expires_at: string }>()
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 90 * 86_400_000) < 60_000, expires_at)
    const opens = async (text: string) => {
      const headers = { 'x-service-project-id': 'demo', 'x-service-api-key': text }
      return (await fetch(`${url}/api/v1/users/nobody`, { headers })).status === 404
    }
    const rotated = await tidings('key', 'rotate', id, '--overlap', '1h')
    assert.equal(rotated.code, 0, rotated.stderr)
    const [, text] = /^Key +(svc_sk_\S+)$/m.exec(rotated.stdout)!
    assert.match(rotated.stdout, /^Name +ci$/m)
    assert.match(rotated.stderr, /Save the key now: it is not shown again\. The old key works until 2\S+Z\./)
    assert.deepEqual([await opens(key), await opens(text!)], [true, true])
    const listed = await tidings('key', 'list')
    assert.match(listed.stdout, /^ID +KIND +NAME +KEY +CREATED +LAST USED +EXPIRES +POLICY$/m)
    assert.match(listed.stdout, new RegExp(`^${id} .* \\d{4}-\\d\\d-\\d\\dT\\S+Z +none$`, 'm'))

    const atOnce = await tidings('key', 'rotate', id, '--overlap', '0s')
    assert.match(atOnce.stderr, /The old key no longer works\./)
    assert.equal(await opens(key), false)
    assert.match((await tidings('key', 'list')).stdout, new RegExp(`^${id} .* expired \\d{4}-\\S+Z +none$`, 'm'))
    assert.equal((await tidings('key', 'rotate', id)).code, 1, 'it has expired')
    const absent = await tidings('key', 'rotate', '0199c0de-0000-7000-8000-000000000001')
    assert.equal(absent.code, 3)
    assert.match(absent.stderr, /^Key "0199c0de-\S+" does not exist\. List keys with `tidings key list`\.$/m)
    const both = await tidings('key', 'rotate', id, '--overlap', '99d', '--expires', '2020-01-31T00:00:00Z')
    assert.equal(both.code, 1)
    assert.match(both.stderr, /^overlap: must be a duration .*\nexpires_at: must be in the future\.$/m)
    for (const when of ['tomorrow', '90', '2099-01-31', '-1d', '0s', '99999d']) {
      const wrong = await tidings('key', 'create', 'x', '--kind', 'secret', `--expires=${when}`)
      assert.equal(wrong.code, 2, when)
      assert.match(wrong.stderr, /^--expires: must be a time such as \S+Z, or a duration from now such as .*90d/)
    }
    const past = await tidings('key', 'create', 'x', '--kind', 'secret', '--expires', '2020-01-31T00:00:00Z')
    assert.equal(past.code, 1)
    assert.match(past.stderr, /^expires_at: .*future/)
  })

  await t.test('a token needs --project or --all-projects, and its text is never listed', async () => {
    const unsaid = await tidings('token', 'create', 'deploy', '--role', 'viewer')
    assert.equal(unsaid.code, 2)
    assert.match(unsaid.stderr, /--project <id> or --all-projects/)

    const created = await tidings('token', 'create', 'deploy', '--role', 'viewer', '--project', 'demo', '--json')
    const { id, token, project_id } = created.json<{ id: string; token: string; project_id: string }>()
    assert.equal(project_id, 'demo')
    const listed = await tidings('token', 'list')
    assert.match(listed.stdout, new RegExp(`^${id} +deploy +viewer +demo `, 'm'))
    for (const secret of [token, credentials.admin_token]) assert.ok(!listed.stdout.includes(secret))

    const forbidden = await tidings('project', 'create', 'X', '--token', token)
    assert.equal(forbidden.code, 4)
    assert.match(forbidden.stderr, /needs the role admin/)
    assert.equal((await tidings('token', 'revoke', id)).code, 0)
    const revoked = await tidings('project', 'list', '--token', token)
    assert.equal(revoked.code, 4)
    assert.ok(!revoked.stderr.includes(token))
  })

  await t.test('the audit log and the nodes are listed', async () => {
    const audit = await tidings('audit', 'list')
    assert.match(audit.stdout, /^AT +WHO +DID +WHAT +DETAILS$/m)
    assert.match(audit.stdout, / revoked the key +backend /)
    const installation = await tidings('audit', 'installation', '--action', 'project')
    assert.match(installation.stdout, /^AT +WHO +DID +WHAT +DETAILS$/m)
    assert.match(installation.stdout, / created the project +/)
    const nodes = (await tidings('nodes', '--json')).json<Page<{ role: string }>>()
    assert.deepEqual(
      nodes.items.map(({ role }) => role),
      ['all']
    )
    assert.equal(nodes.next_cursor, null)
  })

  await t.test('a list joins pages, stops at --limit, and continues from --cursor', async () => {
    const one = (await tidings('audit', 'list', '--limit', '2', '--json')).json<Page<{ id: string }>>()
    assert.equal(one.items.length, 2)
    const rest = await tidings('audit', 'list', '--limit', 'all', '--cursor', one.next_cursor!, '--json')
    const all = (await tidings('audit', 'list', '--limit', 'all', '--json')).json<Page<{ id: string }>>()
    assert.deepEqual([...one.items, ...rest.json<Page<{ id: string }>>().items], all.items)
    assert.equal((await tidings('audit', 'list', '--limit', '0')).code, 2)
    assert.match((await tidings('audit', 'list', '--limit', '2')).stderr, /--limit all/)
  })

  await t.test('dead jobs are listed and revived', async () => {
    assert.match((await tidings('job', 'list')).stdout, /^No dead jobs\.$/m)
    const id = '0199c0de-0000-7000-8000-000000000001'
    await withClient(databaseUrl, (client) =>
      client.query(
        `insert into dead_jobs (id, name, project_id, payload, attempts, error, created_at, died_at)
         values ($1, 'tests.unknown', 'shop', '{}', 3, 'it broke', now(), now())`,
        [id]
      )
    )
    assert.match((await tidings('job', 'list')).stdout, new RegExp(`tests\\.unknown +shop +3 +it broke +${id}`))
    assert.equal((await tidings('job', 'revive')).code, 2)
    assert.deepEqual((await tidings('job', 'revive', '--all', '--json')).json(), { revived: [id] })
    assert.equal((await tidings('job', 'revive', id)).code, 3)
  })

  await t.test('deleting a project without a terminal needs --yes', async () => {
    const asked = await tidings('project', 'delete', 'shop')
    assert.equal(asked.code, 2)
    assert.match(asked.stderr, /--yes/)
    assert.equal((await tidings('project', 'show', 'shop')).code, 0)
    assert.deepEqual((await tidings('project', 'delete', 'shop', '--yes', '--json')).json(), { deleted: 'shop' })
    assert.equal((await tidings('project', 'delete', 'shop', '--yes')).code, 3)
  })
})
