import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { put } from '../support/campaigns.ts'
import { isSignedWith, startReceiver } from '../support/receiver.ts'
import { eventually } from '../support/service.ts'
import { choose, dialog, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole({ WEBHOOK_ALLOW_PRIVATE: 'true' })

async function givenWebhook(scene: Scene, events = ['message.accepted']) {
  const receiver = await startReceiver({ secure: false })
  scene.t.after(receiver.close)
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  const json = { url: `${receiver.url}/hook`, events }
  const made = await service.manage('POST', `/projects/${project.id}/webhooks`, { json })
  assert.equal(made.status, 201, made.text)
  return { receiver, project, webhook: made.json }
}

describe('a webhook', () => {
  story(
    'is created with a secret that is shown once, changed, paused with undo, and deleted',
    async (scene) => {
      const project = await service.project({ name: 'Shop', mode: 'simulator' })
      const page = await scene.open(service, `p/${project.id}/webhooks`)
      await page.getByRole('button', { name: 'Create webhook' }).click()
      await dialog(page).getByLabel('Endpoint URL').fill('ftp://example.com/hook')
      await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
      await sees(dialog(page), 'must begin with https://')
      await dialog(page).getByLabel('Endpoint URL').fill('https://example.com/tidings')
      await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
      assert.match((await dialog(page).getByLabel('secret', { exact: true }).textContent())!, /^whsec_/)
      await dialog(page).getByRole('button', { name: 'Done' }).click()
      await page.getByRole('link', { name: 'https://example.com/tidings' }).click()
      await page.getByRole('tab', { name: 'Settings' }).click()
      await page.getByLabel('Description').fill('Billing')
      await page.getByRole('button', { name: 'Save' }).click()
      await sees(page, 'Webhook saved.')
      await page.getByRole('heading', { name: 'Billing' }).waitFor()
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('paused', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('active', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Delete' }).click()
      await dialog(page).getByRole('button', { name: 'Delete' }).click()
      await sees(page, 'No webhooks yet')
    },
    refusals
  )

  story('is tried with a signed test event, and the response is shown at once', async (scene) => {
    const { receiver, project, webhook } = await givenWebhook(scene)
    const page = await scene.open(service, `p/${project.id}/webhooks/${webhook.id}`)
    receiver.respond = (_, response) => response.writeHead(503).end('maintenance until noon')
    await page.getByRole('button', { name: 'Send test event' }).click()
    await sees(page, 'Test failed: answered 503')
    await sees(page, 'maintenance until noon')
    receiver.respond = (_, response) => response.writeHead(200).end('thanks')
    await page.getByRole('button', { name: 'Send test event' }).click()
    await sees(page, 'Your endpoint responded 200')
    assert.ok(isSignedWith(webhook.secret, receiver.received[1]!))
    assert.equal(JSON.parse(receiver.received[1]!.body).events[0].test, true)
    await page.getByRole('tab', { name: 'Signing secret' }).click()
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await choose(page, 'Keep signing with the old secret for', 'No time: end all earlier secrets now', dialog(page))
    await dialog(page).getByRole('button', { name: 'Rotate', exact: true }).click()
    const fresh = (await dialog(page).getByLabel('secret', { exact: true }).textContent())!
    assert.ok(fresh.startsWith('whsec_') && fresh !== webhook.secret)
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    await service.manage('POST', `/projects/${project.id}/webhooks/${webhook.id}:test`)
    const signed = [webhook.secret, fresh].map((secret) => isSignedWith(secret, receiver.received[2]!))
    assert.deepEqual(signed, [false, true])
  })

  story('shows a delivery with its payload, headers and responses, and retries it', async (scene) => {
    const { receiver, project, webhook } = await givenWebhook(scene)
    await put(project, 'ana', {})
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { platform: 'IOS', project_user_id: 'ana' }
    })
    receiver.respond = (_, response) => response.writeHead(410).end('gone for good')
    const push = { target: { project_user_id: 'ana' }, title: 'Hello' }
    await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [push] } })
    const page = await scene.open(service, `p/${project.id}/webhooks/${webhook.id}`)
    await sees(page, 'failed 410')
    receiver.respond = (_, response) => response.writeHead(429, { 'retry-after': '300' }).end('slow down')
    await page.getByRole('region', { name: 'Deliveries' }).getByRole('link').first().click()
    await sees(page, '1 event: message.accepted')
    await sees(page, 'gone for good')
    await sees(page, /webhook-signature: v1,/)
    await sees(page, /"type": "message.accepted"/)
    await scene.look(page, 'a delivery')
    await scene.picture(page, 'webhook-delivery')
    await page.getByRole('button', { name: 'Retry now' }).click()
    await sees(page, 'slow down')
    await sees(page, /in 5 min/)
    assert.equal(receiver.received[1]!.headers['webhook-id'], receiver.received[0]!.headers['webhook-id'])
    receiver.respond = (_, response) => response.writeHead(204).end()
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText('delivered 204').waitFor()
    assert.equal(receiver.received[2]!.body, receiver.received[0]!.body)
  })

  story('has its failed deliveries retried together, and filters them', async (scene) => {
    const { receiver, project, webhook } = await givenWebhook(scene)
    receiver.respond = (_, response) => response.writeHead(500).end()
    for (let index = 0; index < 2; index += 1)
      await service.manage('POST', `/projects/${project.id}/webhooks/${webhook.id}:test`)
    const page = await scene.open(service, `p/${project.id}/webhooks?tab=deliveries`)
    await choose(page, 'State', 'failed')
    await sees(page, '2 entries')
    await choose(page, 'Created', 'Last hour')
    await sees(page, '2 entries')
    receiver.respond = (_, response) => response.writeHead(204).end()
    await page.getByRole('button', { name: 'Retry failed' }).click()
    await sees(page, 'Retrying 2 deliveries.')
    await eventually(() => assert.equal(receiver.received.length, 4))
    await sees(page, 'No matching deliveries')
  })
})
