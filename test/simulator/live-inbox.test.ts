import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { eventually, startService, type TestService } from '../support/service.ts'
import { hexToken } from './client.ts'
import { anotherNode, of, pushApns } from './nodes.ts'

const service = await startService()
const simulated = () => service.project({ mode: 'simulator' })

/** Opens the stream and gathers its text. */
async function follow(t: TestContext, id: string, headers: Record<string, string> = {}, on: TestService = service) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const url = `${on.url}/manage/v1/projects/${id}/simulator/inbox`
    const all = { accept: 'text/event-stream', authorization: `Bearer ${on.adminToken}`, ...headers }
    get(url, { headers: all, agent: false }, resolve).on('error', reject)
  })
  t.after(() => response.destroy())
  const seen = { text: '', ended: false }
  response.on('data', (chunk) => {
    seen.text += chunk
  })
  response.on('end', () => {
    seen.ended = true
  })
  response.on('error', () => {})
  const items = () =>
    [...seen.text.matchAll(/^id: (\d+)\ndata: (.*)\n\n/gm)].map(([, id, data]) => ({
      number: id!,
      item: JSON.parse(data!)
    }))
  return { response, seen, items, titles: () => items().map(({ item }) => item.title) }
}

// The tests run together, because one of them waits for a heartbeat.
describe('the inbox as a stream', { concurrency: true }, () => {
  it('shows the pushes of other processes from now on, in order and each once', async (t) => {
    const { id } = await simulated()
    const gateways = await of(anotherNode(t, service), id)
    await pushApns(t, gateways, hexToken, 'before')
    await eventually(async () => {
      const { items } = (await service.manage('GET', `/projects/${id}/simulator/inbox`)).json
      assert.equal(items.length, 1)
    })
    const stream = await follow(t, id)
    assert.equal(stream.response.statusCode, 200)
    assert.equal(stream.response.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.ok(stream.response.headers['x-request-id'])
    assert.ok(stream.response.headers['x-ratelimit-limit'])
    await eventually(() => assert.match(stream.seen.text, /^: follows\n\n/))
    for (const title of ['one', 'two', 'three']) await pushApns(t, gateways, hexToken, title)
    await eventually(() => assert.deepEqual(stream.titles(), ['one', 'two', 'three']))
  })

  it('resumes after the last event that was received', async (t) => {
    const { id } = await simulated()
    const gateways = await of(anotherNode(t, service), id)
    for (const title of ['one', 'two', 'three']) await pushApns(t, gateways, hexToken, title)
    const all = await follow(t, id, { 'last-event-id': '0' })
    await eventually(() => assert.deepEqual(all.titles(), ['one', 'two', 'three']))
    const rest = await follow(t, id, { 'last-event-id': all.items()[1]!.number })
    await eventually(() => assert.deepEqual(rest.titles(), ['three']))
  })

  it('sends heartbeats while nothing happens, and shows nothing of other projects', async (t) => {
    const [one, other] = await Promise.all([simulated(), simulated()])
    const stream = await follow(t, one.id)
    await pushApns(t, await of(anotherNode(t, service), other.id), hexToken, 'theirs')
    await eventually(() => assert.match(stream.seen.text, /\n\n: alive\n\n/), 40_000)
    assert.deepEqual(stream.items(), [])
  })

  it('works on a node that gets no notifications', async (t) => {
    const { id } = await simulated()
    const gateways = await of(anotherNode(t, service), id)
    const gone = new AbortController()
    const followed = anotherNode(t, service, { deaf: true }).inbox.follow(id as never, null, null, gone.signal)
    await followed.next()
    await pushApns(t, gateways, hexToken, 'quiet')
    assert.equal((await followed.next()).value?.item.title, 'quiet')
    gone.abort()
    await followed.return(undefined)
  })

  it('costs nothing after its reader has disconnected', async (t) => {
    const { id } = await simulated()
    const node = anotherNode(t, service)
    const gone = new AbortController()
    const followed = node.inbox.follow(id as never, null, null, gone.signal)
    await followed.next()
    assert.equal(node.inbox.followers(), 1)
    const ended = followed.next()
    gone.abort()
    assert.equal((await ended).done, true)
    assert.equal(node.inbox.followers(), 0)
  })

  it('costs nothing after a reader that left before the stream began', async (t) => {
    const { id } = await simulated()
    const node = anotherNode(t, service)
    const gone = new AbortController()
    await node.inbox.follow(id as never, null, null, gone.signal).next()
    gone.abort()
    assert.equal(node.inbox.followers(), 0)
    assert.equal((await node.inbox.follow(id as never, null, null, gone.signal).next()).done, true)
    assert.equal(node.inbox.followers(), 0)
  })

  it('is freed with its connection, so that any number of readers can come one after the other', async (t) => {
    const { id } = await simulated()
    // As many as a caller may have: a stream that is not released would be missing in the next round.
    for (let round = 0; round < 3; round += 1)
      await eventually(async () => {
        const streams = await Promise.all(Array.from({ length: 20 }, () => follow(t, id)))
        for (const { response } of streams) response.destroy()
        assert.deepEqual([...new Set(streams.map(({ response }) => response.statusCode))], [200])
      })
  })

  it('ends when its node stops, and the stop does not wait for it', async (t) => {
    const { id } = await simulated()
    const second = await service.another({ SHUTDOWN_SECONDS: '60' })
    const stream = await follow(t, id, {}, second)
    await eventually(() => assert.match(stream.seen.text, /^: follows/))
    await second.close()
    await eventually(() => assert.ok(stream.seen.ended))
  })

  it('has a limit for each caller; a further stream gets 429, and another project is not concerned', async (t) => {
    const [{ id }, other] = await Promise.all([simulated(), simulated()])
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow(t, id)))
    assert.deepEqual([...new Set(streams.map(({ response }) => response.statusCode))], [200])
    assert.equal((await follow(t, id)).response.statusCode, 429)
    for (const { response } of streams) response.destroy()
    await eventually(async () => assert.equal((await follow(t, other.id)).response.statusCode, 200))
  })
})
