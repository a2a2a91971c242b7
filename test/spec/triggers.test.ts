import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../src/platform/ids.ts'
import {
  devices,
  ended,
  everyone,
  givenCampaign,
  givenMany,
  put,
  readTrigger,
  run,
  triggered,
  users
} from '../support/campaigns.ts'
import { asApp } from '../support/devices.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { accepted, lost, rejected, retry, scriptedSender } from '../support/sender.ts'
import { eventually, startService } from '../support/service.ts'

const sender = scriptedSender()
const service = await startService({}, { sender })
const pushesTo = (prefix: string) => sender.pushes.filter(({ deviceId }) => deviceId.startsWith(`${prefix}-`))

describe('a broadcast', () => {
  it('reaches every device once, however many batches it takes', async () => {
    const project = await service.project()
    await givenMany(service, project, 3_210, 'all')
    await givenCampaign(service, project, { message: { title: '{{ user.n }} for {{ device.id }}' } })
    const found = await run(project, everyone)
    assert.deepEqual([found.state, found.counts.targeted, found.counts.sent], ['completed', 3_210, 3_210])
    const reached = pushesTo('all')
    assert.equal(reached.length, 3_210)
    assert.equal(new Set(reached.map(({ deviceId }) => deviceId)).size, 3_210)
    for (const { deviceId, content } of reached.slice(0, 50))
      assert.equal((content as Json).notification.title, `${deviceId.slice(4)} for ${deviceId}`)
    assert.equal(new Set(reached.map(({ collapseId }) => collapseId)).size, 3_210)
  })

  it('starts with a small batch, so that the first push does not wait for a thousand others', async () => {
    const project = await service.project()
    await givenMany(service, project, 300, 'early')
    await givenCampaign(service, project)
    sender.shut()
    try {
      const id = await triggered(project, everyone)
      const sizes = () =>
        service.sql(
          'select cardinality(device_ids) as size from trigger_chunks where trigger_id = $1 order by number',
          [id]
        )
      await eventually(async () => assert.deepEqual(await sizes(), [{ size: 100 }, { size: 200 }]))
      sender.open()
      assert.equal((await ended(project, id)).counts.sent, 300)
    } finally {
      sender.open()
    }
  })

  it('reaches a device with two tokens once, by the newer one', async () => {
    const project = await service.project()
    await givenMany(service, project, 3, 'two')
    await givenCampaign(service, project)
    await service.sql(
      `insert into push_tokens (project_id, hash, device_id, token, type, environment, registered_at)
       select project_id, sha256('newer'), device_id, 'newer', type, environment, registered_at + interval '1 s'
         from push_tokens where project_id = $1 and device_id = 'two-1'`,
      [project.id]
    )
    assert.equal((await run(project, everyone)).counts.sent, 3)
    assert.deepEqual(
      sender.to('two-1').map(({ token }) => token),
      ['newer']
    )
  })

  it('reaches only matching users, with all their devices, also where these fill more than a batch', async () => {
    const project = await service.project()
    await givenMany(service, project, 1_501, 'odd')
    await service.sql(
      'update devices set user_id = (select id from users where project_id = $1 order by id limit 1) where project_id = $1 and id < $2',
      [project.id, 'odd-5']
    )
    await givenCampaign(service, project, { segment: { attribute: 'user.odd', operator: 'equals', value: true } })
    const [{ n }] = await service.sql(
      `select count(*)::int as n from devices d join users u on u.project_id = d.project_id and u.id = d.user_id
        where d.project_id = $1 and (u.properties ->> 'odd')::boolean`,
      [project.id]
    )
    assert.ok(n > 900)
    assert.equal((await run(project, everyone)).counts.sent, n)
    assert.equal(new Set(pushesTo('odd').map(({ deviceId }) => deviceId)).size, n)
  })

  it('does not hold up a trigger for one user, of its own project or of another', async () => {
    const [big, small] = [await service.project(), await service.project()]
    await givenMany(service, big, 8_000, 'big')
    await givenUser(big, 'ana', 'one-big')
    await givenUser(small, 'ana', 'one-small')
    for (const project of [big, small]) await givenCampaign(service, project)
    const slow = await triggered(big, everyone)
    await eventually(async () => assert.ok((await readTrigger(big, slow)).counts.sent > 0))
    const singles = await Promise.all(
      Array.from({ length: 10 }, (_, index) => run(index % 2 ? big : small, users('ana')))
    )
    assert.ok(singles.every(({ counts }) => counts.sent === 1))
    assert.equal((await readTrigger(big, slow)).state, 'running', 'the others came in between')
    assert.equal((await ended(big, slow, 60_000)).counts.sent, 8_001)
  })
})

