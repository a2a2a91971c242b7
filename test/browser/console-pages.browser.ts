import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContext, Response } from 'playwright-core'
import { ended, givenCampaign, givenMany, triggered } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { eventually, type TestProject } from '../support/service.ts'
import {
  assertAccessible,
  assertFits,
  goTo,
  looks,
  type Opened,
  openContext,
  openPage,
  picture,
  refusals,
  sees,
  startWithConsole,
  story
} from './console.ts'
import { assertApart, assertColumns, assertStructure } from './structure.ts'

const photographed = Boolean(process.env.TIDINGS_SCREENSHOTS)
const service = await startWithConsole()
const project: TestProject = await service.project({ name: 'Shop', mode: 'simulator' })
const { id } = project
const { message, trigger, task, webhook, erasure } = await furnish()

/** Creates content for every page. */
async function furnish() {
  const call = (path: string, json: unknown) => project.call('POST', `/api/v1${path}`, { json })
  await call('/users', { project_user_id: 'ana', properties: { name: 'Ana', plan: 'premium', age: 31 } })
  await call('/users', { project_user_id: 'bo', properties: { name: 'Bo', plan: 'free' } })
  for (const platform of ['IOS', 'ANDROID', 'WEB'])
    await service.manage('POST', `/projects/${id}/simulator/devices`, {
      json: { device_id: `ana-${platform}`, platform, project_user_id: 'ana' }
    })
  await service.manage('PUT', `/projects/${id}/segments/premium`, {
    json: { name: 'Premium plan', segment: { attribute: 'user.plan', operator: 'equals', value: 'premium' } }
  })
  await service.manage('PUT', `/projects/${id}/topics/offers`, { json: { name: 'Offers', description: 'Discounts' } })
  await givenCampaign(service, project, {
    campaign_id: 'spring',
    name: 'Spring sale',
    segment: { all: [{ attribute: 'user.plan', operator: 'equals', value: 'premium' }] },
    default_audience: { broadcast: true },
    message: { title: 'Spring is here, {{ user.name }}', body: '20 % off everything until Sunday.' }
  })
  // Pictures for the docs show ordinary texts.
  if (!photographed) await unwieldy()
  await givenCampaign(service, project, {
    campaign_id: 'welcome',
    type: 'event_triggered',
    event_trigger: { event: 'signed_up', delay: '1d' }
  })
  await call('/events', { events: [{ device_id: 'ana-IOS', name: 'signed_up' }] })
  const trigger = await triggered(project, { audience: { broadcast: true } }, 'spring')
  await ended(project, trigger)
  const sent = await call('/messages:send', {
    push_notifications: [
      { target: { project_user_id: 'ana' }, title: 'Your order is on its way', body: 'It arrives tomorrow.' }
    ]
  })
  await eventually(async () => {
    const { items } = (await service.manage('GET', `/projects/${id}/users/ana/journeys`)).json
    assert.equal(items.length, 1)
  })
  const hook = await service.manage('POST', `/projects/${id}/webhooks`, {
    json: { url: 'https://example.com/tidings', events: ['message.failed'] }
  })
  await call('/live-activities:start', {
    live_activities: [
      {
        target: { project_user_id: 'ana' },
        attributes_type: 'DeliveryActivityAttributes',
        attributes: { order: '42' },
        content_state: { courier: 'Bo', minutes: 12 }
      }
    ]
  })
  const asked = {
    messageId: 'm1',
    role: 'user',
    parts: [{ data: { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hello', body: 'From an agent' } }]
  }
  const done = await service.manage('POST', `/projects/${id}/a2a`, {
    headers: { 'a2a-version': '1.0' },
    json: { jsonrpc: '2.0', id: '1', method: 'SendMessage', params: { message: asked } }
  })
  const task = done.json.result.task.id as string
  await project.call('PATCH', '/api/v1/users/ana/preferences', {
    json: { topics: { offers: true }, consent: { source: 'checkout', text: '2026-03' } }
  })
  await call('/users', { project_user_id: 'cy' })
  const erased = await service.manage('POST', `/projects/${id}/erasures`, { json: { project_user_id: 'cy' } })
  const erasure = erased.json.erasure_id as string
  return {
    erasure,
    task,
    webhook: hook.json.id as string,
    message: sent.json.delivery_results[0].message_id as string,
    trigger
  }
}

/** Ids as long as they may be, texts without spaces, and texts from right to left: each page must still fit its screen. */
async function unwieldy() {
  const longId = `${'x'.repeat(480)}-last`
  const hebrew = 'מבצע אביב: עשרים אחוז הנחה על הכול עד יום ראשון'
  await project.call('POST', '/api/v1/users', {
    json: { project_user_id: longId, properties: { name: hebrew, ['p'.repeat(120)]: 'v'.repeat(900), plan: 'premium' } }
  })
  await service.manage('POST', `/projects/${id}/simulator/devices`, {
    json: { device_id: 'd'.repeat(100), platform: 'ANDROID', project_user_id: longId }
  })
  await givenCampaign(service, project, {
    campaign_id: 'c'.repeat(100),
    name: `${hebrew} ${'n'.repeat(120)}`,
    message: { title: hebrew, body: 'b'.repeat(900) }
  })
  const wide = await triggered(project, { audience: { targets: [{ project_user_id: longId }] } }, 'c'.repeat(100))
  await ended(project, wide)
  await service.manage('POST', `/projects/${id}/webhooks`, {
    json: { url: `https://example.com/${'w'.repeat(900)}`, events: ['message.failed'] }
  })
  await service.manage('PUT', `/projects/${id}/segments/${'s'.repeat(60)}`, {
    json: {
      name: hebrew,
      segment: { attribute: `user.${'p'.repeat(120)}`, operator: 'equals', value: 'v'.repeat(900) }
    }
  })
  await service.manage('POST', `/projects/${id}/keys`, { json: { kind: 'secret', name: 'k'.repeat(100) } })
}

/** Each page: its path, a text it shows, and its name. */
const pages: [path: string, text: string | RegExp, name: string][] = [
  ['projects', 'Each project has its own users', 'projects'],
  ['members', 'No members yet', 'members'],
  ['audit', 'signed a browser in with the management token', 'installation-audit'],
  ['account', 'Create your account', 'account'],
  ...(
    [
      ['home', 'Last hour', 'home'],
      ['lab', 'Gateway requests', 'lab'],
      ['campaigns', 'Spring sale', 'campaigns'],
      ['new-campaign', 'Audience', 'new-campaign'],
      ['campaigns/spring', 'Would reach', 'campaign'],
      ['campaigns/welcome', 'On their way: 1 user', 'campaign-event'],
      ['campaigns/spring?tab=trigger', 'Recipients', 'campaign-trigger'],
      ['campaigns/spring?tab=results&by=variant', 'Download CSV', 'campaign-results'],
      ['campaigns/spring?tab=versions', 'Version 1', 'campaign-versions'],
      ['campaigns/spring?tab=use', 'Agent (A2A)', 'campaign-use'],
      ['triggers', /\d of \d sent/, 'triggers'],
      [`triggers/${trigger}`, 'Why did a user receive this, or not?', 'trigger'],
      ['users', photographed ? '2 entries' : '3 entries', 'users'],
      ['users/ana', 'Created', 'user'],
      ['users/ana?tab=devices', 'Android', 'user-devices'],
      ['users/ana?tab=activity', 'The newest', 'user-activity'],
      ['users/ana?tab=journeys', 'welcome, version 1', 'user-journeys'],
      ['users/ana?tab=preferences', 'checkout', 'user-preferences'],
      ['segments', 'Premium plan', 'segments'],
      ['segments/premium', 'can be reached by a push', 'segment'],
      ['new-segment', 'Create', 'new-segment'],
      ['topics', 'Discounts', 'topics'],
      ['privacy', '1 entry', 'privacy'],
      ['privacy?tab=verify', 'Choose a file', 'privacy-verify'],
      [`privacy/${erasure}`, 'Erasure ID', 'receipt'],
      ['messages', 'Your order is on its way', 'messages'],
      [`messages/${message}`, /Sent to (APNs|FCM|Web Push)/, 'message'],
      ['live-activities', 'No channels yet', 'live-activities'],
      ['agents', 'Text', 'agents'],
      ['agents?tab=tasks', 'Export all tasks', 'agents-tasks'],
      [`agents/tasks/${task}`, 'What happened', 'agents-task'],
      ['approvals', 'Nothing waits for approval', 'approvals'],
      ['agents?tab=card', 'Published at', 'agents-card'],
      ['webhooks', 'https://example.com/tidings', 'webhooks'],
      ['webhooks?tab=deliveries', 'State', 'webhook-deliveries'],
      [`webhooks/${webhook}`, 'Send test event', 'webhook'],
      ['results', 'By campaign', 'results'],
      ['settings', 'Requests per second', 'settings'],
      ['settings?tab=limits', 'Messages per user', 'settings-limits'],
      ['settings?tab=gateways', 'Apple (APNs)', 'settings-gateways'],
      ['settings?tab=keys', 'svc_sk_', 'settings-keys'],
      ['settings?tab=tokens', 'bootstrap', 'settings-tokens'],
      ['settings?tab=audit', 'created the campaign', 'settings-audit']
    ] as const
  ).map(([path, text, name]) => [`p/${id}/${path}`, text, name] as [string, string | RegExp, string])
]

/** Pages with a picture in the docs. Other tests take those of the editor, a trigger and the agents. */
const pictured = new Set(['home', 'lab', 'campaigns', 'triggers', 'users', 'messages', 'webhooks', 'settings-gateways'])

story('the menu leads to every page, in its order', async ({ open }) => {
  const page = await open(service, `p/${id}/home`)
  const menu =
    'Home, Campaigns, Triggers, Messages, Live Activities, Results, Users, Segments, Topics, Privacy, Agents, Approvals, Webhooks, Device lab, Settings'.split(
      ', '
    )
  for (const item of menu) {
    await goTo(page, item)
    await page.getByRole('heading', { level: 1, name: item, exact: true }).waitFor()
  }
  const links = page.getByRole('navigation', { name: 'Console', includeHidden: true }).locator('a')
  assert.deepEqual(await links.allTextContents(), [...menu, 'Docs'])
})

it('the first load is small, compressed, cached and served by one host', async (t) => {
  const context = await openContext(service, { token: service.adminToken })
  t.after(() => context.close())
  const { page, complaints } = await openPage(context)
  const files: Response[] = []
  page.on('response', (response) => void files.push(response))
  await page.goto(`${service.url}/console/p/${id}/home`)
  await sees(page, 'Last hour')
  assert.ok(files.every((file) => file.url().startsWith(`${service.url}/`)))
  const assets = files.filter((file) => file.url().includes('/console/assets/'))
  assert.ok(assets.length > 3)
  for (const asset of assets) {
    const { 'content-encoding': encoding, 'cache-control': caching } = await asset.allHeaders()
    assert.deepEqual([encoding, caching], ['br', 'public, max-age=31536000, immutable'], asset.url())
  }
  const loaded = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/console/'))
    .concat(performance.getEntriesByType('navigation')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`
  const bytes = (await page.evaluate(loaded)) as number
  t.diagnostic(`the first load is ${Math.round(bytes / 1024)} KB`)
  assert.ok(bytes > 100_000 && bytes < 200 * 1024, `${bytes} bytes`)
  assert.deepEqual(complaints, [])
})

story(
  'a missing page, project, campaign, user, trigger or message is reported',
  async ({ open }) => {
    const page = await open(service, 'nowhere')
    await sees(page, 'Page not found')
    const missing: [path: string, text: string][] = [
      ['p/nobody/home', 'Project “nobody” does not exist'],
      [`p/${id}/campaigns/none`, 'There is no campaign "none".'],
      [`p/${id}/users/none`, 'No user has this project_user_id.'],
      [`p/${id}/triggers/none`, 'There is no trigger of this id.'],
      [`p/${id}/messages/none`, 'No message of this id is in the project.']
    ]
    for (const [path, text] of missing) {
      await page.goto(`${service.url}/console/${path}`)
      await sees(page, text)
    }
  },
  refusals
)

story('a list of any length renders only its visible rows and loads more on scrolling', async ({ open }) => {
  const crowd = await service.project({ mode: 'simulator' })
  await givenMany(service, crowd, 650)
  const page = await open(service, `p/${crowd.id}/users`)
  const list = page.getByRole('region', { name: 'Users' })
  await list.getByRole('row').nth(3).hover()
  await eventually(async () => {
    await page.mouse.wheel(0, 100_000)
    assert.equal(await page.getByText('650 entries').count(), 1)
  }, 30_000)
  assert.ok((await list.getByRole('row').count()) < 100)
  const { items } = (await service.manage('GET', `/projects/${crowd.id}/users?limit=200`)).json
  const seen = new Set(items.map((item: Json) => item.project_user_id))
  await eventually(async () => {
    await page.mouse.wheel(0, 100_000)
    const last = (await list.getByRole('row').last().getByRole('link').textContent())!
    assert.ok(!seen.has(last), `${last} is not among the first 200`)
  })
})

const long = Boolean(process.env.TIDINGS_LONG)
/** Each page fits in a wide and light look and in a narrow and dark one, and is accessible in one of them, by turns. */
const seen = long ? looks : looks.slice(0, 2)

/** Pages whose structure is stored in test/browser/structure. */
const structured = new Set(
  'campaigns, approvals, triggers, users, user, segments, topics, privacy, receipt, messages, webhooks, settings-keys'.split(
    ', '
  )
)

/** Browsers for one page after the other: a new one would load and compile the console for each of them. */
const free: BrowserContext[] = []
async function openInTurn(t: TestContext): Promise<Opened> {
  const context = free.pop() ?? (await openContext(service, { token: service.adminToken }))
  const opened = await openPage(context)
  t.after(async () => {
    await opened.page.close()
    free.push(context)
  })
  return opened
}

describe('on a desktop and on a phone, in light and in dark mode', { concurrency: 2 }, () => {
  for (const [index, [path, text, name]] of pages.entries()) {
    it(`${name} loads, fits and is accessible`, async (t) => {
      const { page, complaints } = await openInTurn(t)
      await page.goto(`${service.url}/console/${path}`)
      await sees(page, text)
      // During a transition colours have neither their light nor their dark contrast.
      await page.addStyleTag({ content: '* { transition: none !important; animation: none !important }' })
      if (name === 'lab') await page.setViewportSize({ width: 1280, height: 1250 })
      if (pictured.has(name)) await picture(page, name)
      if (structured.has(name) && !photographed) await assertStructure(page, name, id)
      for (const [turn, { colorScheme, viewport }] of seen.entries()) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize(viewport)
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
        await assertFits(page, `${name}, ${colorScheme}`)
        await assertApart(page, `${name}, ${colorScheme}`)
        if (viewport.width > 1_000) await assertColumns(page, `${name}, ${colorScheme}`)
        if (long || index % seen.length === turn)
          await assertAccessible(page, `${name}, ${colorScheme}, ${viewport.width} wide`)
        if (name === 'lab' && turn === 1) await picture(page, 'lab-phone')
      }
      assert.deepEqual(complaints, [])
    })
  }
})
