import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { givenCampaign, put } from '../support/campaigns.ts'
import { eventually } from '../support/service.ts'
import { dialog, openConsole, refusals, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()
const project = await service.project({ name: 'Shop', mode: 'simulator' })
await put(project, 'ana', { name: 'Ana' })
await givenCampaign(service, project)
const at = (path: string) => `${service.url}/console/p/${project.id}/${path}`

/** The error of a field. */
const errorAt = (field: Locator) =>
  field
    .locator('xpath=ancestor::*[contains(@class, "mantine-InputWrapper-root")][1]')
    .locator('.mantine-InputWrapper-error')

const box = (place: Page | Locator, name: string) => place.getByRole('textbox', { name, exact: true })
const press = (place: Page | Locator, name: string) => place.getByRole('button', { name, exact: true }).click()

interface Form {
  name: string
  path: string
  /** The button that opens the form, or the region it is in. */
  dialog?: string
  /** A button that shows the field. */
  first?: string
  part?: string
  send?: string
  /** Valid values of other fields. */
  given?: [field: string, typed: string][]
  wrong: [field: string, typed: string, says: RegExp, said?: string][]
}

const long = 'x'.repeat(600)
const gateways = { path: 'settings?tab=gateways', send: 'Save' }

/** Invalid values and the error that each one causes at its field, or at another one. */
const forms: Form[] = [
  {
    name: 'a project',
    path: 'settings',
    send: 'Save',
    wrong: [
      ['Name', '', /^must not be empty$/],
      ['Name', long, /^must be at most 200 characters$/],
      ['Requests per second', '1000001', /^must be at most 1000000$/],
      ['Triggers per second', '-1', /^must be at least 0$/],
      ['Message retention (days)', '0', /^must be at least 1$/]
    ]
  },
  {
    name: 'a key',
    path: 'settings?tab=keys',
    dialog: 'Create key',
    send: 'Create',
    wrong: [['Name', long, /^must be at most 200/]]
  },
  {
    name: 'a token',
    path: 'settings?tab=tokens',
    dialog: 'Create token',
    send: 'Create',
    wrong: [['Name', long, /^must be at most 200/]]
  },
  {
    name: 'APNs',
    ...gateways,
    part: 'Apple (APNs)',
    wrong: [
      ['Team ID', 'é', /^must be the 10 letters/],
      ['Key ID', '', /./],
      ['Bundle ID', 'a b', /^must be the bundle id/],
      ['Key file (.p8)', 'no key', /\.p8/]
    ]
  },
  {
    name: 'FCM',
    ...gateways,
    part: 'Google (FCM)',
    wrong: [
      ['Service account (.json)', '{"a":', /^is not JSON/],
      ['Service account (.json)', '{"type":"service_account"}', /private_key/]
    ]
  },
  { name: 'Web Push', ...gateways, part: 'Browsers (Web Push)', wrong: [['Contact', 'me', /^must be mailto:/]] },
  {
    name: 'a webhook',
    path: 'webhooks',
    dialog: 'Create webhook',
    send: 'Create',
    wrong: [['Endpoint URL', 'ftp://x', /^must begin with https/]]
  },
  {
    name: 'a new user',
    path: 'users',
    dialog: 'Create user',
    send: 'Create',
    wrong: [
      ['ID', '..', /^must/],
      ['ID', long, /^must/]
    ]
  },
  { name: 'the search of users', path: 'users', wrong: [['Search', long, /^must be at most/]] },
  {
    name: 'the filters of messages',
    path: 'messages',
    wrong: [
      ['User', long, /^must be at most 512/],
      ['Campaign', long, /^must be at most 255/]
    ]
  },
  {
    name: 'a phone of the lab',
    path: 'lab',
    part: 'Add a device',
    send: 'Add iPhone',
    wrong: [['User ID', '..', /^must/]]
  },
  {
    name: 'a push of the lab',
    path: 'lab',
    part: 'Send a push',
    send: 'Send',
    wrong: [
      ['Link', 'nowhere', /^must be an absolute address/],
      ['User ID', '', /^must/],
      ['User ID', '..', /^must/]
    ]
  },
  {
    name: 'a new campaign',
    path: 'new-campaign?step=message',
    send: 'Save draft',
    given: [['Name', 'News']],
    wrong: [
      ['Name', '', /^must/],
      ['Body', '', /^must be given/, 'Title'],
      ['Title', '{{ user.name', /^line 1, column 1/],
      ['ID', '..', /^must/]
    ]
  },
  { name: 'a preview', path: 'campaigns/news', part: 'Preview', wrong: [['Preview as', '..', /^must/]] },
  {
    name: 'a trigger',
    path: 'campaigns/news?tab=trigger',
    first: 'Add trigger properties',
    wrong: [
      ['Trigger properties', '[]', /^Must be an object/],
      ['Trigger properties', '{', /^Invalid JSON/]
    ]
  }
]

/** Restores each field before it tries the next one. */
async function tryForm(
  page: Page,
  { path, dialog: opener, first, part, send, given = [], wrong }: Form
): Promise<void> {
  await page.goto(at(path))
  if (opener) await press(page, opener)
  if (first) await press(page, first)
  const place = opener ? dialog(page) : part ? page.getByRole('region', { name: part }) : page
  for (const [field, typed] of given) await box(place, field).fill(typed)
  for (const [field, typed, says, said = field] of wrong) {
    const before = await box(place, field).inputValue()
    await box(place, field).fill(typed)
    if (send) await press(place, send)
    await eventually(async () => {
      const errors = (await errorAt(box(place, said)).allTextContents()).join()
      assert.match(errors, says, `${field}: ${typed.slice(0, 20)}`)
    }, 20_000)
    await box(place, field).fill(before)
  }
}

describe('an invalid value', () => {
  it('has its error at the field, in every form', async (t) => {
    const { page } = await openConsole(t, service, { token: service.adminToken })
    for (const form of forms) await t.test(form.name, () => tryForm(page, form))
  })

  it('that is an ID already taken has its error at the ID, of a project and of a campaign', async (t) => {
    const { page } = await openConsole(t, service, { token: service.adminToken })
    await page.goto(`${service.url}/console/projects`)
    await press(page, 'Create project')
    await box(dialog(page), 'Name').fill('Another')
    await box(dialog(page), 'ID').fill(project.id)
    await press(dialog(page), 'Create')
    await sees(errorAt(box(dialog(page), 'ID')), 'exists already')
    await box(dialog(page), 'ID').fill('a b')
    await press(dialog(page), 'Create')
    await sees(errorAt(box(dialog(page), 'ID')), 'must be 1 to 64 letters')
    await page.goto(at('new-campaign?step=message'))
    await box(page, 'Name').fill('News')
    await box(page, 'ID').fill('news')
    await box(page, 'Title').fill('Hello')
    await press(page, 'Save draft')
    await sees(errorAt(box(page, 'ID')), 'exists already')
  })

  it('among targets has its error at the targets of its kind', async (t) => {
    const { page } = await openConsole(t, service, { token: service.adminToken })
    await page.goto(at('campaigns/news?tab=trigger'))
    await page.getByLabel('Specific users in the audience').check()
    const [users, devices] = ['Users', 'Devices'].map((name) => page.getByRole('combobox', { name, exact: true })) as [
      Locator,
      Locator
    ]
    await users.fill('ana')
    await users.press('Enter')
    await devices.fill(long)
    await devices.press('Enter')
    await sees(errorAt(devices), /^must/)
    assert.deepEqual(await errorAt(users).allTextContents(), [])
  })

  it('is a push without text, with its error at the title', async (t) => {
    const { page } = await openConsole(t, service, { token: service.adminToken })
    await page.goto(at('lab'))
    const form = page.getByRole('region', { name: 'Send a push' })
    await box(form, 'Title').fill('')
    await box(form, 'Body').fill('')
    await press(form, 'Send')
    await sees(errorAt(box(form, 'Title')), 'must have a title or a body')
  })
})

describe('unsaved input', () => {
  story('in the settings and gateways survives a reload, except for secrets, and can be discarded', async (scene) => {
    const page = await scene.open(service, `p/${project.id}/settings`)
    const days = box(page, 'Event retention (days)')
    const before = await days.inputValue()
    await days.fill('12')
    await box(page, 'Name').fill('Shop of Ana')
    await page.reload()
    assert.deepEqual([await days.inputValue(), await box(page, 'Name').inputValue()], ['12', 'Shop of Ana'])
    await press(page, 'Discard changes')
    assert.deepEqual([await days.inputValue(), await box(page, 'Name').inputValue()], [before, 'Shop'])
    await page.goto(at('settings?tab=gateways'))
    const apple = page.getByRole('region', { name: 'Apple (APNs)' })
    await box(apple, 'Team ID').fill('TEAM123456')
    await box(apple, 'Key file (.p8)').fill('a secret of Apple')
    await box(page, 'Service account (.json)').fill('a secret of Google')
    await box(page, 'Contact').fill('mailto:ana@example.com')
    assert.doesNotMatch(String(await page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')), /secret/)
    await page.reload()
    assert.equal(await box(apple, 'Team ID').inputValue(), 'TEAM123456')
    assert.equal(await box(page, 'Contact').inputValue(), 'mailto:ana@example.com')
    assert.equal(await box(apple, 'Key file (.p8)').inputValue(), '')
  })

  story(
    'in a message takes template variables at the cursor',
    async (scene) => {
      const page = await scene.open(service, `p/${project.id}/new-campaign?step=message`)
      await press(page, 'Insert {{ user.name }}')
      assert.equal(await box(page, 'Title').inputValue(), '{{ user.name }}')
      await box(page, 'Body').fill('Hello !')
      await box(page, 'Body').press('ArrowLeft')
      await press(page, 'Insert {{ user.name }}')
      assert.equal(await box(page, 'Body').inputValue(), 'Hello {{ user.name }}!')
      await page.keyboard.type(' and all')
      assert.equal(await box(page, 'Body').inputValue(), 'Hello {{ user.name }} and all!')
      await page.getByText('Live Activity', { exact: true }).click()
      await box(page, 'Content state').fill('{"who": ""}')
      for (const _ of '"}') await box(page, 'Content state').press('ArrowLeft')
      await press(page, 'Insert {{ user.id }}')
      assert.equal(await box(page, 'Content state').inputValue(), '{"who": "{{ user.id }}"}')
    },
    refusals
  )
})
