import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { Json } from '../support/http.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, openConsole, sees, startWithConsole } from './console.ts'

const service = await startWithConsole()

async function openLab(t: TestContext): Promise<{ page: Page; project: TestProject; complaints: string[] }> {
  const project = await service.project({ mode: 'simulator' })
  const opened = await openConsole(t, service, { token: service.adminToken })
  await opened.page.goto(`${service.url}/console/p/${project.id}/lab`)
  return { ...opened, project }
}

const screen = (page: Page, name: string) => page.getByRole('region', { name: `Lock screen of ${name} of demo-user` })

const send = async (project: TestProject, more: Json): Promise<Json> => {
  const item = { target: { project_user_id: 'demo-user' }, ...more }
  const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [item] } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.delivery_results[0]
}

describe('the device lab', () => {
  it('has a phone more with one click; a tap on what arrives shows where it leads, and is recorded', async (t) => {
    const { page, project, complaints } = await openLab(t)
    await sees(page, 'No phone yet')
    await page.getByRole('button', { name: 'Add iPhone' }).click()
    await screen(page, 'iPhone').waitFor()
    const { message_id } = await send(project, {
      title: 'Your order',
      body: 'It is on its way.',
      landing_url: 'https://shop.example/orders/42'
    })
    await screen(page, 'iPhone').getByRole('button', { name: 'Your order' }).click()
    const detail = page.getByRole('dialog', { name: 'Your order' })
    await sees(detail, 'https://shop.example/orders/42')
    await sees(detail, /apns-push-type: alert/)
    await eventually(async () => {
      const { json } = await project.call('GET', `/api/v1/messages/${message_id}`)
      assert.ok(json.devices[0].tapped_at, JSON.stringify(json))
    })
    assert.deepEqual(complaints, [])
  })

  it('draws a Live Activity that starts, changes and ends', async (t) => {
    const { page, project, complaints } = await openLab(t)
    await page.getByRole('button', { name: 'Add iPhone' }).click()
    const phone = screen(page, 'iPhone')
    await phone.waitFor()
    const call = async (action: string, item: Json) => {
      const reply = await project.call('POST', `/api/v1/live-activities:${action}`, {
        json: { live_activities: [item] }
      })
      return reply.json.delivery_results[0]
    }
    const { message_id } = await call('start', {
      target: { project_user_id: 'demo-user' },
      attributes_type: 'DeliveryActivityAttributes',
      attributes: { order: '42' },
      content_state: { minutes: 20, courier: 'Bo' }
    })
    await sees(phone, 'minutes: 20')
    await sees(phone, `activity_id ${message_id}`)
    // The phone tells its token for changes a moment later.
    await eventually(async () => {
      const { status } = await call('update', { activity_id: message_id, content_state: { minutes: 5 } })
      assert.equal(status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    })
    await sees(phone, 'minutes: 5')
    await sees(phone, 'courier: Bo')
    await call('end', { activity_id: message_id, content_state: { minutes: 0 } })
    await phone.locator('[data-activity]').waitFor({ state: 'detached' })
    assert.deepEqual(complaints, [])
  })

  it('breaks a gateway, says what that does, and mends it', async (t) => {
    const { page, project, complaints } = await openLab(t)
    await page.getByRole('button', { name: 'Add Android phone' }).click()
    await screen(page, 'Android phone').waitFor()
    const knob = page.getByRole('radiogroup', { name: 'Condition of Android phones' })
    await knob.getByText('gone').click()
    await sees(page, 'As if the app were uninstalled everywhere')
    await eventually(async () => {
      const { json } = await service.manage('GET', `/projects/${project.id}/simulator/faults`)
      assert.equal(json.fcm.error_rate, 1)
    })
    const refused = await send(project, { title: 'Nobody sees this' })
    assert.equal(refused.status, 'DELIVERY_RESULT_STATUS_FAILED', JSON.stringify(refused))
    await page.getByRole('button', { name: 'Nobody sees this' }).click()
    await sees(page.getByRole('dialog'), /The gateway answered 404/)
    await page.keyboard.press('Escape')
    await knob.getByText('well').click()
    await eventually(async () => {
      const { json } = await service.manage('GET', `/projects/${project.id}/simulator/faults`)
      assert.equal(json.fcm.error_rate, 0)
    })
    assert.deepEqual(complaints, [])
  })

  it('has a phone whose app was uninstalled: the push fails, and its token is turned off', async (t) => {
    const { page, project, complaints } = await openLab(t)
    await choose(page, 'What is wrong with it', 'the app was uninstalled')
    await page.getByRole('button', { name: 'Add iPhone' }).click()
    await screen(page, 'iPhone').waitFor()
    const { additional_params } = await send(project, { title: 'Gone' })
    assert.match(additional_params.failure_reason, /UNREGISTERED/)
    await page.getByRole('button', { name: 'Gone' }).click()
    await sees(page.getByRole('dialog'), /The gateway answered 410 Unregistered/)
    await sees(page, /^cannot be reached: TOKEN_UNREGISTERED/)
    assert.deepEqual(complaints, [])
  })

  it('says so where the project is live', async (t) => {
    const project = await service.project({ mode: 'live' })
    const { page, complaints } = await openConsole(t, service, { token: service.adminToken })
    await page.goto(`${service.url}/console/p/${project.id}/lab`)
    await sees(page, 'This project is live')
    assert.deepEqual(complaints, [])
  })
})
