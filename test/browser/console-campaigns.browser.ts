import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { parse } from 'yaml'
import { givenCampaign, givenMany, put, triggered } from '../support/campaigns.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, dialog, inPreview, refusals, sees, startWithConsole, story, toStep } from './console.ts'

const service = await startWithConsole()

async function projectWithUsers(): Promise<TestProject> {
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  await put(project, 'ana', { name: 'Ana', plan: 'premium' })
  await put(project, 'bo', { name: 'Bo', plan: 'free' })
  for (const user of ['ana', 'bo'])
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { platform: 'IOS', project_user_id: user }
    })
  return project
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const count = (page: Page, name: string) => page.locator(`[data-count=${name}]`)
const name = (page: Page) => page.getByRole('textbox', { name: 'Name', exact: true })
const saved = async (project: TestProject, id: string) =>
  (await service.manage('GET', `/projects/${project.id}/campaigns/${id}`)).json

describe('a campaign', () => {
  story('can be written, previewed, saved, triggered, watched and explained', async (scene) => {
    const project = await projectWithUsers()
    const page = await scene.open(service, `p/${project.id}/campaigns`)
    await page.getByRole('link', { name: 'Create campaign' }).click()
    await name(page).fill('Spring sale')
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('spring')
    await press(page, 'Next: Message')
    await page.getByLabel('Title', { exact: true }).fill('Hello {{ user.name }}')
    await page.getByLabel('Body', { exact: true }).fill('{{ trigger.percent }} % off')
    await toStep(page, 'Audience')

    // The size of the audience follows each change.
    await page.locator('[data-audience=users]', { hasText: '2 users' }).waitFor()
    await page.getByRole('button', { name: 'Add condition' }).click()
    await page.locator('[data-audience=users]', { hasText: '1 user' }).waitFor()
    await page.getByRole('combobox', { name: 'Value', exact: true }).fill('free')
    await inPreview(page, (pane) => sees(pane, 'Hello Bo'))
    await choose(page, 'Operator', 'is not')
    await inPreview(page, async (pane) => {
      await sees(pane, 'Hello Ana')
      await pane.getByLabel('trigger.percent', { exact: true }).fill('20')
      await sees(pane, '20 % off')
    })
    await scene.look(page, 'the editor with a segment')
    await scene.picture(page, 'campaign-editor')

    // A reload keeps unsaved input and the step.
    await page.reload()
    assert.equal(await name(page).inputValue(), 'Spring sale')
    await sees(page, 'Recipients')
    await inPreview(page, (pane) => sees(pane, '20 % off'))
    await toStep(page, 'Review')
    await sees(page, 'Only users who match: user.plan is not “free”.')
    await press(page, 'Activate')
    await sees(page, 'spring, version 1')
    await inPreview(page, async (pane) => {
      await pane.getByRole('button', { name: 'Send test to this device' }).click()
      await sees(pane, 'Sent.')
    })

    await page.getByRole('tab', { name: 'Trigger' }).click()
    await page.getByLabel('Everyone in the audience').check()
    await page.locator('[data-audience=users]', { hasText: '1 user' }).waitFor()
    await page.getByRole('button', { name: 'Send to 1 user' }).click()
    await dialog(page).getByRole('button', { name: 'Send to 1 user' }).click()
    await sees(page, 'completed')
    await count(page, 'sent').getByText('1', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Messages' }).getByText('Hello Ana').waitFor()

    // The explanation for Bo has a URL of its own.
    await page.getByLabel('Why did a user receive this, or not?').fill('bo')
    await page.getByRole('button', { name: 'Explain' }).click()
    const explained = page.getByRole('region', { name: 'Explanation for bo' })
    await sees(explained.locator('[data-gate=segment]'), /plan is "free", must not be "free"/)
    await scene.picture(page, 'trigger')
    await page.reload()
    await sees(explained.locator('[data-gate=segment]'), /plan is "free", must not be "free"/)
    await choose(page, 'Status', 'Failed or skipped')
    await sees(page, 'No matching messages')
    assert.match(page.url(), /status=FAILED/)
  })

  story(
    'goes to its default audience when a trigger names none',
    async (scene) => {
      const project = await projectWithUsers()
      await givenCampaign(service, project, { campaign_id: 'vip' })
      const page = await scene.open(service, `p/${project.id}/campaigns/vip?step=audience`)
      await page.getByLabel('Specific users and devices').check()
      const users = page.getByRole('combobox', { name: 'Users' })
      await users.fill('ana')
      await users.press('Enter')
      await press(page, 'Save')
      await sees(page, 'vip, version 2')
      assert.deepEqual((await saved(project, 'vip')).default_audience, { targets: [{ project_user_id: 'ana' }] })

      await page.getByRole('tab', { name: 'Trigger' }).click()
      assert.ok(await page.getByLabel('Default audience').isChecked())
      await sees(page, '1 user or device')
      await page.getByRole('button', { name: 'Send to 1 user' }).click()
      await sees(page, 'completed')
      await count(page, 'targeted').getByText('1', { exact: true }).waitFor()
      await page.getByRole('region', { name: 'Messages' }).getByText('ana').waitFor()
    },
    refusals
  )

  story(
    'starts a Live Activity, with a preview and errors at its fields',
    async (scene) => {
      const project = await projectWithUsers()
      const page = await scene.open(service, `p/${project.id}/new-campaign?step=message`)
      await name(page).fill('On its way')
      await page.getByRole('textbox', { name: 'ID', exact: true }).fill('delivery')
      await page.getByText('Live Activity', { exact: true }).click()
      const state = page.getByRole('textbox', { name: 'Content state' })
      await state.fill('{"courier": ')
      await sees(page, /Invalid JSON/)
      await state.fill('{"courier": "{{ trigger.courier", "minutes": 20}')
      await page.getByLabel('Attributes type').fill('DeliveryActivityAttributes')
      await sees(page, /^courier: line 1, column/)
      await state.fill('{"courier": "{{ trigger.courier }}", "minutes": 20}')
      await page.getByRole('textbox', { name: 'Attributes', exact: true }).fill('{"order": "42"}')
      await page.getByLabel('Alert title').fill('Hello {{ user.name }}')
      await inPreview(page, async (pane) => {
        await pane.getByLabel('trigger.courier', { exact: true }).fill('Bo')
        await sees(pane, 'courier: Bo')
      })
      await scene.look(page, 'the editor of a Live Activity')

      // Switching to the other type and back loses nothing, and neither does a reload.
      await page.getByText('Notification', { exact: true }).click()
      await page.getByLabel('Title', { exact: true }).waitFor()
      await page.getByText('Live Activity', { exact: true }).click()
      await page.reload()
      await inPreview(page, (pane) => sees(pane, 'courier: Bo'))
      await toStep(page, 'Review')
      await press(page, 'Activate')
      await sees(page, 'delivery, version 1')
      const { message, live_activity } = await saved(project, 'delivery')
      assert.equal(message, undefined)
      assert.deepEqual(live_activity, {
        attributes_type: 'DeliveryActivityAttributes',
        attributes: { order: '42' },
        content_state: { courier: '{{ trigger.courier }}', minutes: 20 },
        alert: { title: 'Hello {{ user.name }}' }
      })
      await triggered(
        project,
        { audience: { targets: [{ project_user_id: 'ana' }] }, properties: { courier: 'Cy' } },
        'delivery'
      )
      await page.goto(`${service.url}/console/p/${project.id}/lab`)
      await sees(page.getByRole('region', { name: 'Lock screen of iPhone of ana' }), 'courier: Cy')
    },
    refusals
  )

  story('is shown as a curl call, as an agent call and as an equivalent YAML file', async (scene) => {
    const project = await projectWithUsers()
    const wish = {
      campaign_id: 'spring',
      name: 'Spring: "sale" # 1',
      type: 'api_triggered',
      status: 'active',
      segment: { all: [{ attribute: 'user.plan', operator: 'in', value: ['premium', 'yes'] }] },
      message: { title: 'Hello {{ user.name }}', body: 'One line,\nand another: "quoted"' },
      quiet_hours: { from: '22:00', to: '08:00', timezone: 'user', action: 'hold' }
    }
    await givenCampaign(service, project, wish)
    const page = await scene.open(service, `p/${project.id}/campaigns/spring?tab=use`)
    await sees(page, /campaigns\/spring:trigger/)
    await sees(page, /"skill":"trigger-campaign"/)
    const yaml = (await page.getByLabel('YAML', { exact: true }).textContent())!
    assert.deepEqual(parse(yaml), wish)
    assert.match(
      yaml,
      /^campaign_id: spring\nname: .*\ntype: .*\nstatus: .*\nsegment:\n {2}all:\n {4}- attribute: user\.plan$/m
    )
    assert.match(yaml, /from: "22:00"/)
  })

  story(
    'shows template errors at their field, with line and column',
    async (scene) => {
      const project = await projectWithUsers()
      const page = await scene.open(service, `p/${project.id}/new-campaign?step=message`)
      await page.getByLabel('Body', { exact: true }).fill('One line\nand {% if user.plan %} another')
      await sees(page, /^line 2, column 5: /)
      await page.getByLabel('Body', { exact: true }).fill('Fine')
      await page.getByLabel('Image URL').fill('nowhere')
      await sees(page, 'must be an address with http or https')
      await page.getByLabel('Image URL').fill('')

      // Errors in the segment appear at their condition, also inside a nested group.
      await toStep(page, 'Audience')
      await page.getByRole('button', { name: 'Add group' }).click()
      const group = page.getByRole('group').last()
      await choose(page, 'Operator', 'does not match regex', group)
      const pattern = group.getByRole('combobox', { name: 'Value', exact: true })
      await pattern.fill('(')
      await sees(group, /value: is not a regular expression/)
      await pattern.fill('^p')
      await toStep(page, 'Timing')
      await page.getByLabel('Limit messages per user').click()
      await page.getByRole('textbox', { name: 'Period' }).fill('soon')
      await sees(page, 'must be a duration such as')
      await page.getByRole('textbox', { name: 'Period' }).fill('24h')
      await page.getByLabel('Quiet hours').check()
      await page.getByRole('textbox', { name: 'From' }).fill('late')
      await sees(page, 'must be a time such as 08:30 or 22:00')
      await page.getByRole('textbox', { name: 'From' }).fill('22:00')
      await page.getByRole('textbox', { name: 'Time to live (seconds)' }).fill('99999999')
      await sees(page, /^must be at most/)
      await page.getByRole('textbox', { name: 'Time to live (seconds)' }).fill('60')
      await press(page, 'Save draft')
      await sees(page.locator('main'), /must not be empty|must be given|required|name: /)
    },
    refusals
  )

  story('shows what each version changed, brings one back, and can be duplicated and archived', async (scene) => {
    const project = await projectWithUsers()
    await givenCampaign(service, project, { message: { title: 'One' } })
    await givenCampaign(service, project, { message: { title: 'One', landing_url: 'https://shop.example/a' } })
    const page = await scene.open(service, `p/${project.id}/campaigns/news?tab=versions`)
    await page.getByRole('button', { name: /Version 2/ }).click()
    await page.getByRole('row', { name: 'Link not set https://shop.example/a' }).waitFor()
    assert.equal(await page.getByRole('table', { name: 'Changed fields' }).getByRole('row').count(), 2)
    // The line before the new one got a comma, and is not marked.
    await page.getByText('As JSON', { exact: true }).click()
    await sees(page, '"landing_url": "https://shop.example/a"')
    const second = page.getByRole('region', { name: /Version 2/ })
    const marked = await second.locator('[data-sign="+"], [data-sign="-"]').allTextContents()
    assert.deepEqual(marked, ['+     "landing_url": "https://shop.example/a"'])
    await page.getByRole('button', { name: /Version 1/ }).click()
    await press(page, 'Restore version 1')
    await sees(page, 'Version 1 restored as version 3.')
    assert.deepEqual((await saved(project, 'news')).message, { title: 'One' })
    await press(page, 'Undo')
    await sees(page, 'news, version 4')
    assert.equal((await saved(project, 'news')).message.landing_url, 'https://shop.example/a')

    await press(page, 'Archive')
    await sees(page, 'Archived as version 5.')
    await press(page, 'Restore')
    await sees(page, 'news, version 6')
    assert.equal((await saved(project, 'news')).status, 'paused')
    await page.getByRole('link', { name: 'Duplicate' }).click()
    await sees(page, 'A copy of news.')
    assert.equal(await name(page).inputValue(), 'Copy of News')
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill('news-2')
    await press(page, 'Save draft')
    await sees(page, 'news-2, version 1')
    const { message, status } = await saved(project, 'news-2')
    assert.deepEqual([status, message], ['draft', { title: 'One', landing_url: 'https://shop.example/a' }])
  })

  story(
    'that two people edit at the same time keeps what both typed, until a side is chosen for each field',
    async (scene) => {
      const project = await projectWithUsers()
      await givenCampaign(service, project)
      const path = `p/${project.id}/campaigns/news?step=message`
      const token = (await service.manage('POST', '/tokens', { json: { name: 'Bo', role: 'editor' } })).json
      const page = await scene.open(service, path)
      const other = await scene.open(service, path, token.token)
      await page.getByLabel('Title', { exact: true }).fill('My title')
      await page.getByLabel('Body', { exact: true }).fill('My body')
      await other.getByLabel('Title', { exact: true }).fill('Their title')
      await other.getByLabel('Link', { exact: true }).fill('https://shop.example/theirs')
      await press(other, 'Save')
      await sees(other, 'Saved as version 2.')

      const compared = page.getByRole('table', { name: 'Differences' })
      const row = (field: string) => compared.locator(`[data-field="message.${field}"]`)
      await press(page, 'Save').catch(() => {}) // The page may have been told of the change, and ask already.
      await sees(page, 'Someone else saved version 2 while you were editing')
      await page.reload()
      await sees(row('title'), 'Changed by both')
      await sees(row('title'), 'My title')
      await sees(row('title'), 'Their title')
      await sees(row('body'), 'Changed by you')
      assert.ok(await row('landing_url').getByLabel('Take theirs').isChecked(), 'a field that only they changed')
      await scene.look(page, 'a conflict')
      await scene.picture(page, 'campaign-conflict')
      await row('title').getByLabel('Take theirs').check()
      await press(page, 'Use this version')
      assert.equal(await page.getByLabel('Body', { exact: true }).inputValue(), 'My body')
      await press(page, 'Save')
      await sees(page, 'Saved as version 3.')
      assert.deepEqual((await saved(project, 'news')).message, {
        title: 'Their title',
        body: 'My body',
        landing_url: 'https://shop.example/theirs'
      })
      // An editor without changes shows what was saved.
      await sees(other, 'news, version 3')
      await eventually(async () =>
        assert.equal(await other.getByLabel('Body', { exact: true }).inputValue(), 'My body')
      )

      // The next person who signs in to the same tab does not see the draft.
      await page.getByLabel('Body', { exact: true }).fill('Not for others')
      await sees(page, 'Not saved yet. Kept in this tab.')
      await page.context().request.post(`${service.url}/console/session`, { data: { token: token.token } })
      await page.reload()
      assert.equal(await page.getByLabel('Body', { exact: true }).inputValue(), 'My body')
    },
    refusals
  )

  story(
    'that is saved while the service is down is kept, and saved when the service is back',
    async (scene) => {
      const project = await projectWithUsers()
      await givenCampaign(service, project, { message: { title: 'Hello', body: 'Before' } })
      const node = await service.another()
      const page = await scene.open(node, `p/${project.id}/campaigns/news?step=message`)
      await page.getByLabel('Body', { exact: true }).fill('After')
      await node.close()
      await press(page, 'Save')
      await sees(page, 'Not saved: the service can’t be reached. Your changes are kept in this tab.')
      await page.getByLabel('Title', { exact: true }).fill('Typed meanwhile')
      await service.another({ PORT: new URL(node.url).port })
      await sees(page, 'Saved as version 2.')
      assert.deepEqual((await saved(project, 'news')).message, { title: 'Typed meanwhile', body: 'After' })
      await press(page, 'Undo')
      await sees(page, 'news, version 3')
      assert.deepEqual((await saved(project, 'news')).message, { title: 'Hello', body: 'Before' })
      assert.equal(await page.getByLabel('Body', { exact: true }).inputValue(), 'Before')
    },
    /ERR_|status of/
  )

  story('can be watched and stopped while it is sent', async (scene) => {
    const project = await service.project({ mode: 'simulator' })
    await givenMany(service, project, 300)
    await givenCampaign(service, project, { throttle_per_second: 5, default_audience: { broadcast: true } })
    const id = await triggered(project, { audience: { broadcast: true } })
    const page = await scene.open(service, `p/${project.id}/triggers/${id}`)
    await count(page, 'sent')
      .getByText(/^[1-9]/)
      .waitFor()
    const before = Number(await count(page, 'sent').textContent())
    await eventually(async () => assert.ok(Number(await count(page, 'sent').textContent()) > before), 20_000)
    await page.getByRole('button', { name: 'Stop' }).click()
    await dialog(page).getByRole('button', { name: 'Stop' }).click()
    // The state comes first, then the reason of the skipped messages.
    await page.getByText('canceled', { exact: true }).first().waitFor()
    await eventually(async () => assert.equal(await count(page, 'pending').textContent(), '0'))
    const counts = (counter: string) => count(page, counter).textContent().then(Number)
    assert.equal(
      await counts('targeted'),
      (await counts('sent')) + (await counts('failed')) + (await counts('skipped'))
    )
  })
})
