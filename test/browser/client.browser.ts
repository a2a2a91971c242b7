import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { createVapidKeys } from '../../src/simulator/simulator.ts'
import { anotherNode, of, pushWeb } from '../simulator/nodes.ts'
import { eventually, startService, type TestProject } from '../support/service.ts'
import { openBrowser, pushDoor, startSite } from './browser.ts'

const service = await startService()

/** A shop on another origin that uses the client, open in a browser. */
async function openShop(t: TestContext, wish = { mode: 'simulator' }) {
  const project = await service.project(wish)
  const site = await startSite(t, {
    '/': ['text/html', '<!doctype html><title>Shop</title>'],
    '/cart': ['text/html', '<!doctype html><title>Cart</title>'],
    '/sw.js': ['text/javascript', `importScripts('${service.url}/sdk/tidings-sw.js')`]
  })
  const context = await openBrowser(t, site)
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${site}/`)
  await load(page, project)
  return { project, site, context, page, complaints }
}

const load = (page: Page, { id, publicKey }: TestProject) =>
  page.evaluate(`import('${service.url}/sdk/tidings.js').then(({ createTidings }) => {
    globalThis.tidings = createTidings({ baseUrl: '${service.url}', projectId: '${id}', publicKey: '${publicKey}' })
  })`)

const devices = async ({ id }: TestProject) => (await service.manage('GET', `/projects/${id}/devices`)).json.items
const events = async ({ id }: TestProject) => (await service.manage('GET', `/projects/${id}/events`)).json.items

describe('the browser client on a page of another origin', () => {
  it('registers the browser once, and keeps its id over a reload', async (t) => {
    const { page, project, complaints } = await openShop(t)
    await page.evaluate(`tidings.setDevice({ app_version: '2.0' })`)
    const [device] = await devices(project)
    assert.deepEqual(
      [device.platform, device.app_version, device.locale_language, device.locale_region, device.timezone],
      ['WEB', '2.0', 'de', 'AT', 'Europe/Vienna']
    )
    await page.reload()
    await load(page, project)
    await page.evaluate('tidings.setDevice()')
    assert.deepEqual(
      (await devices(project)).map(({ id }: { id: string }) => id),
      [device.id]
    )
    assert.deepEqual(complaints, [])
  })

  it('logs a user in and out, sets properties and records events', async (t) => {
    const { page, project } = await openShop(t)
    await page.evaluate(`tidings.linkUser('ana')`)
    await page.evaluate(`tidings.setProperties({ plan: 'premium', age: 31, vip: true, note: null })`)
    await page.evaluate(`tidings.track('purchase', { amount: 12.5 })`)
    const [event] = await eventually(async () => {
      const found = await events(project)
      assert.equal(found.length, 1)
      return found
    })
    assert.equal(event.name, 'purchase')
    const user = await service.manage('GET', `/projects/${project.id}/users/ana`)
    assert.deepEqual(user.json.properties, { plan: 'premium', age: 31, vip: true, note: null })
    await page.evaluate('tidings.unlinkUser()')
    assert.equal((await devices(project))[0].project_user_id, null)
  })

  it('says in words what the service refuses', async (t) => {
    const { page } = await openShop(t)
    const refused = await page.evaluate(
      `tidings.linkUser('..').catch(({ name, status, code, message }) => ({ name, status, code, message }))`
    )
    const { message, ...rest } = refused as { message: string }
    assert.deepEqual(rest, { name: 'TidingsError', status: 400, code: 'invalid_project_user_id' })
    assert.match(message, /project_user_id/)
  })

  it('keeps events while the service cannot be reached, over a reload too, and sends each once in order', async (t) => {
    const { page, project, context } = await openShop(t)
    await page.evaluate('tidings.setDevice()')
    let offline = true
    await context.route(`${service.url}/api/**`, (route) => (offline ? route.abort() : route.continue()))
    await page.evaluate(`tidings.track('one'); tidings.track('two')`)
    await page.reload()
    await load(page, project)
    await page.evaluate(`tidings.track('three')`)
    assert.deepEqual(await events(project), [])
    offline = false
    await page.evaluate(`dispatchEvent(new Event('online'))`)
    await eventually(async () => assert.equal((await events(project)).length, 3), 60_000)
    const sorted = (await events(project)).map(({ name, at }: { name: string; at: string }) => `${at} ${name}`).sort()
    assert.deepEqual(
      sorted.map((each: string) => each.slice(25)),
      ['one', 'two', 'three']
    )
    assert.equal(await page.evaluate(`localStorage.getItem('tidings.${project.id}.events')`), '[]')
  })

  it('lets an event go that the service will never take, and sends the others', async (t) => {
    const { page, project } = await openShop(t)
    await page.evaluate(`tidings.track('good'); tidings.track(''); tidings.track('also good')`)
    await eventually(async () => {
      const names = (await events(project)).map(({ name }: { name: string }) => name).sort()
      assert.deepEqual(names, ['also good', 'good'])
      assert.equal(await page.evaluate(`localStorage.getItem('tidings.${project.id}.events')`), '[]')
    }, 30_000)
  })

  it('sends events that are too large to be sent after the page is left', async (t) => {
    const { page, project } = await openShop(t)
    await page.evaluate(`for (const name of ['a', 'b', 'c']) tidings.track(name, { text: 'x'.repeat(50_000) })`)
    await eventually(async () => assert.equal((await events(project)).length, 3), 30_000)
  })

  it('goes on where storage is full', async (t) => {
    const { page, project } = await openShop(t)
    await page.evaluate(`try { for (let at = 0; ; at += 1) localStorage.setItem('fill' + at, 'x'.repeat(100_000)) } catch {}
      try { for (let at = 0; ; at += 1) localStorage.setItem('more' + at, 'x') } catch {}`)
    await page.evaluate(`tidings.track('one'); tidings.track('two')`)
    await eventually(async () => {
      const names = (await events(project)).map(({ name }: { name: string }) => name).sort()
      assert.deepEqual(names, ['one', 'two'])
    })
  })

  it('registers again where the service has forgotten the device', async (t) => {
    const { page, project } = await openShop(t)
    await page.evaluate(`tidings.linkUser('ana')`)
    assert.equal((await project.call('DELETE', '/api/v1/users/ana')).status, 200)
    assert.deepEqual(await devices(project), [])
    await page.evaluate(`tidings.linkUser('bo')`)
    assert.equal((await devices(project))[0].project_user_id, 'bo')
    assert.equal((await project.call('DELETE', '/api/v1/users/bo')).status, 200)
    await page.evaluate(`tidings.track('still here')`)
    await eventually(async () => assert.equal((await events(project)).length, 1), 30_000)
  })

  it('keeps a bounded number of events', async (t) => {
    const { page, project, context } = await openShop(t)
    await context.route(`${service.url}/api/**`, (route) => route.abort())
    await page.evaluate(`for (let at = 0; at < 1005; at += 1) tidings.track('event ' + at)`)
    const kept = JSON.parse((await page.evaluate(`localStorage.getItem('tidings.${project.id}.events')`)) as string)
    assert.deepEqual([kept.length, kept[0].name], [1_000, 'event 5'])
  })
})

/** Subscribes with a subscription of the simulator: a browser without a network has no push service of its own. */
async function subscribed(t: TestContext) {
  const shop = await openShop(t)
  const { page, project, site } = shop
  const path = `/projects/${project.id}/simulator/devices`
  assert.equal((await service.manage('POST', path, { json: { platform: 'WEB', device_id: 'spare' } })).status, 201)
  const [{ token }] = await service.sql('select token from push_tokens where project_id = $1', [project.id])
  await page.evaluate(`
    PushManager.prototype.subscribe = async function ({ userVisibleOnly, applicationServerKey }) {
      globalThis.asked = { userVisibleOnly, key: btoa(String.fromCharCode(...applicationServerKey)) }
      return { toJSON: () => (${token}) }
    }`)
  const { public_key } = (await project.call('GET', '/api/v1/web-push/public-key')).json
  // A page that passes its own key uses the browser's push service, also in a simulated project.
  const asked = `{ serviceWorker: '/sw.js', vapidPublicKey: '${public_key}' }`
  assert.equal(await page.evaluate(`tidings.registerWebPush(${asked})`), true)
  return { ...shop, token: token as string, push: await pushDoor(page, site) }
}

describe('Web Push in a real browser', () => {
  it('subscribes with the key of the project and registers the subscription', async (t) => {
    const { page, project } = await openShop(t, { mode: 'live' })
    const { publicKey, privateKey } = createVapidKeys()
    const credential = { subject: 'mailto:a@example.com', public_key: publicKey, private_key: privateKey }
    const saved = await service.manage('PUT', `/projects/${project.id}/gateways/webpush`, { json: credential })
    assert.equal(saved.status, 200, saved.text)
    const endpoint = 'https://fcm.googleapis.com/fcm/send/abc'
    const token = { endpoint, keys: { p256dh: 'BPWn'.padEnd(87, 'A'), auth: 'A'.repeat(22) } }
    await page.evaluate(`
      PushManager.prototype.subscribe = async function ({ userVisibleOnly, applicationServerKey }) {
        globalThis.asked = { userVisibleOnly, key: btoa(String.fromCharCode(...applicationServerKey)) }
        return { toJSON: () => (${JSON.stringify(token)}) }
      }`)
    await page.evaluate(`tidings.registerWebPush({ serviceWorker: '/sw.js' })`)
    const asked = (await page.evaluate('asked')) as { userVisibleOnly: boolean; key: string }
    const key = Buffer.from(asked.key, 'base64').toString('base64url')
    assert.deepEqual([asked.userVisibleOnly, key], [true, publicKey])
    const rows = await service.sql('select device_id, token from push_tokens where project_id = $1', [project.id])
    assert.deepEqual([rows.length, rows[0].device_id], [1, await page.evaluate('tidings.deviceId')])
    assert.equal(JSON.parse(rows[0].token).endpoint, endpoint)
  })

  it('in a simulated project a push by the API is on the screen, without any push service, also after a reload', async (t) => {
    const { page, project, complaints } = await openShop(t)
    await page.evaluate(`PushManager.prototype.subscribe = () => Promise.reject(new Error('no push service'))`)
    await page.evaluate(`tidings.linkUser('ana')`)
    assert.equal(await page.evaluate(`tidings.registerWebPush({ serviceWorker: '/sw.js' })`), true)
    const shows = (...titles: string[]) =>
      eventually(async () => {
        const found = (await page.evaluate(`navigator.serviceWorker.ready
          .then((registration) => registration.getNotifications())
          .then((all) => all.map(({ title }) => title).sort())`)) as string[]
        assert.deepEqual(found, titles)
      }, 20_000)
    const push = async (title: string) => {
      const push_notifications = [{ target: { project_user_id: 'ana' }, title, body: 'It works' }]
      const reply = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications } })
      assert.equal(reply.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED', reply.text)
    }
    await push('Hello')
    await shows('Hello')
    await page.reload()
    await load(page, project)
    await push('Again')
    await shows('Again', 'Hello')
    await eventually(async () => {
      const received = (await events(project)).filter(
        ({ name }: { name: string }) => name === 'PUSH_NOTIFICATION_RECEIVED'
      )
      assert.equal(received.length, 2)
    })
    assert.deepEqual(complaints, [])
  })

  it('the example of docs/guides/web-push.md ends with a push on the screen', async (t) => {
    const project = await service.project({ mode: 'simulator' })
    const docs = await readFile(join(import.meta.dirname, '../../docs/guides/web-push.md'), 'utf8')
    const block = (kind: string) => new RegExp(`\`\`\`${kind}\\n([^]*?)\`\`\``).exec(docs)![1]!
    const here = (text: string) =>
      text
        .replaceAll('http://127.0.0.1:8080', service.url)
        .replace('svc_pk_…', project.publicKey)
        .replace("'demo'", `'${project.id}'`)
    const site = await startSite(t, {
      '/': ['text/html', here(block('html'))],
      '/sw.js': ['text/javascript', here(block('js'))]
    })
    const page = await (await openBrowser(t, site)).newPage()
    await page.goto(`${site}/`)
    await page.getByRole('button', { name: 'Notify me' }).click()
    await page.getByText('Ready').waitFor()
    const body = /messages:send .*-d '(\{.*\})'/.exec(docs)![1]!
    const sent = await project.call('POST', '/api/v1/messages:send', { json: JSON.parse(body) })
    assert.equal(sent.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_SUCCEED', sent.text)
    await eventually(async () => {
      const titles = await page.evaluate(`navigator.serviceWorker.ready
        .then((registration) => registration.getNotifications()).then((all) => all.map(({ title }) => title))`)
      assert.deepEqual(titles, ['Hello'])
    }, 20_000)
  })

  it('registerWebPush fails with words when the push service of the browser does not respond', async (t) => {
    const { page, project } = await openShop(t)
    const { public_key } = (await project.call('GET', '/api/v1/web-push/public-key')).json
    await page.evaluate('PushManager.prototype.subscribe = () => new Promise(() => {})')
    const asked = `{ serviceWorker: '/sw.js', vapidPublicKey: '${public_key}', timeoutMs: 1000 }`
    const refused = await page.evaluate(
      `tidings.registerWebPush(${asked}).catch(({ name, code, message }) => ({ name, code, message }))`
    )
    assert.deepEqual(refused, {
      name: 'TidingsError',
      code: 'timeout',
      message: 'The push service of this browser did not respond within 1 s. Try again later.'
    })
  })

  it('a push that went through the simulated gateway is shown, and a tap opens its landing page; both are recorded', async (t) => {
    const { page, project, site, context, token, push } = await subscribed(t)
    const payload = {
      message_id: '0198f3a4-7c1e-7b52-9d40-5a1f6e2c8b17',
      title: 'Hello 👋',
      body: 'Your cart waits',
      landing_url: '/cart',
      tag: 'cart',
      data: { coupon: 'X1' }
    }
    await pushWeb(await of(anotherNode(t, service), project.id), token, payload)
    const arrived = await eventually(async () => {
      const { items } = (await service.manage('GET', `/projects/${project.id}/simulator/inbox`)).json
      return items[0].request.payload
    })
    assert.deepEqual(arrived, payload)
    let pushedAt = 0
    const shown = await eventually(async () => {
      // A browser without processor drops what the developer tools deliver. Its tag makes a second one replace the first.
      if (Date.now() - pushedAt > 4_000) {
        await push(JSON.stringify(arrived))
        pushedAt = Date.now()
      }
      const found = (await page.evaluate(`navigator.serviceWorker.ready
        .then((registration) => registration.getNotifications())
        .then((all) => all.map(({ title, body, tag, data }) => ({ title, body, tag, data })))`)) as object[]
      assert.equal(found.length, 1)
      return found[0]
    }, 20_000)
    const { message_id, landing_url } = payload
    assert.deepEqual(shown, {
      title: 'Hello 👋',
      body: 'Your cart waits',
      tag: 'cart',
      data: { coupon: 'X1', message_id, landing_url }
    })
    const recorded = async (name: string) => {
      const found = await events(project)
      const event = found.find((each: { name: string }) => each.name === name)
      assert.ok(event, JSON.stringify(found))
      return event
    }
    const received = await eventually(() => recorded('PUSH_NOTIFICATION_RECEIVED'))
    assert.deepEqual([received.message_id, received.device_id], [message_id, await page.evaluate('tidings.deviceId')])

    // A tap needs a person, so the test dispatches the same event and records the window that it would open.
    const [worker] = context.serviceWorkers()
    await worker!.evaluate(`(async () => {
      self.opened = []
      clients.openWindow = async (url) => void self.opened.push(url)
      const [notification] = await self.registration.getNotifications()
      self.dispatchEvent(new NotificationEvent('notificationclick', { notification }))
    })()`)
    await eventually(async () => assert.deepEqual(await worker!.evaluate('self.opened'), [`${site}/cart`]))
    assert.equal((await eventually(() => recorded('PUSH_NOTIFICATION_TAPPED'))).message_id, message_id)
    assert.deepEqual(await worker!.evaluate('self.registration.getNotifications().then(({ length }) => length)'), 0)
  })

  it('a push whose receipt could not be sent is recorded with the next one', async (t) => {
    const { project, context, push } = await subscribed(t)
    const [worker] = context.serviceWorkers()
    await worker!.evaluate(`self.realFetch = fetch; self.fetch = () => Promise.reject(new TypeError('offline'))`)
    await push(JSON.stringify({ message_id: 'm1', title: 'One' }))
    await eventually(async () => {
      const kept = await worker!.evaluate(
        `caches.open('tidings').then((cache) => cache.match('/tidings/waiting')).then((found) => found?.json())`
      )
      assert.equal((kept as unknown[] | undefined)?.length, 1)
    })
    assert.deepEqual(await events(project), [])
    await worker!.evaluate('self.fetch = self.realFetch')
    await push(JSON.stringify({ message_id: 'm2', title: 'Two' }))
    await eventually(async () => {
      const found = (await events(project)).map(({ message_id }: { message_id: string }) => message_id).sort()
      assert.deepEqual(found, ['m1', 'm2'])
    })
  })

  it('a push that is no JSON, or empty, is shown all the same', async (t) => {
    const { page, push } = await subscribed(t)
    await push('just text')
    await push('')
    await push('null')
    await eventually(async () => {
      const bodies = await page.evaluate(`navigator.serviceWorker.ready
        .then((registration) => registration.getNotifications())
        .then((all) => [...new Set(all.map(({ title, body }) => title + '|' + body))].sort())`)
      assert.deepEqual(
        bodies,
        ['localhost|', 'localhost|just text'].map((each) => each.replace('localhost', new URL(page.url()).host))
      )
    })
  })

  it('what the browser has renewed is told when the page is opened again', async (t) => {
    const { page, project, token } = await subscribed(t)
    const path = `/projects/${project.id}/simulator/devices`
    await service.manage('POST', path, { json: { platform: 'WEB', device_id: 'other' } })
    const [{ token: renewed }] = await service.sql(
      `select token from push_tokens where project_id = $1 and device_id = 'other'`,
      [project.id]
    )
    const { public_key } = (await project.call('GET', '/api/v1/web-push/public-key')).json
    await page.reload()
    await load(page, project)
    const withKey = (key: string) => `PushManager.prototype.getSubscription = async () => ({
      toJSON: () => (${renewed}),
      options: { applicationServerKey: Uint8Array.from(atob('${Buffer.from(key, 'base64url').toString('base64')}'), (c) => c.charCodeAt(0)).buffer }
    })`
    const own = async () => {
      const id = await page.evaluate('tidings.deviceId')
      const sql = 'select token from push_tokens where project_id = $1 and device_id = $2'
      return (await service.sql(sql, [project.id, id]))[0]?.token
    }
    await page.evaluate(withKey(Buffer.alloc(65, 4).toString('base64url')))
    await page.evaluate('tidings.setDevice()')
    assert.equal(await own(), token, 'a subscription with the key of somebody else is left alone')
    await page.evaluate(withKey(public_key))
    await page.evaluate('tidings.setDevice()')
    assert.equal(await own(), renewed)
  })

  it('where the person says no, the browser counts as not reachable', async (t) => {
    const { page, project } = await openShop(t)
    await page.evaluate(`Notification.requestPermission = async () => 'denied'`)
    assert.equal(await page.evaluate(`tidings.registerWebPush({ serviceWorker: '/sw.js' })`), false)
    const [device] = await devices(project)
    assert.deepEqual([device.is_push_permission_granted, device.push], [false, null])
  })
})
