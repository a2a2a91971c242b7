import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { createManagement } from '../../src/client/client.ts'
import { startChild } from '../support/children.ts'
import { root } from '../support/program.ts'
import { eventually, startService } from '../support/service.ts'

const service = await startService()
const project = await service.project({ mode: 'simulator' })
const path = { project_id: project.id }
const management = createManagement({ url: service.url, token: service.adminToken })
await management.call('createProjectSimulatorDevice', {
  path,
  body: { platform: 'IOS', device_id: 'phone', project_user_id: 'ana' }
})
for (const name of ['welcome', 'digest'])
  await management.call('saveProjectCampaign', {
    path: { ...path, campaign_id: name },
    body: { name, status: 'active', default_audience: { broadcast: true }, message: { title: 'Hello' } }
  })

/** Starts an example as a person would; tidings/client leads to the sources instead of the package. */
function start(t: TestContext, file: string, more: Record<string, string> = {}, args: string[] = []): ChildProcess {
  const settings = { TIDINGS_URL: service.url, TIDINGS_PROJECT: project.id, TIDINGS_SECRET_KEY: project.secretKey }
  return startChild(t, process.execPath, ['--conditions=source', join('examples', file), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, PORT: '0', ...settings, ...more },
    stdio: ['pipe', 'pipe', 'inherit']
  })
}

/** The lines that a child has printed. */
function linesOf(child: ChildProcess): () => string {
  let seen = ''
  child.stdout!.on('data', (chunk) => {
    seen += chunk
  })
  return () => seen
}

const listening = (printed: () => string): Promise<string> =>
  eventually(async () => {
    const found = /listening on (\S+)/.exec(printed())?.[1]
    assert.ok(found, printed())
    return found
  }, 20_000)

const post = async (url: string, body: unknown) => {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> }
}

describe('the examples', { concurrency: true }, () => {
  it('express.js: a route sends one push, however often it is called', async (t) => {
    const url = await listening(linesOf(start(t, 'express.js')))
    const first = await post(`${url}/orders/42/ship`, { customer: 'ana' })
    assert.equal(first.status, 200)
    // A gateway that is slow on a crowded machine leaves the result pending: the response waits for it only so long.
    assert.match(String(first.json.status), /^DELIVERY_RESULT_STATUS_(SUCCEED|PENDING)$/)
    assert.deepEqual((await post(`${url}/orders/42/ship`, { customer: 'ana' })).json, first.json)
    const wrong = await post(`${url}/orders/43/ship`, {})
    assert.equal(wrong.status, 400)
    assert.match(String(wrong.json.error), /^sendMessages: .* Correct the request\.$/)
  })

  it('fastify.js: a new user is stored and greeted', async (t) => {
    const url = await listening(linesOf(start(t, 'fastify.js')))
    const { status, json } = await post(`${url}/signups`, { id: 'ana', plan: 'premium' })
    assert.equal(status, 201)
    assert.deepEqual(json.properties, { plan: 'premium' })
    assert.equal((await post(`${url}/signups`, { id: 'ana', plan: 'premium' })).json.trigger, json.trigger)
  })

  it('cron.js: two runs on one day send once, and report the same', async (t) => {
    const run = async () => {
      const child = start(t, 'cron.js', {}, ['digest'])
      const [printed, [code]] = await Promise.all([text(child.stdout!), once(child, 'close')])
      assert.equal(code, 0, printed)
      return printed
    }
    const [first, second] = await Promise.all([run(), run()])
    assert.match(first, /^digest completed: 1 sent, 0 failed, 0 skipped/)
    assert.equal(second, first)
  })

  it('webhook-receiver.js: signed calls are handled once, others are refused', async (t) => {
    const url = 'http://localhost:4444/tidings'
    const { id, secret } = await management.call('createProjectWebhook', {
      path,
      body: { url, events: ['message.failed'] }
    })
    const printed = linesOf(start(t, 'webhook-receiver.js', { WEBHOOK_SECRET: secret }))
    const at = await listening(printed)
    assert.equal((await fetch(at, { method: 'POST', body: '{}' })).status, 400)
    const ofWebhook = { ...path, webhook_id: id }
    const moved = `${at.replace('127.0.0.1', 'localhost')}/tidings`
    await management.call('updateProjectWebhook', { path: ofWebhook, body: { url: moved } })
    const { delivery } = await management.call('testProjectWebhook', { path: ofWebhook })
    assert.equal(delivery.state, 'delivered', JSON.stringify(delivery))
    await eventually(async () => assert.match(printed(), /^webhook\.test$/m))
  })

  it('queue-consumer.js: each job is acknowledged once it is sent, and a bad one and a line without JSON go to the dead', async (t) => {
    const child = start(t, 'queue-consumer.js')
    const jobs = [
      { id: 'job-1', user: 'ana', title: 'One' },
      { id: 'job-1', user: 'ana', title: 'One' },
      { id: 'job-2', title: 'Two' }
    ]
    child.stdin!.end(`not JSON\nnull\n${jobs.map((job) => `${JSON.stringify(job)}\n`).join('')}`)
    const lines = (await text(child.stdout!)).trim().split('\n').sort()
    const done = 'ack job-1 DELIVERY_RESULT_STATUS_SUCCEED'
    assert.deepEqual(lines, [
      done,
      done,
      'dead job-2 invalid_push_notification',
      'dead line-1 not_a_job',
      'dead line-2 not_a_job'
    ])
  })
})
