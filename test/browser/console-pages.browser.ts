import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { ended, givenCampaign, triggered } from '../support/campaigns.ts'
import type { TestProject } from '../support/service.ts'
import { assertAccessible, openConsole, picture, sees, startWithConsole } from './console.ts'

const service = await startWithConsole()
const project: TestProject = await service.project({ name: 'Shop', mode: 'simulator' })
const { id } = project
const { message, trigger, task } = await furnish()

/** Something to see on every page. */
async function furnish() {
  const call = (path: string, json: unknown) => project.call('POST', `/api/v1${path}`, { json })
  await call('/users', { project_user_id: 'ana', properties: { name: 'Ana', plan: 'premium', age: 31 } })
  await call('/users', { project_user_id: 'bo', properties: { name: 'Bo', plan: 'free' } })
  for (const platform of ['IOS', 'ANDROID', 'WEB'])
    await service.manage('POST', `/projects/${id}/simulator/devices`, { json: { platform, project_user_id: 'ana' } })
  await givenCampaign(service, project, {
    campaign_id: 'spring',
    name: 'Spring sale',
    segment: { all: [{ attribute: 'user.plan', operator: 'equals', value: 'premium' }] },
    default_audience: { broadcast: true },
    message: { title: 'Spring is here, {{ user.name }}', body: '20 % off everything until Sunday.' }
  })
  const trigger = await triggered(project, { audience: { broadcast: true } }, 'spring')
  await ended(project, trigger)
  const sent = await call('/messages:send', {
    push_notifications: [
      { target: { project_user_id: 'ana' }, title: 'Your order is on its way', body: 'It arrives tomorrow.' }
    ]
  })
  await service.manage('POST', `/projects/${id}/webhooks`, {
    json: { url: 'https://example.com/tidings', events: ['message.failed'] }
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
  return { task, message: sent.json.delivery_results[0].message_id as string, trigger }
}

/** Each page: its path, a text that shows it is there, and its name. */
const pages: [path: string, text: string | RegExp, name: string][] = [
  ['projects', 'All projects', 'projects'],
  ...(
    [
      ['home', 'The last hour', 'home'],
      ['lab', 'What the gateways saw', 'lab'],
      ['campaigns', 'Spring sale', 'campaigns'],
      ['new-campaign', 'Who may get it', 'new-campaign'],
      ['campaigns/spring', 'Would reach', 'campaign'],
      ['campaigns/spring?tab=trigger', 'Who gets it', 'campaign-trigger'],
      ['campaigns/spring?tab=versions', 'Version 1', 'campaign-versions'],
      ['campaigns/spring?tab=use', 'By an agent', 'campaign-use'],
      ['triggers', 'spring (version 1)', 'triggers'],
      [`triggers/${trigger}`, 'Why did a user get it, or not?', 'trigger'],
      ['users', '2 entries', 'users'],
      ['users/ana', 'Created', 'user'],
      ['users/ana?tab=devices', 'ANDROID', 'user-devices'],
      ['messages', 'Your order is on its way', 'messages'],
      [`messages/${message}`, 'Handed to the gateway', 'message'],
      ['agents', 'In words', 'agents'],
      [`agents?tab=tasks&task=${task}`, 'Artifacts', 'agents-tasks'],
      ['agents?tab=card', 'Agents find it at', 'agents-card'],
      ['webhooks', 'https://example.com/tidings', 'webhooks'],
      ['webhooks?tab=deliveries', 'State', 'webhook-deliveries'],
      ['settings', 'Requests per second', 'settings'],
      ['settings?tab=gateways', 'Apple (APNs)', 'settings-gateways'],
      ['settings?tab=keys', 'svc_sk_', 'settings-keys'],
      ['settings?tab=tokens', 'bootstrap', 'settings-tokens'],
      ['settings?tab=audit', 'campaign.create', 'settings-audit']
    ] as const
  ).map(([path, text, name]) => [`p/${id}/${path}`, text, name] as [string, string, string])
]

const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['dark', 390],
  ['light', 390]
] as const

/** As wide as the screen and no wider: what does not fit scrolls in its own place. */
async function assertFits(page: Page, where: string): Promise<void> {
  const [all, seen] = (await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]'
  )) as [number, number]
  assert.ok(all <= seen, `${where} is ${all} wide on a screen of ${seen}`)
}

describe('on a desk and on a phone, in light and in dark', { concurrency: 2 }, () => {
  for (const [path, text, name] of pages) {
    it(`${name} is there, whole and accessible`, async (t) => {
      const { page, complaints } = await openConsole(t, service, { token: service.adminToken })
      await page.goto(`${service.url}/console/${path}`)
      await sees(page, text)
      await picture(page, name)
      for (const [colorScheme, width] of looks) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
        await assertFits(page, `${name}, ${colorScheme}`)
        await assertAccessible(page, `${name}, ${colorScheme}, ${width} wide`)
      }
      assert.deepEqual(complaints, [])
    })
  }
})