describe('the counters of a trigger', () => {
  it('count failures by reason, and wait for retries before the trigger ends', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'c-ok', 'c-dead', 'c-later', 'c-lost')
    await givenCampaign(service, project)
    sender.script('c-dead', rejected('TOKEN_UNREGISTERED', new Date()))
    sender.script('c-later', retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 200 }), accepted())
    sender.script('c-lost', lost(), accepted())
    const id = await triggered(project, users('ana'))
    const found = await ended(project, id)
    assert.deepEqual([found.state, found.counts.sent, found.counts.failed], ['completed', 3, 1])
    assert.deepEqual(found.failures, { TOKEN_UNREGISTERED: 1 })
    const [first, second] = sender.to('c-lost')
    assert.equal(first!.collapseId, second!.collapseId)
  })

  it('count reports of devices, also after the end', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'r-1')
    await givenCampaign(service, project)
    const { trigger_id } = await run(project, users('ana'))
    const [push] = sender.to('r-1')
    for (const name of ['PUSH_NOTIFICATION_RECEIVED', 'PUSH_NOTIFICATION_TAPPED', 'PUSH_NOTIFICATION_TAPPED']) {
      const event = { device_id: 'r-1', name, event_property: { message_id: push!.messageId } }
      await asApp(project, 'POST', '/events', { events: [event] })
    }
    const { counts, state } = await readTrigger(project, trigger_id)
    assert.deepEqual([state, counts.delivered, counts.tapped], ['completed', 1, 1])
  })

  it('count the pending messages of a deleted user as skipped', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'd-1')
    await givenCampaign(service, project)
    sender.script('d-1', retry('GATEWAY_UNAVAILABLE', { notBefore: Date.now() + 3_600_000 }))
    const id = await triggered(project, users('ana'))
    await eventually(async () => {
      const [row] = await service.sql('select state from messages where project_id = $1', [project.id])
      assert.equal(row?.state, 'queued')
    })
    assert.equal((await project.call('DELETE', '/api/v1/users/ana')).status, 200)
    const found = await ended(project, id)
    assert.deepEqual([found.state, found.skipped], ['completed', { canceled: 1 }])
  })
})

describe('GET /api/v1/triggers', () => {
  it('lists newest first, by campaign and by state, page by page', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 'l-1')
    for (const id of ['a', 'b']) await givenCampaign(service, project, { campaign_id: id })
    const ids: string[] = []
    for (const campaign of ['a', 'b', 'a']) ids.unshift((await run(project, users('ana'), campaign)).trigger_id)
    const list = async (query: string) => (await project.call('GET', `/api/v1/triggers?${query}`)).json
    const idsOf = (page: Json) => page.items.map(({ trigger_id }: Json) => trigger_id)
    assert.deepEqual(idsOf(await list('')), ids)
    assert.deepEqual(idsOf(await list('campaign_id=a')), [ids[0], ids[2]])
    assert.deepEqual(idsOf(await list('state=completed&campaign_id=b')), [ids[1]])
    assert.deepEqual(idsOf(await list('state=running')), [])
    const first = await list('limit=2&state=completed')
    assert.deepEqual(idsOf(await list(`limit=2&state=completed&cursor=${first.next_cursor}`)), [ids[2]])
    assert.equal((await project.call('GET', '/api/v1/triggers?state=odd')).status, 400)
  })

  it('responds with 404 to an unknown id, and accepts ids in any case', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const { trigger_id } = await run(project, devices('none'))
    assert.equal((await project.call('GET', `/api/v1/triggers/${trigger_id.toUpperCase()}`)).status, 200)
    for (const id of ['x', '0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17', '%00'])
      assert.ok([400, 404].includes((await project.call('GET', `/api/v1/triggers/${id}`)).status), id)
  })
})

