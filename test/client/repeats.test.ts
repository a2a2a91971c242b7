import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { type Client, createClient, createManagement, verifyWebhook, WebhookError } from '../../src/client/client.ts'

interface Seen {
  method: string
  url: string
  key: string | undefined
  body: string
}
type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** A server that answers each request with the next of the answers, and the last one again and again. */
async function given(t: TestContext, ...answers: Answer[]): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const { method, url } = request
    const key = request.headers['idempotency-key'] as string | undefined
    seen.push({ method: method!, url: url!, key, body: await text(request) })
    answers[Math.min(seen.length, answers.length) - 1]!(response, request)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const cut: Answer = (_, { socket }) => socket.destroy()
const silent: Answer = () => {}
const unavailable = json(503, { error: 'Service Unavailable', code: 'unavailable' }, { 'retry-after': '0' })
const sent = json(200, { delivery_results: [] })
const at = (url: string, more: object = {}): Client => createClient({ url, projectId: 'p', apiKey: 'k', ...more })
const push = [{ target: { project_user_id: 'ana' }, title: 'Hello' }]

describe('a call that fails', () => {
  it('is repeated with the same key and bytes until it succeeds', async (t) => {
    const { url, seen } = await given(t, cut, unavailable, json(502, 'Bad Gateway'), sent)
    assert.deepEqual(await at(url).messages.send(push), [])
    assert.equal(seen.length, 4)
    assert.match(seen[0]!.key!, /^[0-9a-f]{32}$/)
    assert.deepEqual(new Set(seen.map((one) => JSON.stringify(one))).size, 1)
    await at(url).messages.send(push)
    assert.notEqual(seen[4]!.key, seen[0]!.key, 'each call has a key of its own')
  })

  it('is given up after its repeats, and says how often it was tried', async (t) => {
    const { url, seen } = await given(t, unavailable)
    await assert.rejects(at(url, { retries: 1 }).users.get('ana'), { kind: 'unavailable', attempts: 2, status: 503 })
    await assert.rejects(at(url).users.get('ana', { retries: 0 }), { attempts: 1 })
    assert.equal(seen.length, 3)
    await assert.rejects(at('http://127.0.0.1:1', { retries: 1 }).users.get('ana'), { kind: 'connection', attempts: 2 })
  })

  it('waits as long as the service says, unless that is too long', async (t) => {
    const limited = (seconds: string) => json(429, { error: 'Too Many Requests' }, { 'retry-after': seconds })
    const { url, seen } = await given(t, limited('1'), sent, limited('600'))
    const begun = Date.now()
    await at(url).messages.send(push)
    assert.ok(Date.now() - begun >= 950)
    await assert.rejects(at(url).messages.send(push), { kind: 'rate_limited', retryAfterMs: 600_000, attempts: 1 })
    assert.equal(seen.length, 3)
  })

  it('waits for the first call with its key', async (t) => {
    const inUse: Answer = (response) =>
      response
        .writeHead(409, { 'retry-after': '0', 'x-service-error-code': 'idempotency_key_in_use' })
        .end('Idempotency key is in use')
    const { url, seen } = await given(t, inUse, sent)
    await at(url).messages.send(push, { idempotencyKey: 'mine' })
    assert.deepEqual(
      seen.map(({ key }) => key),
      ['mine', 'mine']
    )
  })

  it('is not repeated where that could do it twice, unless it was refused before it had an effect', async (t) => {
    const { url, seen } = await given(t, cut, unavailable, json(429, { error: 'Too Many Requests' }), json(201, {}))
    const management = createManagement({ url, token: 't' })
    const create = () => management.call('createProject', { body: { name: 'Shop' } })
    await assert.rejects(create(), { kind: 'connection', attempts: 1 })
    await assert.rejects(create(), { kind: 'unavailable', attempts: 1 })
    await create()
    assert.equal(seen.length, 4)
  })

  it('is done if it deletes something that an earlier attempt may have deleted', async (t) => {
    const gone = json(404, { error: 'No webhook has this id.', code: 'not_found' })
    const limited = json(429, { error: 'Too Many Requests' }, { 'retry-after': '0' })
    const path = { project_id: 'p', webhook_id: 'w' }
    const after = async (...answers: Answer[]) => {
      const management = createManagement({ url: (await given(t, ...answers)).url, token: 't' })
      return management.call('deleteProjectWebhook', { path })
    }
    for (const lost of [cut, unavailable]) assert.deepEqual(await after(lost, limited, gone), {})
    await assert.rejects(after(gone), { kind: 'not_found', attempts: 1 })
    const putOff = json(503, { error: 'Later.', code: 'overloaded' }, { 'retry-after': '0' })
    for (const refused of [limited, putOff])
      await assert.rejects(after(refused, gone), { kind: 'not_found', attempts: 2 })
    const page: Answer = (response) => response.writeHead(404).end('<html>nginx</html>')
    await assert.rejects(after(cut, page), { kind: 'not_found', attempts: 2 })
    await assert.rejects(at((await given(t, cut, gone)).url).users.get('ana'), { kind: 'not_found', attempts: 2 })
  })

  it('ends in time, and with the signal of its caller', async (t) => {
    const { url } = await given(t, silent)
    await assert.rejects(at(url, { timeoutMs: 50, retries: 1 }).users.get('ana'), { kind: 'timeout', attempts: 2 })
    const ending = new AbortController()
    const call = at(url).users.get('ana', { signal: ending.signal })
    setTimeout(() => ending.abort(), 20)
    await assert.rejects(call, { kind: 'aborted', attempts: 1 })
    await assert.rejects(at(url).users.get('ana', { signal: AbortSignal.abort() }), { kind: 'aborted' })
    const waiting = at('http://127.0.0.1:1').users.get('ana', { signal: AbortSignal.timeout(60) })
    await assert.rejects(waiting, { kind: 'aborted' })
  })

  it('is not sent with an id that would lead elsewhere', async () => {
    for (const id of ['', '.', '..', '\ud800'])
      await assert.rejects(at('http://127.0.0.1:1').users.delete(id), { kind: 'request', attempts: 0 })
  })

  it('keeps the words of a refusal, and not a page of a proxy', async (t) => {
    const page: Answer = (response) => response.writeHead(404).end('<html>nginx</html>')
    const { url } = await given(t, page)
    await assert.rejects(at(url).users.get('ana'), { message: 'getUser: HTTP 404. Check the id, and the project.' })
  })
})

