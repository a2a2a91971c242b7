import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { givenCampaign } from '../support/campaigns.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'

const service = await startService()

interface Stream {
  status: number
  /** The names of all events so far. */
  names: string[]
  /** The kinds that were told so far. */
  kinds: Set<string>
  ended: boolean
}

/** Opens a stream of changes and returns once it is ready, or was refused. */
async function follow(
  t: TestContext,
  projectId: string,
  headers: Record<string, string> = { authorization: `Bearer ${service.adminToken}` },
  url = service.url
): Promise<Stream> {
  const closing = new AbortController()
  t.after(() => closing.abort())
  const response = await fetch(`${url}/manage/v1/projects/${projectId}/changes`, { headers, signal: closing.signal })
  const stream: Stream = { status: response.status, names: [], kinds: new Set(), ended: false }
  if (response.status !== 200) return stream
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  void (async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const whole = text.split('\n\n')
      text = whole.pop()!
      for (const event of whole) {
        stream.names.push(/^event: (\w+)$/m.exec(event)?.[1] ?? '')
        for (const kind of JSON.parse(/^data: (.*)$/m.exec(event)![1]!).kinds ?? []) stream.kinds.add(kind)
      }
    }
  })()
    // Ended by the service, or with its connection.
    .catch(() => {})
    .finally(() => {
      stream.ended = true
    })
  await eventually(async () => assert.equal(stream.names[0], 'ready'))
  return stream
}

const tells = (stream: Stream, ...kinds: string[]) =>
  eventually(async () =>
    assert.deepEqual([...stream.kinds].filter((kind) => kinds.includes(kind)).sort(), kinds.sort())
  )
const sendTo = (project: TestProject, user: string) =>
  project.call('POST', '/api/v1/messages:send', {
    json: { push_notifications: [{ target: { project_user_id: user }, title: 'Hello' }] }
  })

describe('the stream of changes of a project', () => {
  it('tells the kinds that have changed, on every node, and nothing of other projects', async (t) => {
    const [project, other] = [await service.project({ mode: 'simulator' }), await service.project()]
    const second = await service.another()
    const [here, there, elsewhere] = [
      await follow(t, project.id),
      await follow(t, project.id, undefined, second.url),
      await follow(t, other.id)
    ]
    await project.call('POST', '/api/v1/users', { json: { project_user_id: 'ana' } })
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { device_id: 'ana-phone', platform: 'IOS', project_user_id: 'ana' }
    })
    await tells(here, 'users', 'devices')
    await sendTo(project, 'ana')
    await tells(here, 'messages', 'simulator')
    await givenCampaign(service, project, { default_audience: { broadcast: true } })
    await tells(here, 'campaigns', 'audit')
    await service.manage('PUT', `/projects/${project.id}/topics/offers`, { json: { name: 'Offers' } })
    await service.manage('POST', `/projects/${project.id}:pause`)
    await tells(here, 'topics', 'project')
    await tells(there, 'users', 'devices', 'messages', 'simulator', 'campaigns', 'topics', 'project')
    await second.close()
    await eventually(async () => assert.ok(there.ended))
    assert.ok(!here.ended)
    await eventually(async () => assert.deepEqual([...elsewhere.kinds], ['nodes']))
  })

  it('beats while nothing changes, and then tells no kinds', async (t) => {
    const stream = await follow(t, (await service.project()).id)
    await eventually(async () =>
      assert.ok(stream.names.filter((name) => name === 'beat').length >= 2, `${stream.names}`)
    )
    assert.deepEqual(
      [...stream.kinds].filter((kind) => kind !== 'nodes'),
      []
    )
  })

  it('ends with the session, and refuses callers without access', async (t) => {
    const [project, other] = [await service.project(), await service.project()]
    const wish = { name: 'look', role: 'viewer', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json: wish })).json
    const signedIn = await service.ask('POST', '/console/session', { json: { token } })
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
    const stream = await follow(t, project.id, { cookie })
    assert.equal(stream.status, 200)
    assert.equal((await follow(t, other.id, { cookie })).status, 404)
    assert.equal((await follow(t, project.id, {})).status, 401)
    await service.ask('DELETE', '/console/session', { headers: { cookie } })
    await eventually(async () => assert.ok(stream.ended))
  })

  it('is bounded for each token, whatever cookies it sends', async (t) => {
    const project = await service.project()
    const wish = { name: 'look', role: 'viewer', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json: wish })).json
    const statuses: number[] = []
    for (let index = 0; index < 21; index++) {
      const headers = { authorization: `Bearer ${token}`, cookie: `tidings_session=made-up-${index}` }
      statuses.push((await follow(t, project.id, headers)).status)
    }
    assert.deepEqual([statuses[19], statuses[20]], [200, 429])
  })

  it('is bounded for each session', async (t) => {
    const project = await service.project()
    const signedIn = await service.ask('POST', '/console/session', { json: { token: service.adminToken } })
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
    const statuses: number[] = []
    for (let index = 0; index < 21; index++) statuses.push((await follow(t, project.id, { cookie })).status)
    assert.deepEqual([statuses[19], statuses[20]], [200, 429])
    assert.equal((await follow(t, project.id)).status, 200)
  })
})

