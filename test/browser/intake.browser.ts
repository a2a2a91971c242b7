import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { eventually, startService } from '../support/service.ts'
import { openBrowser, startSite } from './browser.ts'

const service = await startService()
const folder = dirname(createRequire(import.meta.url).resolve('@segment/analytics-next/package.json'))
const script = readFileSync(join(folder, 'dist/umd/index.js'), 'utf8')

describe('@segment/analytics-next on a page of another origin', () => {
  it('reads its settings, and what it sends is stored', async (t) => {
    const project = await service.project()
    await service.manage('PATCH', `/projects/${project.id}`, { json: { intake: true } })
    const site = await startSite(t, {
      '/': ['text/html', '<!doctype html><title>Shop</title><script src="/analytics.js"></script>'],
      '/analytics.js': ['text/javascript', script]
    })
    const page = await (await openBrowser(t, site)).newPage()
    const elsewhere: string[] = []
    page.on('request', (request) => {
      const { origin } = new URL(request.url())
      if (origin !== site && origin !== service.url) elsewhere.push(request.url())
    })
    await page.goto(`${site}/`)
    // The address of the service is the only setting.
    await page.evaluate(`AnalyticsNext.AnalyticsBrowser.load({ writeKey: '${project.publicKey}', cdnURL: '${service.url}' })
      .then(async ([analytics]) => {
        await analytics.page('Home')
        await analytics.track('Product Viewed', { sku: 'x', price: 12.5 })
        await analytics.identify('ana', { plan: 'premium' })
        await analytics.track('Order Completed', { total: 42 })
      })`)
    const list = async (path: string) => (await service.manage('GET', `/projects/${project.id}${path}`)).json.items
    await eventually(async () => {
      const events = (await list('/events')) as { name: string; project_user_id: string | null }[]
      assert.deepEqual(events.map(({ name, project_user_id }) => `${name} of ${project_user_id}`).sort(), [
        'Order Completed of ana',
        'Product Viewed of ana',
        'page of ana'
      ])
    })
    const user = await service.manage('GET', `/projects/${project.id}/users/ana`)
    assert.deepEqual(user.json.properties, { plan: 'premium' })
    const [device] = await list('/devices')
    assert.deepEqual(
      [device.platform, device.project_user_id, device.locale_language, device.timezone],
      ['WEB', 'ana', 'de', 'Europe/Vienna']
    )
    assert.deepEqual(elsewhere, [], 'the page calls no other host')
  })
})
