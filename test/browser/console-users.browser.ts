import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Page } from 'playwright-core'
import { givenMany, put } from '../support/campaigns.ts'
import type { Json } from '../support/http.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, dialog, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

async function opened({ open }: Scene, project: TestProject, path: string): Promise<Page> {
  return open(service, `p/${project.id}/${path}`)
}
const propertiesOf = async (project: TestProject, id: string): Promise<Json> =>
  (await project.call('GET', `/api/v1/users/${encodeURIComponent(id)}`)).json.properties
const toasts = (page: Page) => page.getByRole('status', { name: 'Notifications' })
const long = `${'long-'.repeat(97)}id-42`

describe('the list of users', () => {
  story('is filtered by any property, and shows columns of choice that a link and the browser keep', async (scene) => {
    const project = await service.project()
    await put(project, 'ana', { plan: 'premium', age: 31, city: 'القاهرة' })
    await put(project, 'bo', { plan: 'free', age: 19 })
    await put(project, long, { plan: long })
    const page = await opened(scene, project, 'users')
    await sees(page, '3 entries')
    const property = page.getByRole('combobox', { name: 'Filter by property' })
    await property.fill('age')
    const form = page.getByRole('form', { name: 'Add filter' })
    await eventually(async () =>
      assert.equal(await form.getByRole('combobox', { name: 'Type' }).inputValue(), 'Number')
    )
    const value = form.getByRole('combobox', { name: 'Value' })
    await value.fill('many')
    await form.getByRole('button', { name: 'Add filter' }).click()
    await sees(form, 'Must be a number')
    await value.fill('31')
    await form.getByRole('button', { name: 'Add filter' }).click()
    await sees(page, '1 entry')
    await sees(page, 'age is 31')
    assert.equal(await page.getByRole('link', { name: 'ana' }).count(), 1)
    await page.getByRole('button', { name: 'Columns' }).click()
    const columns = page.getByRole('combobox', { name: 'Columns' })
    await columns.fill('city')
    await columns.press('Enter')
    await page.keyboard.press('Escape')
    await page.reload()
    await page.getByRole('columnheader', { name: 'city' }).waitFor()
    await sees(page, 'القاهرة')
    await page.getByRole('button', { name: 'Remove filter age' }).click()
    await sees(page, '3 entries')
    // Without the address the browser remembers the columns.
    await page.goto(`${service.url}/console/p/${project.id}/users?where={"plan":"none"}`)
    await sees(page, 'No users match plan is “none”')
    await page.goto(`${service.url}/console/p/${project.id}/users`)
    await page.getByRole('columnheader', { name: 'city' }).waitFor()
  })

  story(
    'says how far a search is, which can be stopped and continued, unless the property is indexed',
    async (scene) => {
      const project = await service.project()
      await givenMany(service, project, 60)
      const page = await opened(scene, project, 'users')
      await sees(page, '60 entries')
      // Short pages make many of them, as in a project of a million users. The second one waits.
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/users?*', async (route) => {
        const url = route.request().url()
        if (url.includes('cursor=')) await held
        await route.continue({ url: url.replace('limit=100', 'limit=4') }).catch(() => {})
      })
      await page.goto(`${service.url}/console/p/${project.id}/users?where={"odd":true}`)
      await sees(page, /Searched 8 of about .* · 4 matches/)
      await page.getByRole('button', { name: 'Stop' }).click()
      release()
      const rest = page.getByRole('button', { name: 'Continue searching' })
      await rest.waitFor()
      await rest.click()
      await sees(page, '30 entries')
      assert.equal(await page.getByText('Searched').count(), 0)
      await page.getByRole('button', { name: 'Indexed properties' }).click()
      await dialog(page).getByRole('combobox', { name: 'Property to index' }).fill('odd')
      await dialog(page).getByRole('button', { name: 'Index', exact: true }).click()
      await sees(dialog(page), 'Ready')
      await page.reload()
      await sees(page, '30 entries')
      assert.equal(await page.getByText('Searched').count(), 0)
    }
  )
})

