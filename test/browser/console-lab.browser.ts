import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import type { Json } from '../support/http.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, goTo, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

async function openLab(scene: Scene): Promise<{ page: Page; project: TestProject }> {
  const project = await service.project({ mode: 'simulator' })
  return { page: await scene.open(service, `p/${project.id}/lab`), project }
}

const screen = (page: Page, name: string) => page.getByRole('region', { name: `Lock screen of ${name} of demo-user` })

const send = async (project: TestProject, more: Json): Promise<Json> => {
  const item = { target: { project_user_id: 'demo-user' }, ...more }
  const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [item] } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.delivery_results[0]
}

/** Presses Tab until the element with exactly this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if ((await page.evaluate('document.activeElement?.textContent')) === text) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not reach “${text}”`)
}

describe('the device lab', () => {
  story('adds a device with one click; a tap on a push shows its link and is recorded', async (scene) => {
    const { page, project } = await openLab(scene)
    await sees(page, 'No devices yet')
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
  })

  story('shows a Live Activity that starts, updates and ends', async (scene) => {
    const { page, project } = await openLab(scene)
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
    // The simulated phone registers its update token a moment later.
    await eventually(async () => {
      const { status } = await call('update', { activity_id: message_id, content_state: { minutes: 5 } })
      assert.equal(status, 'DELIVERY_RESULT_STATUS_SUCCEED')
    })
    await sees(phone, 'minutes: 5')
    await sees(phone, 'courier: Bo')
    await call('end', { activity_id: message_id, content_state: { minutes: 0 } })
    await phone.locator('[data-activity]').waitFor({ state: 'detached' })
  })

  story('starts Live Activities that listen to a channel, and updates and ends all with one request', async (scene) => {
    const { page } = await openLab(scene)
    for (const [index, user] of ['demo-user', 'ana'].entries()) {
      await page.getByRole('region', { name: 'Add a device' }).getByLabel('User ID').fill(user)
      await page.getByRole('button', { name: 'Add iPhone' }).click()
      await page
        .getByRole('region', { name: /^Lock screen/ })
        .nth(index)
        .waitFor()
    }
    const panel = page.getByRole('region', { name: 'Broadcast a Live Activity' })
    const act = async (name: string, state: string, said: string) => {
      await panel.getByLabel('State (JSON)').fill(state)
      await panel.getByRole('button', { name }).click()
      await sees(panel, said)
    }
    await act('Start', '{"home": 0}', 'Started.')
    await panel.getByLabel('Start on the iPhones of user').fill('ana')
    await act('Start', '{"home": 0}', 'Started.')
    const cards = page.locator('[data-activity]')
    await eventually(async () => assert.equal(await cards.count(), 2))
    await act('Update all', '{"home": 1}', 'Updated all with one request.')
    await eventually(async () => assert.equal(await cards.filter({ hasText: 'home: 1' }).count(), 2))
    await act('End all', '{"home": 1}', 'Ended all with one request.')
    await eventually(async () => assert.equal(await cards.count(), 0))
  })

  story('lets a gateway fail, explains the effect, and restores it', async (scene) => {
    const { page, project } = await openLab(scene)
    await page.getByRole('button', { name: 'Add Android phone' }).click()
    await screen(page, 'Android phone').waitFor()
    const knob = page.getByRole('radiogroup', { name: 'Condition of Android phones' })
    await knob.getByText('Unregistered').click()
    await sees(page, 'As if the app were uninstalled on every device')
    await eventually(async () => {
      const { json } = await service.manage('GET', `/projects/${project.id}/simulator/faults`)
      assert.equal(json.fcm.error_rate, 1)
    })
    const refused = await send(project, { title: 'Nobody sees this' })
    assert.equal(refused.status, 'DELIVERY_RESULT_STATUS_FAILED', JSON.stringify(refused))
    await page.getByRole('button', { name: 'Nobody sees this' }).click()
    await sees(page.getByRole('dialog'), /Gateway response: 404/)
    await page.keyboard.press('Escape')
    await knob.getByText('Healthy').click()
    await eventually(async () => {
      const { json } = await service.manage('GET', `/projects/${project.id}/simulator/faults`)
      assert.equal(json.fcm.error_rate, 0)
    })
  })

  story('has a device whose app was uninstalled: the push fails and its token is turned off', async (scene) => {
    const { page, project } = await openLab(scene)
    await choose(page, 'Simulated fault', 'App uninstalled')
    await page.getByRole('button', { name: 'Add iPhone' }).click()
    await screen(page, 'iPhone').waitFor()
    const { additional_params } = await send(project, { title: 'Gone' })
    assert.match(additional_params.failure_reason, /UNREGISTERED/)
    await page.getByRole('button', { name: 'Gone' }).click()
    await sees(page.getByRole('dialog'), /Gateway response: 410 Unregistered/)
    await sees(page, /^Unreachable: TOKEN_UNREGISTERED/)
  })

  story(
    'sends a push and shows its outcome',
    async (scene) => {
      const { page } = await openLab(scene)
      const form = page.getByRole('region', { name: 'Send a push' })
      await form.getByRole('button', { name: 'Send' }).click()
      await sees(form, /Not sent: /)
      await page.getByRole('button', { name: 'Add iPhone' }).click()
      await screen(page, 'iPhone').waitFor()
      await form.getByLabel('Title').fill('From the page')
      await form.getByLabel('Image URL').fill('nowhere')
      await form.getByRole('button', { name: 'Send' }).click()
      await sees(form, 'must be an absolute address')
      await form.getByLabel('Image URL').fill('')
      await form.getByLabel('Link').fill('app://orders/42')
      await form.getByRole('button', { name: 'Send' }).click()
      await sees(form, 'Sent.')
      await screen(page, 'iPhone').getByRole('button', { name: 'From the page' }).click()
      await sees(page.getByRole('dialog', { name: 'From the page' }), 'app://orders/42')
    },
    refusals
  )

  story('receives the test push that home offers', async (scene) => {
    const project = await service.project({ mode: 'simulator' })
    const page = await scene.open(service, `p/${project.id}/home`)
    await page.getByRole('button', { name: 'Send a test push' }).click()
    await sees(page, /Not sent: /)
    await goTo(page, 'Device lab')
    await page.getByRole('button', { name: 'Add Android phone' }).click()
    await screen(page, 'Android phone').waitFor()
    const push = page.getByRole('region', { name: 'Send a push' })
    await push.getByRole('button', { name: 'Send' }).click()
    await sees(screen(page, 'Android phone'), 'It works')
    await goTo(page, 'Home')
    await sees(page.getByRole('region', { name: 'Recent messages' }).first(), 'Hello')
    await page.locator('[data-counter=sent]').getByText('1', { exact: true }).waitFor()
  })

  story('can be used with the keyboard alone', async (scene) => {
    const { page } = await openLab(scene)
    await page.getByRole('button', { name: 'Add iPhone' }).waitFor()
    await tabTo(page, 'Add iPhone')
    await page.keyboard.press('Enter')
    await screen(page, 'iPhone').waitFor()
    await tabTo(page, 'Send')
    await page.keyboard.press('Space')
    await screen(page, 'iPhone').getByRole('button', { name: 'Hello' }).waitFor()
    await tabTo(page, 'HelloIt works')
    await page.keyboard.press('Enter')
    await sees(page.getByRole('dialog', { name: 'Hello' }), /apns-push-type: alert/)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await eventually(async () =>
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'HelloIt works', 'the focus returns')
    )
  })

  story('is empty in a live project', async (scene) => {
    const project = await service.project({ mode: 'live' })
    const page = await scene.open(service, `p/${project.id}/lab`)
    await sees(page, 'This project is live')
  })
})
