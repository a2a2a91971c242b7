import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { givenCampaign, put } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, dialog, inPreview, refusals, sees, startWithConsole, story, toStep } from './console.ts'

const service = await startWithConsole()

async function projectWithAna(): Promise<TestProject> {
  const project = await service.project({ name: 'Shop', mode: 'simulator' })
  await put(project, 'ana', { name: 'Ana', timezone: 'Europe/Vienna' })
  await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
    json: { device_id: 'ana-phone', platform: 'IOS', project_user_id: 'ana' }
  })
  return project
}

const saved = async (project: TestProject, id: string): Promise<Json> => {
  const {
    version: _v,
    created_at: _c,
    updated_at: _u,
    warnings: _w,
    ...campaign
  } = (await service.manage('GET', `/projects/${project.id}/campaigns/${id}`)).json
  return campaign
}
const text = (page: Page, label: string) => page.getByRole('textbox', { name: label, exact: true })
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** Opens the editor of a new campaign with a name, an id and a title. */
async function begin(page: Page, id: string, title: string): Promise<void> {
  await text(page, 'Name').fill(`The ${id}`)
  await text(page, 'ID').fill(id)
  await toStep(page, 'Message')
  await text(page, 'Title').fill(title)
}

describe('the editor of a campaign', () => {
  story(
    'plans a campaign for each Monday and Thursday at the local time of each user',
    async (scene) => {
      const project = await projectWithAna()
      const page = await scene.open(service, `p/${project.id}/new-campaign`)
      await begin(page, 'digest', 'Your week, {{ user.name }}')
      await toStep(page, 'Timing')
      await page.getByLabel('Schedule', { exact: true }).check()
      // A step says that it lacks something, and the review leads to the field.
      await page.getByRole('button', { name: /^Audience.*1 fault/ }).waitFor()
      await page.getByText('Repeatedly', { exact: true }).click()
      const schedule = page.getByRole('region', { name: 'Schedule' })
      await schedule.getByText('Thu', { exact: true }).click()
      await schedule.getByLabel('At', { exact: true }).fill('09:30')
      assert.equal(await text(page, 'Cron expression').inputValue(), '30 9 * * 1,4')
      await schedule.getByText('Each user’s local time').click()
      await schedule.getByLabel('Send late for up to').fill('6h')
      await sees(schedule, 'Next times, on the clock of each user')
      await scene.look(page, 'the editor with a schedule')
      await toStep(page, 'Review')
      await sees(page, 'must be given: a scheduled campaign goes to it')
      await press(page, 'Audience: Default audience')
      await page.getByLabel('Everyone in the audience').check()
      await inPreview(page, (pane) => sees(pane, 'Your week, Ana'))
      await toStep(page, 'Review')
      await sees(page, 'It is sent every Monday and Thursday at 09:30, on the clock of each user.')
      await sees(page, 'Would reach 1 user')
      await press(page, 'Activate')
      await sees(page, 'digest, version 1')
      const { schedule: kept, default_audience } = await saved(project, 'digest')
      assert.deepEqual(kept, { cron: '30 9 * * 1,4', timezone: 'user', late: '6h' })
      assert.deepEqual(default_audience, { broadcast: true })
    },
    refusals
  )

  story(
    'sends a sequence after an event, until another one ends it',
    async (scene) => {
      const project = await projectWithAna()
      const events = [{ device_id: 'ana-phone', name: 'signed_up', properties: { plan: 'free' } }]
      await project.call('POST', '/api/v1/events', { json: { events } })
      const page = await scene.open(service, `p/${project.id}/new-campaign`)
      await begin(page, 'welcome', 'Welcome, {{ user.name }}')
      await toStep(page, 'Timing')
      await page.getByLabel('Event', { exact: true }).first().check()
      await choose(page, 'Event', 'signed_up', page.getByRole('region', { name: 'Event trigger' }))
      const event = page.getByRole('region', { name: 'Event trigger' })
      await event.getByLabel('Wait', { exact: true }).fill('30m')
      await choose(page, 'Send to the same user', 'Once only')
      await page.getByLabel('Count conversions').check()
      await toStep(page, 'Message')
      await page.getByText('Sequence', { exact: true }).click()
      await page.getByRole('button', { name: 'Add step' }).click()
      const second = page.getByRole('region', { name: 'Step 2' })
      await second.getByLabel('Title', { exact: true }).fill('Still there?')
      await second.getByLabel('Wait before it').fill('2d')
      await page.getByRole('button', { name: 'Move step 2 up' }).click()
      await page.getByRole('button', { name: 'Move step 1 down' }).click()
      await second.getByRole('button', { name: 'Sound, badge, buttons and more' }).click()
      await second.getByRole('button', { name: 'Add button' }).click()
      await second.getByLabel('Button text').fill('Come back')
      await page.getByLabel('Stop after an event').check()
      await page.getByRole('combobox', { name: 'Event that ends the sequence' }).fill('purchase')
      await scene.look(page, 'the editor with a sequence')
      await inPreview(page, async (pane) => {
        await sees(pane, 'Still there?')
        await choose(page, 'Step', '1: step-1', pane)
        await sees(pane, 'Welcome, Ana')
      })
      await toStep(page, 'Review')
      await sees(page, '30 minutes after the event signed_up.')
      await sees(page, 'Would reach 1 user')
      await press(page, 'Activate')
      await sees(page, 'welcome, version 1')
      const campaign = await saved(project, 'welcome')
      assert.deepEqual(campaign.event_trigger, { event: 'signed_up', delay: '30m', reentry: 'once' })
      assert.deepEqual(campaign.steps, [
        { id: 'step-1', message: { title: 'Welcome, {{ user.name }}' } },
        {
          id: 'step-2',
          wait: '2d',
          message: { title: 'Still there?', actions: [{ id: 'button-1', title: 'Come back' }] }
        }
      ])
      assert.deepEqual([campaign.exit, campaign.message], [{ event: 'purchase' }, undefined])
      assert.deepEqual(campaign.conversion, { event: 'purchase', within: '7d' })
    },
    refusals
  )

  story(
    'tests two variants in two languages, side by side, and warns of a missing placeholder',
    async (scene) => {
      const project = await projectWithAna()
      const page = await scene.open(service, `p/${project.id}/new-campaign`)
      await begin(page, 'hello', 'Hello {{ user.name }}')
      await page.getByRole('button', { name: 'Add language' }).click()
      await page.getByRole('combobox', { name: 'Language tag' }).fill('de')
      await press(page, 'Add')
      // The preview follows the language that is edited, and each letter.
      await text(page, 'Title').fill('Hallo')
      await inPreview(page, async (pane) => {
        await pane.getByText('Hallo', { exact: true }).waitFor()
        for (const [platform, at] of [
          ['Android', 'ANDROID'],
          ['Browser', 'WEB'],
          ['iPhone', 'IOS']
        ] as const) {
          await pane.getByText(platform, { exact: true }).click()
          await pane.locator(`[data-platform=${at}][data-scheme=light]`).waitFor()
        }
        await pane.getByText('Dark', { exact: true }).click()
        await pane.locator('[data-scheme=dark]').waitFor()
        await scene.look(page, 'the preview in dark')
      })
      await sees(page, 'Missing here: {{ user.name }}')
      await text(page, 'Title').fill('Hallo {{ user.name }}')
      await page.getByText('Missing here').waitFor({ state: 'detached' })
      await page.getByLabel('Test variants').check()
      await page.getByRole('tab', { name: /^Variant b/ }).click()
      await text(page, 'Title').fill('Hi {{ user.name }}')
      await text(page, 'Weight').fill('3')
      await page.getByRole('tab', { name: 'Variant b · 75 %' }).waitFor()
      await inPreview(page, async (pane) => {
        await pane.getByRole('button', { name: 'Compare all 4 texts' }).click()
        const all = page.getByRole('dialog', { name: 'All texts' })
        await sees(all.getByRole('region', { name: 'Variant a · German (de)' }), 'Hallo Ana')
        await sees(all.getByRole('region', { name: 'Variant b · Default language' }), 'Hi Ana')
        await scene.look(page, 'all texts side by side')
        await all.getByRole('button', { name: 'Close' }).click()
      })
      // Buttons have a text in each language.
      await press(page, 'Sound, badge, buttons and more')
      await press(page, 'Add button')
      await page.getByLabel('Button text').fill('Open')
      await page.getByRole('tab', { name: 'German (de)' }).click()
      await text(page, 'Text of button button-1').fill('Öffnen')
      await inPreview(page, (pane) => sees(pane, 'Öffnen'))
      await toStep(page, 'Audience')
      await text(page, 'Holdout (percent)').fill('10')
      await press(page, 'Save draft')
      await sees(page, 'hello, version 1')
      const { variants, holdout } = await saved(project, 'hello')
      const translations = { de: { title: 'Hallo {{ user.name }}' } }
      const actions = [{ id: 'button-1', title: 'Open' }]
      const withButton = { de: { ...translations.de, actions: { 'button-1': 'Öffnen' } } }
      assert.deepEqual(variants, [
        { id: 'a', weight: 1, message: { title: 'Hello {{ user.name }}', translations } },
        { id: 'b', weight: 3, message: { title: 'Hi {{ user.name }}', translations: withButton, actions } }
      ])
      assert.equal(holdout, 10)

      // Translations come back from a translator, and one variant wins.
      const csv = 'id,source,fr\nvariants.b.title,Hi {{ user.name }},Salut {{ user.name }}\n'
      await toStep(page, 'Message')
      const file = { name: 'hello.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
      await page.locator('input[type=file]').setInputFiles(file)
      await sees(page, 'hello, version 2')
      assert.deepEqual((await saved(project, 'hello')).variants[1].message.translations.fr, {
        title: 'Salut {{ user.name }}'
      })
      await choose(page, 'Send one variant to everyone', 'b')
      await page.getByRole('button', { name: 'Choose winner' }).click()
      await sees(page.getByRole('region', { name: 'Winner' }), 'Everyone gets variant b')
      // What the service adds to a campaign is not saved with it.
      await text(page, 'Name').fill('Hello')
      await page.keyboard.press('Control+s')
      await sees(page, 'hello, version 3')
      assert.equal(await page.getByText('unknown field').count(), 0)
    },
    refusals
  )

  story(
    'takes markup in a draft as text, and says when the browser has no room to keep it',
    async (scene) => {
      const project = await projectWithAna()
      const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
      const page = await scene.open(service, `p/${project.id}/new-campaign`)
      await begin(page, 'markup', markup)
      await text(page, 'Link').fill('javascript:document.title=1')
      await page.reload()
      await inPreview(page, (pane) => sees(pane, markup))
      assert.equal(await text(page, 'Title').inputValue(), markup)
      assert.notEqual(await page.title(), '1')
      await text(page, 'Link').fill('')
      // The storage of a tab is full.
      await page.evaluate(`for (let size = 2 ** 22; size > 8; size /= 2)
      try { for (;;) sessionStorage.setItem('full ' + Math.random(), 'x'.repeat(size)) } catch {}`)
      await text(page, 'Body').fill('One letter more than it had room for')
      await sees(page, 'Not saved yet, and too large to be kept in this tab.')
      await press(page, 'Save draft')
      await sees(page, 'markup, version 1')
      const { message } = await saved(project, 'markup')
      assert.deepEqual(message, { title: markup, body: 'One letter more than it had room for' })
    },
    refusals
  )

  story('keeps every field of a campaign that it does not change', async (scene) => {
    const project = await projectWithAna()
    const message = { title: 'A', body: 'B', language: 'en', translations: { 'pt-BR': { title: 'C' } } }
    await givenCampaign(service, project, {
      campaign_id: 'full',
      type: 'event_triggered',
      event_trigger: { event: 'a', where: [{ attribute: 'event.b', operator: 'in', value: [1, 2] }], reentry: '7d' },
      segment: { not: { attribute: 'user.plan', operator: 'equals', value: '' } },
      transactional: true,
      message: undefined,
      steps: [
        { id: 'one', variants: ['x', 'y'].map((id) => ({ id, weight: 0.5, message })) },
        { id: 'two', wait: '2d', message }
      ],
      exit: { event: 'b', where: [{ attribute: 'event.c', operator: 'exists' }] },
      holdout: 5,
      winner: { after: 10, by: 'conversion' },
      conversion: { event: 'c', within: '7d', value_property: 'amount' },
      on_missing: 'skip',
      ttl_seconds: 60
    })
    const before = await saved(project, 'full')
    const page = await scene.open(service, `p/${project.id}/campaigns/full`)
    await text(page, 'Name').fill('Another name')
    await press(page, 'Save')
    await sees(page, 'full, version 2')
    assert.deepEqual(await saved(project, 'full'), { ...before, name: 'Another name' })
  })
})

describe('topics and preferences', () => {
  story('a topic is created, a user says no to it, and a campaign of the topic leaves the user out', async (scene) => {
    const project = await projectWithAna()
    const page = await scene.open(service, `p/${project.id}/topics`)
    await page.getByRole('button', { name: 'Create topic' }).click()
    await dialog(page).getByLabel('Name').fill('Offers')
    await dialog(page).getByLabel('ID').fill('offers')
    await dialog(page).getByRole('button', { name: 'Create' }).click()
    await page.getByRole('cell', { name: 'offers', exact: true }).waitFor()
    await page.goto(`${service.url}/console/p/${project.id}/users/ana?tab=preferences`)
    // The switch moves with the click, and does not jump back while it is saved.
    const offers = page.getByRole('switch', { name: 'Offers' })
    const clicked = `(() => {
      const offers = document.getElementById('${await offers.getAttribute('id')}')
      offers.click()
      return offers.checked
    })()`
    assert.equal(await page.evaluate(clicked), false)
    await sees(page, 'Saved preferences')
    assert.equal(await offers.isChecked(), false)
    const { json } = await project.call('GET', '/api/v1/users/ana/preferences')
    assert.deepEqual(json, { opted_out: false, topics: { offers: false } })
    await page.goto(`${service.url}/console/p/${project.id}/new-campaign`)
    await begin(page, 'sale', 'Sale')
    await toStep(page, 'Audience')
    await page.locator('[data-audience=users]', { hasText: '1 user' }).waitFor()
    await choose(page, 'Topic', 'Offers')
    await sees(page, '1 turned off this topic')
    await page.locator('[data-audience=users]', { hasText: '0 users' }).waitFor()
    await press(page, 'Save draft')
    await sees(page, 'sale, version 1')
    assert.equal((await saved(project, 'sale')).topic, 'offers')
  })
})

story('a saved segment is counted, and narrows a campaign that refers to it', async (scene) => {
  const project = await projectWithAna()
  await put(project, 'bo', { name: 'Bo', plan: 'free' })
  const page = await scene.open(service, `p/${project.id}/new-segment`)
  await text(page, 'Name').fill('On the free plan')
  await text(page, 'ID').fill('free')
  await page.getByRole('button', { name: 'Add condition' }).click()
  await page.getByRole('combobox', { name: 'Value', exact: true }).fill('free')
  await page.getByRole('button', { name: 'Create' }).click()
  await sees(page, /1 user now, of whom 0 can be reached/)
  // A count that ran out of time says of how many users it is.
  const cut = { users: 1200, reachable_users: 900, devices: 950, complete: false, reason: 'too_many_users' }
  const answer = { json: { ...cut, visited: 20_000, about: 480_000 } }
  await page.route('**/segments/free:count', (route) => route.fulfill(answer))
  await page.reload()
  await sees(page, /At least 1,200 users now, of whom 900 .* Counted 20,000 of about 480,000 users\./)
  await page.goto(`${service.url}/console/p/${project.id}/new-campaign`)
  // So does the count of a campaign.
  await page.route('**/campaigns:preview', async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    Object.assign(json.audience ?? {}, { complete: false, visited: 20_000, about: 480_000 })
    await route.fulfill({ response, json })
  })
  await begin(page, 'upgrade', 'Upgrade')
  await toStep(page, 'Audience')
  await page.locator('[data-audience=users]', { hasText: 'at least 1 user' }).waitFor()
  await sees(page, 'Counted 20,000 of about 480,000 users.')
  await page.unrouteAll({ behavior: 'wait' })
  await page.getByRole('button', { name: 'Add saved segment' }).click()
  await page.locator('[data-audience=users]', { hasText: '0 users' }).waitFor()
  // On a phone a toast covers no button: the bar at the bottom stays above it.
  await page.setViewportSize({ width: 360, height: 740 })
  await press(page, 'Save draft')
  const toast = page.getByRole('status', { name: 'Notifications' })
  await toast.getByRole('button', { name: 'Dismiss' }).waitFor()
  await eventually(async () => {
    const { y } = (await toast.boundingBox())!
    for (const button of await page
      .getByRole('main')
      .getByRole('button', { name: /^(Save draft|Next: )/ })
      .all()) {
      const { y: top, height } = (await button.boundingBox())!
      assert.ok(top + height <= y, `${await button.textContent()} ends at ${top + height}, the toast begins at ${y}`)
    }
  }, 3_000)
  // A dialog ends above toasts, which stay as long as the pointer is on them.
  await toast.locator('> *').dispatchEvent('mouseover')
  for (const [width, height] of [
    [360, 740],
    [800, 420]
  ] as const) {
    await page.setViewportSize({ width, height })
    await press(page, 'Preview')
    await eventually(async () => {
      const [over, under] = [(await toast.boundingBox())!, (await dialog(page).boundingBox())!]
      assert.ok(under.y + under.height <= over.y, `the dialog covers ${under.y} to ${under.y + under.height}`)
    }, 3_000)
    await dialog(page).getByRole('button', { name: 'Close' }).click()
  }
  await sees(page, 'upgrade, version 1')
  assert.deepEqual((await saved(project, 'upgrade')).segment, { all: [{ ref: 'free' }] })
})