describe('the stream of a trigger', () => {
  const event = (state: string, sentCount: number) => `event: x\ndata: ${JSON.stringify({ state, n: sentCount })}\n\n`
  const stream =
    (...parts: string[]): Answer =>
    async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const part of parts) {
        response.write(part)
        await new Promise((done) => setTimeout(done, 5))
      }
      response.destroy()
    }

  it('continues over broken connections and shows each change once, whatever the network does to its bytes', async (t) => {
    const [running, done] = [event('running', 1), event('completed', 3)]
    const { url, seen } = await given(
      t,
      stream('retry: 1000\n\n', running.slice(0, 9), running.slice(9), ': still here\n\n'),
      unavailable,
      stream(running, event('running', 2) + done.slice(0, 30), done.slice(30))
    )
    const counts: unknown[] = []
    for await (const trigger of at(url).triggers.watch('t')) counts.push((trigger as unknown as { n: number }).n)
    assert.deepEqual(counts, [1, 2, 3])
    assert.equal(seen.length, 3)
  })

  it('is given up if it brings nothing, as often as a call is repeated', async (t) => {
    const { url, seen } = await given(t, stream(': nothing\n\n'))
    await assert.rejects(at(url, { retries: 1 }).triggers.ended('t'), { kind: 'connection', attempts: 2 })
    assert.equal(seen.length, 2)
  })

  it('ends with its signal, and with a refusal', async (t) => {
    const { url } = await given(
      t,
      stream(event('running', 1)),
      silent,
      json(404, { error: 'There is no such trigger.' })
    )
    const ending = new AbortController()
    const watching = (async () => {
      for await (const _ of at(url).triggers.watch('t', { signal: ending.signal }))
        setTimeout(() => ending.abort(), 600)
    })()
    await assert.rejects(watching, { kind: 'aborted' })
    await assert.rejects(at(url).triggers.ended('t'), { kind: 'not_found' })
  })
})

describe('verifyWebhook', () => {
  const secret = `whsec_${Buffer.alloc(24, 'key').toString('base64')}`
  const body = JSON.stringify({ type: 'events', project_id: 'p', events: [{ id: '1', type: 'webhook.test' }] })
  const signedAt = (at: Date, by = secret) => ({
    'webhook-id': 'm1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('m1', at, body)
  })

  it('accepts what the library of Standard Webhooks has signed', async () => {
    const headers = signedAt(new Date())
    assert.equal((await verifyWebhook({ secret, headers, body })).events[0]!.type, 'webhook.test')
    await verifyWebhook({ secret, headers: new Headers(headers), body: new TextEncoder().encode(body) })
    const other = `whsec_${Buffer.alloc(24, 'old').toString('base64')}`
    await verifyWebhook({ secret: [other, secret], headers, body })
    const both = { ...headers, 'webhook-signature': `v1,AAAA v2,x ${headers['webhook-signature']}` }
    await verifyWebhook({ secret, headers: both, body })
  })

  it('refuses everything else, and says why', async () => {
    const headers = signedAt(new Date())
    const refused = (call: Partial<Parameters<typeof verifyWebhook>[0]>, why: RegExp) =>
      assert.rejects(verifyWebhook({ secret, headers, body, ...call }), (error: Error) => {
        assert.ok(error instanceof WebhookError)
        assert.match(error.message, why)
        return true
      })
    await refused({ body: `${body} ` }, /signature is wrong/)
    await refused({ secret: `whsec_${Buffer.alloc(24, 'no').toString('base64')}` }, /signature is wrong/)
    await refused({ headers: signedAt(new Date(Date.now() - 400_000)) }, /too old/)
    await refused({ headers: signedAt(new Date(Date.now() + 400_000)) }, /too new/)
    await refused({ headers: {} }, /webhook-id is missing/)
    await refused({ headers: { ...headers, 'webhook-signature': 'v1,%%%' } }, /signature is wrong/)
    await refused({ secret: 'whsec_%%%' }, /secret is not one/)
  })
})