describe('GET /api/v1/triggers by time', () => {
  it('finds scheduled triggers by the time of their acceptance, page by page', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const names: Record<string, string> = {}
    const times: string[] = []
    for (const name of ['first', 'later', 'soon', 'last']) {
      times.push(new Date().toISOString())
      const hours = name === 'later' ? 48 : 24
      const at = name === 'later' || name === 'soon' ? { send_at: new Date(Date.now() + hours * 3_600_000) } : {}
      names[await triggered(project, { ...users('nobody'), ...at })] = name
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const list = async (query: string): Promise<string[]> => {
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const page = (await project.call('GET', `/api/v1/triggers?limit=1&${query}${cursor}`)).json
        found.push(...page.items.map(({ trigger_id }: Json) => names[trigger_id]))
        if (!page.next_cursor) return found
        cursor = `&cursor=${page.next_cursor}`
      }
    }
    assert.deepEqual(await list(''), ['later', 'soon', 'last', 'first'])
    assert.deepEqual(await list(`accepted_after=${times[2]}`), ['soon', 'last'])
    assert.deepEqual(await list(`accepted_before=${times[2]}`), ['later', 'first'])
    assert.deepEqual(await list(`accepted_after=${times[1]}&accepted_before=${times[3]}`), ['later', 'soon'])
    assert.deepEqual(await list(`accepted_before=${times[3]}&state=scheduled&campaign_id=news`), ['later', 'soon'])
    assert.deepEqual(await list(`accepted_before=${times[2]}&campaign_id=news`), ['later', 'first'])
    assert.deepEqual(await list(`accepted_before=${times[0]}`), [])
    const tomorrow = new Date(Date.now() + 3_600_000).toISOString()
    assert.deepEqual(await list(`accepted_after=${tomorrow}`), [])
  })

  it('lists triggers accepted since one time and before another, with a cursor too', async () => {
    const project = await service.project()
    await givenCampaign(service, project)
    const ids: string[] = []
    const times: string[] = []
    for (let index = 0; index < 4; index += 1) {
      times.push(new Date().toISOString())
      ids.push(await triggered(project, users('nobody')))
      // An id contains its time to the millisecond.
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    const list = async (query: string): Promise<Json> => (await project.call('GET', `/api/v1/triggers?${query}`)).json
    const idsOf = ({ items }: Json) => items.map(({ trigger_id }: Json) => ids.indexOf(trigger_id))
    assert.deepEqual(idsOf(await list(`accepted_after=${times[2]}`)), [3, 2])
    assert.deepEqual(idsOf(await list(`accepted_before=${times[2]}`)), [1, 0])
    assert.deepEqual(
      idsOf(await list(`accepted_after=${times[1]}&accepted_before=${times[3]}&campaign_id=news`)),
      [2, 1]
    )
    const page = await list(`accepted_after=${times[1]}&limit=2`)
    assert.deepEqual(idsOf(page), [3, 2])
    assert.deepEqual(idsOf(await list(`accepted_after=${times[1]}&cursor=${page.next_cursor}`)), [1])
    assert.deepEqual(idsOf(await list(`accepted_before=${times[2]}&cursor=${page.next_cursor}`)), [1, 0])
    assert.deepEqual(
      idsOf(await list('accepted_after=2000-01-01&accepted_before=2001-01-01T00:00Z&state=completed')),
      []
    )
    for (const wrong of ['yesterday', '2026-02-30', '', '1e999']) {
      const reply = await project.call('GET', `/api/v1/triggers?accepted_after=${wrong}`)
      assert.deepEqual([reply.status, reply.json.details[0].path], [400, 'accepted_after'], wrong)
    }
    const managed = await service.manage('GET', `/projects/${project.id}/triggers?accepted_after=${times[3]}`)
    assert.deepEqual(idsOf(managed.json), [3])
    for (const zone of ['%2B09', '%2B0900', '%2B09:00']) {
      const inTokyo = new Date(Date.parse(times[2]!) + 9 * 3_600_000).toISOString().replace('Z', zone)
      assert.deepEqual(idsOf(await list(`accepted_after=${inTokyo}`)), [3, 2], zone)
      assert.deepEqual(idsOf(await list(`accepted_before=${inTokyo}`)), [1, 0], zone)
    }
  })
})

describe('the author of a trigger', () => {
  it('is named in the management API: a key, a token, a person, and the service itself', async () => {
    const project = await service.project()
    const other = await service.project()
    await givenUser(project, 'ana', 'author-1')
    await givenCampaign(service, project)
    const ofKey = await triggered(project, users('ana'))
    const path = `/projects/${project.id}/api/v1/campaigns/news:trigger`
    const ofToken = (await service.manage('POST', path, { json: users('ana') })).json.trigger_id
    const read = async (id: string) =>
      (await service.manage('GET', `/projects/${project.id}/triggers/${id}`)).json as Json
    const [key, token] = [await read(ofKey), await read(ofToken)]
    assert.match(key.actor, /^key [0-9a-f-]{36}$/)
    assert.match(token.actor, /^token [0-9a-f-]{36}$/)
    assert.deepEqual([key.actor_name, token.actor_name], ['test', 'bootstrap'])
    // The one of the key stays as it was in the public API.
    assert.ok(!('actor' in (await readTrigger(project, ofKey))))
    const { items } = (await service.manage('GET', `/projects/${project.id}/triggers`)).json
    assert.deepEqual(
      items.map(({ actor }: Json) => actor),
      [token.actor, key.actor]
    )
    await service.sql('update triggers set actor = null where project_id = $1', [project.id])
    assert.deepEqual([(await read(ofKey)).actor, (await read(ofKey)).actor_name], [null, null])
    for (const id of [ofKey, newId(), 'x', '%00'])
      assert.ok([400, 404].includes((await service.manage('GET', `/projects/${other.id}/triggers/${id}`)).status), id)
  })
})