describe('a trigger for later', () => {
  story('is scheduled, moved and canceled', async (scene) => {
    const project = await projectWithAna()
    await givenCampaign(service, project)
    const inDays = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T09:30`
    const page = await scene.open(service, `p/${project.id}/campaigns/news?tab=trigger`)
    await page.getByLabel('Everyone in the audience').check()
    await page.getByLabel('Send at').fill(inDays(2))
    await page.getByRole('button', { name: 'Schedule for 1 user' }).click()
    await dialog(page).getByRole('button', { name: 'Schedule for 1 user' }).click()
    await page.getByText('scheduled', { exact: true }).waitFor()
    const path = `/api/v1/triggers/${page.url().split('/').at(-1)}`
    const isDue = async (local: string) => {
      const { send_at } = (await project.call('GET', path)).json
      assert.equal(
        Date.parse(send_at),
        await page.evaluate(`Date.parse('${local}')`),
        'in the time zone of the browser'
      )
    }
    await isDue(inDays(2))
    await page.getByLabel('Send at').fill(inDays(3))
    await page.getByRole('button', { name: 'Move' }).click()
    await eventually(() => isDue(inDays(3)))
    await page.getByRole('button', { name: 'Cancel trigger' }).click()
    await dialog(page).getByRole('button', { name: 'Cancel trigger' }).click()
    await page.getByText('canceled', { exact: true }).first().waitFor()
  })
})
