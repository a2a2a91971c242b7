import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { givenCampaign, givenMany, put, triggered } from '../support/campaigns.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { assertAccessible, choose, openConsole, picture, sees, startWithConsole } from './console.ts'

const service = await startWithConsole()

async function open(t: TestContext, project: TestProject, path: string) {
  const opened = await openConsole(t, service, { token: service.adminToken })
  await opened.page.goto(`${service.url}/console/p/${project.id}/${path}`)
  return opened
}

async function projectWithPeople(): Promise<TestProject> {
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  await put(project, 'ana', { name: 'Ana', plan: 'premium' })
  await put(project, 'bo', { name: 'Bo', plan: 'free' })
  for (const user of ['ana', 'bo'])
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { platform: 'IOS', project_user_id: user }
    })
  return project
}

const preview = (page: Page) => page.getByRole('region', { name: 'Preview' })
const count = (page: Page, name: string) => page.locator(`[data-count=${name}]`)

describe('a campaign', () => {
  it('is written, seen before it is sent, saved, triggered, watched and explained', async (t) => {
    const project = await projectWithPeople()
    const { page, complaints } = await open(t, project, 'campaigns')
    await page.getByRole('link', { name: 'Create a campaign' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Spring sale')
    await page.getByRole('textbox', { name: 'Id', exact: true }).fill('spring')
    await page.getByLabel('Title', { exact: true }).fill('Hello {{ user.name }}')
    await page.getByLabel('Body', { exact: true }).fill('{{ trigger.percent }} % off')

    // Who may get it, and how many that are, as it is chosen.
    await page.locator('[data-audience=users]', { hasText: '2 users' }).waitFor()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.locator('[data-audience=users]', { hasText: '1 user' }).waitFor()
    await page.getByLabel('Value', { exact: true }).fill('free')
    await sees(preview(page), 'Hello Bo')
    await choose(page, 'Operator', 'is not')
    await sees(preview(page), 'Hello Ana')
    await preview(page).getByLabel('Trigger properties').fill('{"percent": 20}')
    await sees(preview(page), '20 % off')
    await assertAccessible(page, 'the editor with a segment')
    await picture(page, 'campaign-editor')

    // A reload keeps what was typed.
    await page.reload()
    assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'Spring sale')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await sees(page, 'spring, version 1')
    await preview(page).getByRole('button', { name: 'Send a test to this device' }).click()
    await sees(preview(page), 'Sent.')

    await page.getByRole('tab', { name: 'Use it from code' }).click()
    await sees(page, /campaigns\/spring:trigger/)
    await page.getByRole('tab', { name: 'Trigger' }).click()
    await page.getByLabel('Everyone in the segment').check()
    await page.getByLabel('Trigger properties').fill('{"percent": 20}')
    await page.getByRole('button', { name: 'Send it' }).click()
    await sees(page, 'completed')
    await count(page, 'sent').getByText('1', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Messages' }).getByText('Hello Ana').waitFor()

    // Why did Bo not get it?
    await page.getByLabel('Why did a user get it, or not?').fill('bo')
    await page.getByRole('button', { name: 'Explain' }).click()
    const explained = page.getByRole('region', { name: 'Explanation for bo' })
    await sees(explained.locator('[data-gate=segment]'), 'The segment does not match the user as it is now.')
    await picture(page, 'trigger')
    await choose(page, 'Status', 'failed or skipped')
    await sees(page, 'No messages')
    assert.match(page.url(), /status=FAILED/)
    assert.deepEqual(complaints, [])
  })

  it('says beside the field what is wrong with it, with line and column', async (t) => {
    const project = await projectWithPeople()
    const { page, complaints } = await open(t, project, 'new-campaign')
    await page.getByLabel('Body', { exact: true }).fill('One line\nand {% if user.plan %} another')
    await sees(page, /^line 2, column 5: /)
    await page.getByLabel('Body', { exact: true }).fill('Fine')
    await page.getByLabel('Picture').fill('nowhere')
    await sees(page, 'must be an address with http or https')
    await page.getByLabel('Picture').fill('')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await choose(page, 'Operator', 'matches the pattern')
    await page.getByLabel('Value', { exact: true }).fill('(')
    await sees(page, /segment\S*: is not a regular expression/)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await sees(page.locator('main'), /must not be empty|must have at least|name: /)
    // The browser tells of every refusal; there must be nothing else.
    assert.deepEqual(
      complaints.filter((text) => !/status of 400/.test(text)),
      []
    )
  })

  it('shows its versions and what changed between them', async (t) => {
    const project = await projectWithPeople()
    await givenCampaign(service, project, { message: { title: 'One' } })
    await givenCampaign(service, project, { message: { title: 'Two' } })
    const { page, complaints } = await open(t, project, 'campaigns/news?tab=versions')
    await page.getByRole('button', { name: /Version 2/ }).click()
    await sees(page, '- "title": "One"')
    await sees(page, '+ "title": "Two"')
    assert.deepEqual(complaints, [])
  })

  it('that runs is watched and canceled', async (t) => {
    const project = await service.project({ mode: 'simulator' })
    await givenMany(service, project, 300)
    await givenCampaign(service, project, { throttle_per_second: 5, default_audience: { broadcast: true } })
    const id = await triggered(project, { audience: { broadcast: true } })
    const { page, complaints } = await open(t, project, `triggers/${id}`)
    await count(page, 'sent')
      .getByText(/^[1-9]/)
      .waitFor()
    const before = Number(await count(page, 'sent').textContent())
    await eventually(async () => assert.ok(Number(await count(page, 'sent').textContent()) > before), 20_000)
    await page.getByRole('button', { name: 'Cancel it' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel it' }).click()
    await page.getByText('canceled', { exact: true }).waitFor()
    await eventually(async () => assert.equal(await count(page, 'pending').textContent(), '0'))
    const counts = (name: string) => count(page, name).textContent().then(Number)
    assert.equal(
      await counts('targeted'),
      (await counts('sent')) + (await counts('failed')) + (await counts('skipped'))
    )
    assert.deepEqual(complaints, [])
  })
})