describe('a trigger whose job is lost', () => {
  it('is found by the sweeper and goes on where it was', async () => {
    const project = await service.project()
    await givenUser(project, 'ana', 's-1')
    await givenCampaign(service, project)
    const [{ version }] = await service.sql('select version from campaigns where project_id = $1', [project.id])
    const id = newId()
    await service.sql(
      `insert into triggers (project_id, id, campaign_id, campaign_version, state, audience, properties, accepted_at, cursor,
         chunks, open_chunks, targeted, sent, failed, skipped, delivered, tapped, skipped_for, failed_for, wake_at)
       values ($1, $2, 'news', $3, 'accepted', '{"targets":[["project_user_id","ana"]]}', '{}', now(), '', 0, 0, 0, 0, 0, 0,
         0, 0, '{}', '{}', now())`,
      [project.id, id, version]
    )
    assert.equal((await ended(project, id)).counts.sent, 1)
  })

  it('also where only the jobs of its batches are lost', async () => {
    const project = await service.project()
    await givenMany(service, project, 40, 'lost')
    // A throttle keeps batches waiting, so that the test has jobs to lose.
    await givenCampaign(service, project, { throttle_per_second: 10 })
    const id = await triggered(project, everyone)
    await eventually(async () => {
      const rows = await service.sql(
        `delete from jobs where project_id = $1 and name = 'campaigns.chunk' returning id`,
        [project.id]
      )
      assert.ok(rows.length > 0)
    })
    await service.sql('update triggers set wake_at = now() where project_id = $1', [project.id])
    assert.equal((await ended(project, id, 30_000)).counts.sent, 40)
    assert.equal(new Set(pushesTo('lost').map(({ deviceId }) => deviceId)).size, 40)
  })
})

describe('a hostile segment', () => {
  const never = new Promise<never>(() => {})
  /** Cancels the active queries that match patterns, as the time limit does. */
  const cutOff = `select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'active' and query like '% ~ %'`

  it('fails its own trigger with a reason, and no other; many of them at once delay no other project', async (t) => {
    const [bad, good] = [await service.project(), await service.project()]
    for (const project of [bad, good]) await givenUser(project, 'ana', `h-${project.id}`)
    await put(bad, 'ana', { text: `${'abcd'.repeat(500)}!` })
    const slow = '(.+)\\1(.+)\\2(.+)\\3$'
    await givenCampaign(service, bad, { segment: { attribute: 'user.text', operator: 'matches', value: slow } })
    await givenCampaign(service, good)
    const id = await triggered(bad, everyone)
    const previews = Array.from({ length: 20 }, () =>
      bad.call('POST', '/api/v1/campaigns/news:preview', { json: everyone })
    )
    for (let round = 0; round < 5; round += 1) await put(good, 'ana', { round })
    assert.equal((await run(good, users('ana'))).counts.sent, 1)
    // The first queries ran into the time limit; the test cancels later ones itself, which is faster.
    const first = await Promise.race(
      previews.map(async (preview) => ((await preview).status === 200 ? preview : never))
    )
    assert.deepEqual([first.json.audience.complete, first.json.audience.reason], [false, 'segment_too_slow'])
    const cutting = setInterval(() => void service.sql(cutOff).catch(() => {}), 300)
    t.after(() => clearInterval(cutting))
    const answers = await Promise.all(previews)
    const busy = answers.filter(({ status }) => status === 429)
    assert.ok(busy.length > 0 && busy.every(({ headers }) => Number(headers['retry-after']) > 0))
    assert.ok(answers.every(({ status }) => status === 200 || status === 429))
    const found = await ended(bad, id, 40_000)
    assert.deepEqual([found.state, found.reason, found.counts.targeted], ['failed', 'segment_too_slow', 0])
    const explained = await bad.call('GET', `/api/v1/triggers/${id}/explain?project_user_id=ana`)
    assert.equal(explained.status, 200, explained.text)
    assert.equal(explained.json.gates.find(({ gate }: Json) => gate === 'segment').reason, 'segment_too_slow')
  })
})