describe('the streams of a trigger and of an inbox', () => {
  it('end with the session, and are bounded for each caller', async (t) => {
    const project = await service.project({ mode: 'simulator' })
    await givenCampaign(service, project)
    const body = { audience: { broadcast: true }, send_at: new Date(Date.now() + 3_600_000).toISOString() }
    const { trigger_id } = (await project.call('POST', '/api/v1/campaigns/news:trigger', { json: body })).json
    const wish = { name: 'look', role: 'viewer', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json: wish })).json
    for (const path of [`triggers/${trigger_id}/stream`, 'simulator/inbox']) {
      const open = async (given: Record<string, string>) => {
        const closing = new AbortController()
        t.after(() => closing.abort())
        const headers = { accept: 'text/event-stream', ...given }
        const address = `${service.url}/manage/v1/projects/${project.id}/${path}`
        return fetch(address, { headers, signal: closing.signal })
      }
      const signedIn = await service.ask('POST', '/console/session', { json: { token } })
      const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
      const seen: Response[] = []
      for (let index = 0; index < 21; index++) seen.push(await open({ cookie }))
      assert.deepEqual([seen[0]!.status, seen[19]!.status, seen[20]!.status], [200, 200, 429], path)
      // Another session has places of its own.
      assert.equal((await open({ authorization: `Bearer ${service.adminToken}` })).status, 200)
      await service.ask('DELETE', '/console/session', { headers: { cookie } })
      // It waits until the service ends the stream, or its connection.
      await seen[0]!.text().catch(() => {})
    }
  })

  it('give back the places of callers that hang up before the stream begins', async () => {
    const project = await service.project({ mode: 'simulator' })
    await givenCampaign(service, project)
    const body = { audience: { broadcast: true }, send_at: new Date(Date.now() + 3_600_000).toISOString() }
    const { trigger_id } = (await project.call('POST', '/api/v1/campaigns/news:trigger', { json: body })).json
    const { hostname, port } = new URL(service.url)
    for (const path of [`triggers/${trigger_id}/stream`, 'simulator/inbox', 'changes']) {
      const url = `/manage/v1/projects/${project.id}/${path}`
      const headers = { accept: 'text/event-stream', authorization: `Bearer ${service.adminToken}` }
      const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const hangUp = async (afterMs: number) => {
        const socket = connect(Number(port), hostname)
        await once(socket, 'connect')
        socket.write(`GET ${url} HTTP/1.1\r\nhost: ${hostname}\r\n${fields.join('')}\r\n`)
        await sleep(afterMs)
        socket.destroy()
      }
      for (let tries = 0; tries < 60; tries++) await hangUp(tries % 6)
      await eventually(async () => {
        const closing = new AbortController()
        const open = () => fetch(`${service.url}${url}`, { headers, signal: closing.signal })
        const streams = await Promise.all(Array.from({ length: 20 }, open))
        closing.abort()
        assert.deepEqual([...new Set(streams.map(({ status }) => status))], [200], path)
      })
    }
  })
})
