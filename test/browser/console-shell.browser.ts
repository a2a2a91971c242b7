import assert from 'node:assert/strict'
import { givenCampaign } from '../support/campaigns.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { dialog, goTo, refusals, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()
const project: TestProject = await service.project({ name: 'Shop', mode: 'simulator' })
await project.call('POST', '/api/v1/users', {
  json: { project_user_id: 'ana-1', properties: { name: 'Ana', age: 31 } }
})
await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
  json: { device_id: 'ana-phone', platform: 'IOS', project_user_id: 'ana-1' }
})
await givenCampaign(service, project, { campaign_id: 'spring', name: 'Spring sale' })
for (const name of ['Bakery', 'Garage', 'Library', 'Museum']) await service.project({ name })
const send = async (title: string): Promise<string> => {
  const json = { push_notifications: [{ target: { project_user_id: 'ana-1' }, title }] }
  return (await project.call('POST', '/api/v1/messages:send', { json })).json.delivery_results[0].message_id
}

story(
  'the palette opens pages, users, campaigns, messages and docs by the keyboard alone',
  async ({ open, look }) => {
    const page = await open(service, `p/${project.id}/home`)
    const find = async (text: string, option: string | RegExp) => {
      await page.keyboard.press('Control+k')
      await dialog(page).getByRole('combobox').fill(text)
      await dialog(page).getByRole('option', { name: option }).first().waitFor()
    }
    await sees(page, 'Last hour')
    await find('spring', /^Spring sale/)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Spring sale' }).waitFor()
    await find('ana-', /^ana-1/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/users/ana-1')
    const id = await send('By its ID')
    await find(id, `Message ${id}`)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/messages/${id}`)
    await find('age=31', 'Users where age is 31')
    await page.keyboard.press('Enter')
    await sees(page, 'age is 31')
    await page.getByRole('link', { name: 'ana-1' }).waitFor()
    await find('rotate', /secret/)
    await look(page, 'the palette')
    await page.keyboard.press('Escape')
    await find('audit', /^Audit log/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/settings?tab=audit')
    await find('mode', /^Switch to/)
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'hidden' })
  },
  refusals
)

story('Home follows the project by one stream, without asking again and again', async ({ open }) => {
  const page = await open(service, `p/${project.id}/home`)
  await sees(page, 'Last hour')
  await page.getByText('Healthy').or(page.getByText('Simulated · healthy')).first().waitFor()
  const asked: string[] = []
  page.on(
    'request',
    (request) => void (/\/(manage|healthz|console\/session)/.test(request.url()) && asked.push(request.url()))
  )
  await eventually(async () => {
    asked.length = 0
    await page.waitForTimeout(6_000)
    assert.deepEqual(asked, [], 'at most ten requests a minute while nothing changes')
  })
  await send('Told by the stream')
  await sees(page, 'Told by the stream', 5_000)
  const one = { json: { items: [{}], next_cursor: null } }
  await page.route('**/approvals?state=pending*', (route) => route.fulfill(one))
  await page.reload()
  const menu = page.getByRole('navigation', { name: 'Console', includeHidden: true })
  await menu.getByText('1', { exact: true }).waitFor({ state: 'attached' })
  assert.match((await menu.textContent())!, /Times in Europe\/Vienna \(GMT[+]\d/)
})

story('all projects have the header, and are found by their name', async ({ open }) => {
  await send('Counted on the card')
  const page = await open(service, `p/${project.id}/home`)
  await page.getByLabel('Project', { exact: true }).selectOption('All projects…')
  await page.getByRole('heading', { level: 1, name: 'All projects' }).waitFor()
  await sees(page.getByRole('article', { name: 'Shop' }), /Last 24 hours: [1-9]\d* sent/)
  await page.getByLabel('Search', { exact: true }).last().fill('libr')
  await page.getByRole('article', { name: 'Shop' }).waitFor({ state: 'detached' })
  const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
  const before = await scheme()
  await page.keyboard.press('Control+k')
  await dialog(page).getByRole('combobox').fill('switch to')
  await dialog(page)
    .getByRole('option', { name: /^Switch to/ })
    .click()
  await eventually(async () => assert.notEqual(await scheme(), before))
  await page.getByRole('article', { name: 'Library' }).getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
})

story(
  'while the service is stopped, a page that was never opened waits in the console until it is back',
  async ({ open, forgive }) => {
    const first = await service.another()
    const page = await open({ url: first.url, adminToken: service.adminToken }, `p/${project.id}/home`)
    // With this wish of the browser no page is loaded before it is opened.
    await page.addInitScript(`Object.defineProperty(navigator, 'connection', { value: { saveData: true } })`)
    await page.reload()
    await sees(page, 'Last hour')
    await first.close()
    await sees(page, 'Connection lost. Reconnecting…')
    await goTo(page, 'Topics')
    await page.waitForURL('**/topics')
    await page.waitForTimeout(1_500)
    await sees(page, 'Connection lost. Reconnecting…')
    await service.another({ PORT: new URL(first.url).port })
    await page.getByRole('heading', { level: 1, name: 'Topics' }).waitFor()
    await page.getByText('Connection lost. Reconnecting…').waitFor({ state: 'hidden' })
    forgive() // The browser logs each request that failed during the outage.
    await goTo(page, 'Home')
    await sees(page, 'Last hour')
  }
)
