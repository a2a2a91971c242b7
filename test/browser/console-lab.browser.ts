import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Page } from 'playwright-core'
import type { Json } from '../support/http.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

async function openLab(scene: Scene): Promise<{ page: Page; project: TestProject }> {
  const project = await service.project({ mode: 'simulator' })
  return { page: await scene.open(service, `p/${project.id}/lab`), project }
}

/** Calls the simulator of a project, to set things up. */
const simulator = async (project: TestProject, method: string, path: string, json: Json): Promise<Json> => {
  const reply = await service.manage(method, `/projects/${project.id}/simulator${path}`, { json })
  assert.ok(reply.status < 300, reply.text)
  return reply.json
}

const screen = (page: Page, name: string) => page.getByRole('region', { name: `Lock screen of ${name} of demo-user` })

const send = async (project: TestProject, more: Json): Promise<Json> => {
  const item = { target: { project_user_id: 'demo-user' }, ...more }
  const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications: [item] } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.delivery_results[0]
}

/** No outcome can end a token of the project before the work is done. */
async function whileTokensAreHeld<Result>(project: TestProject, work: () => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: service.databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    await client.query('select 1 from push_tokens where project_id = $1 for update', [project.id])
    return await work()
  } finally {
    await client.end()
  }
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
  story('adds a device with one click; a tap opens the link, a button reports its action', async (scene) => {
    const { page, project } = await openLab(scene)
    await sees(page, 'No devices yet')
    await page.getByRole('button', { name: 'Add iPhone' }).click()
    const phone = screen(page, 'iPhone')
    await phone.waitFor()
    const { message_id } = await send(project, {
      title: 'Your order',
      body: 'It is on its way.',
      landing_url: 'https://shop.example/orders/42',
      actions: [{ id: 'track', title: 'Track', landing_url: 'app://track/42' }]
    })
    await send(project, { title: 'Sale', landing_url: 'https://shop.example/sale' })
    await phone.getByRole('button', { name: 'Gateway request: Your order' }).click()
    const detail = page.getByRole('dialog', { name: 'Gateway request: Your order' })
    await sees(detail, /apns-push-type: alert/)
    await sees(detail, /authorization: bearer •+/)
    await sees(detail, /responded in [\d.]+ ms/)
    await scene.look(page, 'a gateway request')
    await detail.getByRole('link', { name: 'Message' }).click()
    await page.getByRole('region', { name: 'Gateway requests' }).getByRole('button', { name: 'Your order' }).click()
    await sees(page.getByRole('dialog', { name: 'Gateway request: Your order' }), /apns-push-type: alert/)
    await page.keyboard.press('Escape')
    await page.goto(`${service.url}/console/p/${project.id}/lab`)
    await phone
      .getByRole('button', { name: /^Y Sale|Sale/ })
      .first()
      .click()
    await phone.getByRole('link', { name: 'https://shop.example/sale' }).waitFor()
    await phone.getByRole('button', { name: 'Close the app' }).click()
    await phone.getByRole('button', { name: 'Track' }).click()
    await sees(phone, 'app://track/42')
    await phone.getByRole('button', { name: 'Close the app' }).click()
    await sees(phone, 'No notifications')
    const { json } = await project.call('GET', `/api/v1/messages/${message_id}`)
    assert.ok(json.devices[0].tapped_at, JSON.stringify(json))
  })

  story('goes offline and back, denies pushes, loses its app and is removed; others see it at once', async (scene) => {
    const { page, project } = await openLab(scene)
    await simulator(project, 'POST', '/devices', {
      platform: 'ANDROID',
      device_id: 'phone',
      project_user_id: 'demo-user'
    })
    const other = await scene.open(service, `p/${project.id}/lab`)
    await screen(other, 'Android phone').waitFor()
    await page.getByRole('button', { name: 'Go offline' }).click()
    await sees(page, 'Offline: the gateway holds pushes until the phone is back.')
    await sees(other, 'Offline')
    await send(project, { title: 'Later' })
    await sees(page, 'Offline · 1 push waiting')
    await page.reload()
    await sees(page, 'Offline · 1 push waiting')
    assert.equal(await screen(page, 'Android phone').getByText('Later').count(), 0)
    await page.getByRole('button', { name: 'Go online' }).click()
    await sees(screen(page, 'Android phone'), 'Later')
    await screen(page, 'Android phone').getByRole('button', { name: 'Dismiss: Later' }).click()
    await sees(screen(other, 'Android phone'), 'No notifications')
    await page.getByRole('button', { name: 'Deny push' }).click()
    await sees(page, 'Push denied. The app has reported it.')
    assert.match((await send(project, { title: 'No' })).additional_params.failure_reason, /NO_PUSH_TOKEN/)
    await page.getByRole('button', { name: 'Allow push' }).click()
    await page.getByRole('button', { name: 'Deny push' }).waitFor()
    const more = async (item: string) => {
      // Without a pointer: on a phone, toasts may cover the menu for a moment.
      await page.getByRole('button', { name: 'More actions for phone' }).dispatchEvent('click')
      await page.getByRole('menuitem', { name: item }).dispatchEvent('click')
    }
    await more('Uninstall the app')
    await sees(screen(page, 'Android phone'), 'The app is not installed')
    const sending = await whileTokensAreHeld(project, async () => {
      const began = send(project, { title: 'Gone' })
      await sees(page.getByRole('region', { name: 'Gateway requests' }), 'Gone')
      // The page has read the phones for the last time that the push itself brings about.
      await delay(1_000)
      return { began }
    })
    assert.match((await sending.began).additional_params.failure_reason, /UNREGISTERED/)
    await sees(page, /^Unreachable: TOKEN_UNREGISTERED/)
    await more('Reinstall the app')
    await sees(screen(page, 'Android phone'), 'No notifications')
    await scene.look(page, 'the lab with a phone')
    await more('Remove device')
    await sees(page, 'No devices yet')
    await sees(other, 'No devices yet')
  })

  story('shows any of many devices that a push goes to on top, and filters them', async (scene) => {
    const project = await service.project({ mode: 'simulator' })
    const long = 'x'.repeat(490)
    await simulator(project, 'POST', '/devices', { platform: 'IOS', device_id: 'oldest', project_user_id: long })
    for (let n = 0; n < 30; n++)
      await simulator(project, 'POST', '/devices', { platform: 'WEB', device_id: `b-${n}`, project_user_id: `u-${n}` })
    const page = await scene.open(service, `p/${project.id}/lab`)
    const phones = page.locator('[data-device]')
    await eventually(async () => assert.equal(await phones.count(), 12))
    await send(project, { target: { project_user_id: long }, title: 'Where am I?' })
    const first = phones.first()
    await sees(first, 'Where am I?')
    await sees(first, 'Just received')
    assert.equal(await first.getAttribute('data-device'), 'oldest')
    // The long id takes one line of its card, on the narrowest phone too.
    const usual = page.viewportSize()!
    await page.setViewportSize({ width: 360, height: 740 })
    for (const part of [first.getByRole('link'), first.getByRole('button', { name: 'Go offline' }), first]) {
      const { x, width, height } = (await part.boundingBox())!
      assert.ok(x >= 0 && x + width <= 360, `${await part.textContent()} is at ${x}, ${width} wide`)
      if (part !== first) assert.ok(height < 40, `${await part.textContent()} is ${height} high`)
    }
    await page.setViewportSize(usual)
    await page.getByRole('button', { name: 'Show more devices' }).click()
    await eventually(async () => assert.equal(await phones.count(), 25))
    await page.getByLabel('Search devices').fill('B-17')
    await eventually(async () => assert.equal(await phones.count(), 1))
    await page.reload()
    await eventually(async () => assert.equal(await phones.getAttribute('data-device'), 'b-17'))
    await page.getByLabel('Search devices').fill('')
    await eventually(async () => assert.ok((await phones.count()) > 1))
    await choose(page, 'Platform', 'iPhone')
    await eventually(async () => assert.equal(await phones.count(), 1))
    await choose(page, 'State', 'Offline')
    await sees(page, 'No devices match')
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
    await page.getByRole('link', { name: 'All channels' }).click()
    await sees(page.getByRole('region', { name: 'Channels' }).first(), '{"home":1}')
    await page.getByRole('button', { name: 'Broadcast' }).click()
    await page.getByRole('dialog').getByLabel('State (JSON)').fill('{"home": 2}')
    await page.getByRole('button', { name: 'Update all' }).click()
    await sees(page, 'Updated all with one request.')
    await sees(page.getByRole('region', { name: 'Channels' }).first(), '{"home":2}')
  })

  story('lets a gateway fail, explains the effect, and restores it', async (scene) => {
    const { page, project } = await openLab(scene)
    await page.getByRole('button', { name: 'Add Android phone' }).click()
    await screen(page, 'Android phone').waitFor()
    const knob = page.getByRole('radiogroup', { name: 'Condition of FCM (Android phones)' })
    await knob.getByText('Unregistered').click()
    await sees(page, 'As if the app were uninstalled on every device')
    await eventually(async () => {
      const { json } = await service.manage('GET', `/projects/${project.id}/simulator/faults`)
      assert.equal(json.fcm.error_rate, 1)
    })
    const refused = await send(project, { title: 'Nobody sees this' })
    assert.equal(refused.status, 'DELIVERY_RESULT_STATUS_FAILED', JSON.stringify(refused))
    await page.getByRole('button', { name: 'Nobody sees this' }).click()
    await sees(page.getByRole('dialog'), /404 UNREGISTERED/)
    await page.keyboard.press('Escape')
    await knob.getByText('Healthy').click()
    await eventually(async () => {
      const { json } = await service.manage('GET', `/projects/${project.id}/simulator/faults`)
      assert.equal(json.fcm.error_rate, 0)
    })
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
      await screen(page, 'iPhone').locator('[data-message]').click()
      await sees(screen(page, 'iPhone'), 'app://orders/42')
    },
    refusals
  )

  story('can be used with the keyboard alone', async (scene) => {
    const { page } = await openLab(scene)
    await page.getByRole('button', { name: 'Add iPhone' }).waitFor()
    await tabTo(page, 'Add iPhone')
    await page.keyboard.press('Enter')
    await screen(page, 'iPhone').waitFor()
    await tabTo(page, 'Send')
    await page.keyboard.press('Space')
    await screen(page, 'iPhone').getByRole('button', { name: 'Dismiss: Hello' }).waitFor()
    await tabTo(page, 'Gateway request')
    await page.keyboard.press('Enter')
    await sees(page.getByRole('dialog', { name: 'Gateway request: Hello' }), /apns-push-type: alert/)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await eventually(async () =>
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Gateway request', 'the focus returns')
    )
    await tabTo(page, 'Go offline')
    await page.keyboard.press('Enter')
    await sees(page, 'Go online')
  })

  story('is empty in a live project', async (scene) => {
    const project = await service.project({ mode: 'live' })
    const page = await scene.open(service, `p/${project.id}/lab`)
    await sees(page, 'This project is live')
  })
})