describe('a user', () => {
  story(
    'is created once, edited property by property with undo, and says so after it was deleted',
    async (scene) => {
      const project = await service.project()
      await put(project, 'ana', { plan: 'free' })
      const page = await opened(scene, project, 'users')
      const create = async (id: string) => {
        await page.getByRole('button', { name: 'Create user' }).click()
        await dialog(page).getByLabel('ID').fill(id)
        await dialog(page).getByRole('button', { name: 'Create' }).click()
      }
      await create('ana')
      await sees(dialog(page), 'A user with this ID already exists')
      await dialog(page).getByRole('link', { name: 'Open this user' }).click()
      await page.getByRole('heading', { name: 'ana' }).waitFor()
      await page.goBack()
      await create('cy/1')
      await page.getByRole('heading', { name: 'cy/1' }).waitFor()
      await sees(toasts(page), 'Created cy/1')

      const add = async (name: string, type: string, fill: (form: ReturnType<Page['getByRole']>) => Promise<void>) => {
        await page.getByRole('button', { name: 'Add property' }).click()
        const form = page.getByRole('form', { name: 'Add property' })
        await form.getByRole('combobox', { name: 'Name' }).fill(name)
        await choose(page, 'Type', type, form)
        await fill(form)
        await form.getByRole('button', { name: 'Save', exact: true }).click()
      }
      await add('age', 'Number', async (form) => {
        await form.getByLabel('Value').fill('old')
        await form.getByRole('button', { name: 'Save', exact: true }).click()
        await sees(form, 'Must be a number')
        await form.getByLabel('Value').fill('31')
      })
      await sees(toasts(page), 'Saved age')
      await add('vip', 'True or false', (form) => choose(page, 'Value', 'true', form))
      await sees(toasts(page), 'Saved vip')
      await add('since', 'Date and time', (form) => form.getByLabel('Value').fill('2026-01-02T10:30:00'))
      await sees(toasts(page), 'Saved since')
      assert.deepEqual(await propertiesOf(project, 'cy/1'), { age: 31, vip: true, since: '2026-01-02T09:30:00.000Z' })
      await page.getByRole('button', { name: 'Add property' }).click()
      await page.getByRole('combobox', { name: 'Name' }).fill('age')
      await sees(page, 'This property exists already')
      await page.getByRole('button', { name: 'Keep saved' }).click()

      await page.getByRole('button', { name: 'Delete age' }).click()
      await sees(toasts(page), 'Deleted age')
      assert.deepEqual(Object.keys(await propertiesOf(project, 'cy/1')).sort(), ['since', 'vip'])
      await toasts(page).getByRole('button', { name: 'Undo' }).last().click()
      await sees(toasts(page), 'Restored age')
      assert.equal((await propertiesOf(project, 'cy/1')).age, 31)

      await page.getByRole('button', { name: 'Delete user' }).click()
      await dialog(page).getByLabel('Type cy/1 to confirm').fill('cy/1')
      await dialog(page).getByRole('button', { name: 'Delete user' }).click()
      await sees(page, '1 entry')
      await page.goBack()
      await sees(page, 'This user was deleted')
      assert.equal(await page.getByRole('button', { name: 'Delete user' }).count(), 0)
      assert.equal(await page.getByRole('button', { name: 'Add property' }).count(), 0)
    },
    refusals
  )

  story(
    'shows what another person saved meanwhile beside what is typed, and its devices in words',
    async (scene) => {
      const project = await service.project()
      await put(project, 'ana', { plan: 'free', bio: long })
      const page = await opened(scene, project, 'users/ana')
      await page.getByRole('button', { name: 'Edit plan' }).click()
      const form = page.getByRole('form', { name: 'Edit plan' })
      await form.getByLabel('Value').fill('mine')
      await put(project, 'ana', { plan: 'theirs' })
      await form.getByRole('button', { name: 'Save', exact: true }).click()
      await sees(form, 'Someone else changed this property')
      await sees(form, '“theirs”')
      await sees(form, '“mine”')
      assert.equal((await propertiesOf(project, 'ana')).plan, 'theirs')
      await form.getByRole('button', { name: 'Save mine' }).click()
      await sees(toasts(page), 'Saved plan')
      assert.equal((await propertiesOf(project, 'ana')).plan, 'mine')

      const devices = [
        { id: 'd1', platform: 'IOS' },
        { id: 'd2', platform: 'ANDROID', push_token: 'abc', push_token_type: 'FCM', is_push_permission_granted: false },
        { id: 'd3', platform: 'ANDROID', push_token: 'abd', push_token_type: 'FCM' }
      ]
      await project.call('POST', '/api/v1/devices', { json: { devices } })
      for (const { id } of devices)
        await project.call('POST', `/api/v1/devices/${id}/user/project-user-id`, { json: { project_user_id: 'ana' } })
      await page.getByRole('tab', { name: 'Devices' }).click()
      for (const text of ['No push token', 'Permission denied', 'Can receive pushes']) await sees(page, text)
      await page.getByRole('row', { name: /d1/ }).getByRole('button', { name: 'Delete' }).click()
      await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('No push token').waitFor({ state: 'detached' })
      await project.call('POST', '/api/v1/events', { json: { events: [{ device_id: 'd3', name: 'opened_app' }] } })
      await page.getByRole('tab', { name: 'Activity' }).click()
      await sees(page, 'opened_app')
    },
    refusals
  )

  story(
    'is erased with a receipt, which can be downloaded, listed and verified',
    async (scene) => {
      const project = await service.project()
      await service.manage('PUT', `/projects/${project.id}/topics/offers`, { json: { name: 'Offers' } })
      await put(project, 'ana-4711', { plan: 'free' })
      const page = await opened(scene, project, 'users/ana-4711?tab=preferences')
      await page.getByLabel('Where the person said so').fill('letter of 3 May')
      await page.getByRole('switch', { name: 'Offers' }).uncheck({ force: true })
      await page.getByRole('row', { name: /offers No .* letter of 3 May/ }).waitFor()

      await page.getByRole('button', { name: 'Erase with receipt' }).click()
      await sees(dialog(page), 'Backups and the archive of before')
      await scene.look(page, 'the question')
      const erase = dialog(page).getByRole('button', { name: 'Erase with receipt' })
      assert.ok(await erase.isDisabled())
      await dialog(page).getByLabel('Type ana-4711 to confirm').fill('ana-4711')
      await erase.click()
      await page.getByRole('heading', { level: 1, name: 'Receipt' }).waitFor()
      await page.getByRole('row', { name: 'Consents consents 1' }).waitFor()
      const downloading = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Download JSON' }).click()
      const file = await (await downloading).path()

      await page.goto(`${service.url}/console/p/${project.id}/privacy`)
      await sees(page, '1 entry')
      await page.getByLabel('User ID').fill('bo')
      await sees(page, 'No receipt is about this user')
      await page.getByLabel('User ID').fill('ana-4711')
      await sees(page, '1 entry')
      await page.getByRole('tab', { name: 'Verify a receipt' }).click()
      const choosing = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Choose a file' }).click()
      await (await choosing).setFiles(file)
      await page.getByLabel('User ID').fill('ana-4711')
      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      await sees(page, 'It is about ana-4711.')
      const receipt = page.getByRole('textbox', { name: 'Receipt' })
      const genuine = await receipt.inputValue()
      await receipt.fill(genuine.replace('"users":1', '"users":2'))
      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      await sees(page, 'The receipt is not genuine')
      const dropped = `(() => {
      const files = new DataTransfer()
      files.items.add(new File([${JSON.stringify(genuine)}], 'receipt.json'))
      return files
    })()`
      await receipt.dispatchEvent('drop', { dataTransfer: await page.evaluateHandle(dropped) })
      await page.getByRole('button', { name: 'Verify', exact: true }).click()
      await sees(page, 'It is about ana-4711.')
      // The page of the user may ask for it again before the receipt opens.
    },
    refusals
  )

  story('of a viewer shows receipts and evidence, and no button to erase', async (scene) => {
    const project = await service.project()
    await put(project, 'ana', {})
    const json = { name: 'viewer', role: 'viewer', project_id: project.id }
    const { token } = (await service.manage('POST', '/tokens', { json })).json
    const page = await scene.open(service, `p/${project.id}/users/ana?tab=preferences`, token)
    await sees(page, 'The user has made no choice.')
    assert.equal(await page.getByRole('button', { name: 'Erase with receipt' }).count(), 0)
    await page.goto(`${service.url}/console/p/${project.id}/privacy`)
    await sees(page, 'No erasures yet')
    assert.equal(await page.getByRole('button', { name: 'Erase a user' }).count(), 0)
  })
})
