import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { givenCampaign, givenMany, put, run, triggered } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { givenUser } from '../support/messages.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, dialog, inPreview, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

/** Ana and Bo with a simulated phone each, and Cy, whose phone has no push token. */
async function shop(): Promise<TestProject> {
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  await put(project, 'ana', { plan: 'premium', age: 34 })
  await put(project, 'bo', { plan: 'free', age: 19 })
  for (const user of ['ana', 'bo'])
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { platform: 'IOS', project_user_id: user }
    })
  await givenUser(project, 'cy', { id: `cy-phone-${project.id}`, push_token: null })
  return project
}

const lastMessage = async (project: TestProject): Promise<Json> =>
  (await service.manage('GET', `/projects/${project.id}/messages`)).json.items[0]

describe('a trigger', () => {
  story('asks for the values that its template uses, and a test send carries them', async (scene) => {
    const project = await shop()
    await givenCampaign(service, project, {
      campaign_id: 'sale',
      message: { title: '{{ trigger.percent }} % off', body: '{{ trigger.shop.name | default: "Everywhere" }}' }
    })
    const page = await scene.open(service, `p/${project.id}/campaigns/sale`)
    await inPreview(page, async (pane) => {
      const percent = pane.getByLabel('trigger.percent', { exact: true })
      await percent.waitFor()
      await sees(pane, 'Empty. The text has no default for it.')
      await percent.fill('20')
      await pane.getByLabel('trigger.shop.name', { exact: true }).fill('Linz')
      await sees(pane, '20 % off')
      await sees(page.getByRole('region', { name: /^Preview for/ }), 'Linz')
      await pane.getByRole('button', { name: 'Send test to this device' }).click()
      await sees(pane, 'Sent.')
    })
    await eventually(async () => assert.equal((await lastMessage(project)).title, '20 % off'))

    // The commands to copy have the same values, and the trigger begins with them.
    await page.getByRole('tab', { name: 'Code' }).click()
    await sees(page.getByLabel('curl', { exact: true }), '"properties":{"percent":"20","shop":{"name":"Linz"}}')
    await page.getByRole('tab', { name: 'Trigger' }).click()
    assert.equal(await page.getByLabel('trigger.percent', { exact: true }).inputValue(), '20')
    await choose(page, 'Type of trigger.percent', 'Number')
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    const json = page.getByLabel('Trigger properties')
    assert.deepEqual(JSON.parse(await json.inputValue()), { percent: 20, shop: { name: 'Linz' } })
  })

  story('for everyone asks first, with the users it reaches, the excluded ones and a message', async (scene) => {
    const project = await shop()
    const topic = { name: 'Offers', default: 'subscribed' }
    await service.manage('PUT', `/projects/${project.id}/topics/offers`, { json: topic })
    await givenCampaign(service, project, {
      campaign_id: 'sale',
      topic: 'offers',
      message: { title: 'For {{ user.plan }}' }
    })
    const page = await scene.open(service, `p/${project.id}/campaigns/sale?tab=trigger`)
    await page.getByLabel('Everyone in the audience').check()
    await sees(page.locator('[data-excluded=no_push_token]'), '1 has no push token')
    await page.getByRole('button', { name: 'Send to 2 users' }).waitFor()

    // The dialog counts again: Bo has turned the topic off meanwhile.
    const off = { topics: { offers: false } }
    await project.call('PATCH', '/api/v1/users/bo/preferences', { json: off })
    await page.getByRole('button', { name: 'Send to 2 users' }).click()
    await sees(dialog(page), 'Send to 1 user?')
    await sees(dialog(page), '1 turned off this topic')
    await sees(dialog(page), '1 has no push token')
    await sees(dialog(page).getByRole('region', { name: 'Preview for ana' }), 'For premium')
    await scene.look(page, 'the dialog before a broadcast')
    await scene.picture(page, 'confirm-broadcast')
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    const triggers = async () => (await project.call('GET', '/api/v1/triggers')).json.items.length
    assert.equal(await triggers(), 0)
    await page.getByRole('button', { name: /^Send to/ }).click()
    await dialog(page).getByRole('button', { name: 'Send to 1 user' }).click()
    await sees(page, 'completed')
    assert.equal(await triggers(), 1)
  })
})

describe('a segment', () => {
  story('is built from the properties of the project, and warns about names and types that none has', async (scene) => {
    const project = await shop()
    const events = { events: [{ device_id: `cy-phone-${project.id}`, name: 'purchase', properties: { amount: 12 } }] }
    assert.equal((await project.call('POST', '/api/v1/events', { json: events })).status, 200)
    const page = await scene.open(service, `p/${project.id}/new-segment`)
    await sees(page, '3 users match, 2 can be reached.')
    await page.getByRole('button', { name: 'Add condition' }).click()
    await sees(page, '1 user matches, 1 can be reached.')

    // A misspelt name, and the one that was meant.
    const attribute = page.getByRole('combobox', { name: 'Attribute' })
    await attribute.fill('user.agee')
    await sees(page, 'No user has “agee”. Did you mean')
    await sees(page, '0 users match')
    await page.getByRole('button', { name: 'age', exact: true }).click()
    assert.equal(await attribute.inputValue(), 'user.age')

    // A text where the property is a number.
    await choose(page, 'Operator', 'is greater than')
    const value = page.getByRole('combobox', { name: 'Value', exact: true })
    await value.fill('30')
    await sees(page, 'age is a number; you compare it with the text “30”.')
    await page.getByRole('button', { name: 'Use the number 30' }).click()
    await sees(page, '1 user matches')

    // Suggestions, and opposites in words.
    await attribute.fill('')
    await page.getByRole('option', { name: /user\.plan/ }).click()
    await choose(page, 'Operator', 'does not start with')
    await value.fill('')
    await page.getByRole('option', { name: 'premium' }).click()
    await sees(page, '2 users match')
    await page.getByRole('button', { name: 'Add event' }).click()
    const name = page.getByRole('combobox', { name: 'Event', exact: true })
    await name.fill('purchas')
    await sees(page, 'No event is called “purchas”. Did you mean')
    await page.getByRole('button', { name: 'purchase', exact: true }).click()
    await choose(page, 'Did or did not', 'did not')
    await scene.look(page, 'the segment builder with warnings')
    await scene.picture(page, 'segment-builder')
    await page.getByLabel('Name').fill('Not premium')
    await page.getByRole('textbox', { name: 'ID' }).fill('other')
    await page.getByRole('button', { name: 'Create' }).click()
    const saved = () => service.manage('GET', `/projects/${project.id}/segments/other`)
    await eventually(async () =>
      assert.deepEqual((await saved()).json.segment, {
        all: [
          { not: { attribute: 'user.plan', operator: 'starts_with', value: 'premium' } },
          { not: { event: 'purchase', operator: 'at_least', count: 1, within: '30d' } }
        ]
      })
    )
  })
})

describe('the page of a trigger', () => {
  story(
    'shows its progress among all recipients, reasons in words and the condition that stopped a user',
    async (scene) => {
      const project = await shop()
      // More than the first batch, so that the trigger itself has not counted all of them yet.
      await givenMany(service, project, 130, `slow-${project.id}`)
      const slow = { attribute: 'user.n', operator: 'greater_than', value: 0 }
      await givenCampaign(service, project, { campaign_id: 'slow', segment: slow, throttle_per_second: 1 })
      const running = await triggered(project, { audience: { broadcast: true } }, 'slow')
      const page = await scene.open(service, `p/${project.id}/triggers/${running}`)
      await sees(page, /^\d+ of 130 done · \d+%$/)
      assert.ok((await project.call('GET', `/api/v1/triggers/${running}`)).json.counts.targeted < 130)
      await project.call('POST', `/api/v1/triggers/${running}:cancel`)

      const adults = { attribute: 'user.age', operator: 'greater_than', value: 30 }
      await givenCampaign(service, project, { campaign_id: 'adults', segment: adults })
      const ids = ['ana', 'bo', 'cy'].map((project_user_id) => ({ project_user_id }))
      const { trigger_id } = await run(project, { audience: { targets: ids } }, 'adults')
      await page.goto(`${service.url}/console/p/${project.id}/triggers/${trigger_id}?explain=bo`)
      await sees(page, '3 of 3 done · 100%')
      await sees(page, 'Not in the segment')
      await sees(page.locator('[data-condition=no]'), 'age is 19, needs more than 30')
      await scene.look(page, 'the page of a trigger with an explanation')
      await page.getByRole('link', { name: 'bo' }).first().click()
      await page.waitForURL(/users\/bo$/)
    }
  )
})
