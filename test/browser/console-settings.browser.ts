import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { givenCampaign, put } from '../support/campaigns.ts'
import { eventually, type TestProject } from '../support/service.ts'
import { choose, dialog, openAccountMenu, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole({ WEBHOOK_ALLOW_PRIVATE: 'true' })

async function opened(scene: Scene, path: string) {
  const project: TestProject = await service.project({ name: 'Shop', mode: 'simulator' })
  await put(project, 'ana', { plan: 'premium' })
  await put(project, 'bo', {})
  return { page: await scene.open(service, `p/${project.id}/${path}`), project }
}

describe('access', () => {
  story(
    'a person signs in with a token, sees an error for a wrong one, and signs out',
    async (scene) => {
      const page = await scene.open(service, `${service.url}/`, null)
      await page.getByRole('button', { name: 'Use a management token' }).click()
      await page.getByLabel('Management token').fill('svc_at_wrong')
      await page.getByRole('button', { name: 'Sign in with token' }).click()
      await sees(page, 'This token or link is invalid or expired')
      await page.getByLabel('Management token').fill(service.adminToken)
      await page.getByRole('button', { name: 'Sign in with token' }).click()
      await sees(page, 'Last hour')
      await page.evaluate(`sessionStorage.setItem('a draft', 'typed and not sent')`)
      await openAccountMenu(page)
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await sees(page, 'Sign in to Tidings')
      assert.equal(await page.evaluate(`sessionStorage.getItem('a draft')`), null)
    },
    refusals
  )

  story('a key is created, shown once, works, and is rejected after it is revoked', async (scene) => {
    const { page, project } = await opened(scene, 'settings?tab=keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog(page).getByLabel('Name').fill('backend')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    const key = (await dialog(page).getByLabel('key', { exact: true }).textContent())!
    assert.match(key, /^svc_sk_/)
    const call = () => project.call('GET', '/api/v1/users/ana', { headers: { 'x-service-api-key': key } })
    assert.equal((await call()).status, 200)
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    assert.ok(!(await page.content()).includes(key), 'it is shown only once')
    const row = page.getByRole('row', { name: /backend/ })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await dialog(page).getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    await eventually(async () => assert.equal((await call()).status, 401))
  })

  story('a key that expires is rotated: the new key is shown once, and both work for the overlap', async (scene) => {
    const { page, project } = await opened(scene, 'settings?tab=keys')
    const json = { kind: 'secret', name: 'backend', expires_at: new Date(Date.now() + 6 * 86_400_000).toISOString() }
    const old = (await service.manage('POST', `/projects/${project.id}/keys`, { json })).json
    await page.reload()
    await sees(page, /“backend” expires within 7 days/)
    const row = page.getByRole('row', { name: /backend/ }).first()
    await row.getByRole('button', { name: 'Rotate' }).click()
    await scene.look(page, 'the dialog of a rotation')
    await dialog(page).getByRole('button', { name: 'Rotate', exact: true }).click()
    const key = (await dialog(page).getByLabel('key', { exact: true }).textContent())!
    assert.ok(/^svc_sk_/.test(key) && key !== old.key)
    await dialog(page).getByRole('button', { name: 'Done' }).click()
    await page.getByText(/expires within 7 days/).waitFor({ state: 'detached' })
    const call = (text: string) => project.call('GET', '/api/v1/users/ana', { headers: { 'x-service-api-key': text } })
    assert.deepEqual([(await call(key)).status, (await call(old.key)).status], [200, 200])
    const { items } = (await service.manage('GET', `/projects/${project.id}/keys`)).json
    const left = Date.parse(items.find(({ id }: { id: string }) => id === old.id).expires_at) - Date.now()
    assert.ok(left < 25 * 3_600_000, 'the old key ends with the overlap')
  })

  story('a project is paused after a confirmation, every page shows it, and it is resumed', async (scene) => {
    const { page, project } = await opened(scene, 'settings')
    const pausedAt = async () => (await service.manage('GET', `/projects/${project.id}`)).json.paused_at
    await page.getByRole('button', { name: 'Pause project' }).click()
    await dialog(page).getByRole('button', { name: 'Pause project' }).click()
    await sees(page, 'Project paused')
    assert.ok(await pausedAt())
    assert.equal(await page.getByRole('button', { name: 'Pause project' }).count(), 0)
    await page.goto(`${service.url}/console/p/${project.id}/home`)
    await sees(page, 'Project paused')
    await scene.look(page, 'a paused project')
    await page.getByRole('button', { name: 'Resume project' }).click()
    await page.getByText('Project paused').waitFor({ state: 'detached' })
    assert.equal(await pausedAt(), null)
  })

  story('a token for a viewer lets its owner sign in and change nothing', async (scene) => {
    const { page, project } = await opened(scene, 'settings?tab=tokens')
    await page.getByRole('button', { name: 'Create token' }).click()
    await dialog(page).getByLabel('Name').fill('looker')
    await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
    const token = (await dialog(page).getByLabel('token', { exact: true }).textContent())!
    const viewer = await scene.open(service, `p/${project.id}/campaigns`, token)
    const at = (path: string) => viewer.goto(`${service.url}/console/p/${project.id}/${path}`)
    await sees(viewer, 'No campaigns yet')
    assert.equal(await viewer.getByRole('link', { name: 'Create campaign' }).count(), 0)
    await givenCampaign(service, project)
    await at('campaigns/news?step=message')
    await viewer.getByLabel('Title', { exact: true }).waitFor()
    assert.equal(await viewer.getByLabel('Title', { exact: true }).isEditable(), false)
    assert.equal(await viewer.getByRole('button', { name: /Save|Create|Add/ }).count(), 0)
    await at('campaigns/news?tab=trigger')
    await sees(viewer, 'View only: sending needs the editor role')
    await at('users/ana')
    await viewer.getByLabel('Properties').first().waitFor()
    assert.equal(await viewer.getByRole('button', { name: /Save|Delete/ }).count(), 0)
    await at('settings')
    await sees(viewer, 'Requests per second')
    assert.deepEqual(await viewer.getByRole('tab').allTextContents(), ['Project', 'Sending limits', 'Gateways'])
    await at('lab')
    await sees(viewer, 'Gateway requests')
    assert.equal(await viewer.getByRole('button', { name: /Add|Send/ }).count(), 0)
    await at('webhooks')
    await sees(viewer, 'View only: webhooks need the editor role')
    await at('agents')
    assert.ok(await viewer.getByRole('button', { name: 'Send', exact: true }).isDisabled())
    // The page hides the action; the service rejects it.
    const reply = await viewer.request.post(`${service.url}/manage/v1/projects/${project.id}/campaigns`, {
      headers: { 'x-tidings-console': '1' },
      data: { name: 'Mine' }
    })
    assert.equal(reply.status(), 403)
  })
})

describe('settings', () => {
  story(
    'show errors of the service at their field, and save valid values',
    async (scene) => {
      const { page, project } = await opened(scene, 'settings')
      await page.getByLabel('Event retention (days)').fill('0')
      await page.getByRole('button', { name: 'Save' }).click()
      await sees(page, /^must be at least 1/)
      await page.getByLabel('Event retention (days)').fill('7')
      await page.getByRole('button', { name: 'Save' }).click()
      await sees(page, 'Saved.')
      const { json } = await service.manage('GET', `/projects/${project.id}`)
      assert.equal(json.retention.events_days, 7)
      await page.getByLabel('Event retention (days)').fill('')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.locator('input[value="365"]').waitFor()
      await page.getByRole('tab', { name: 'Audit log' }).click()
      await sees(page, /changed the project/)
      await sees(page, 'retention: events days: 365 → 7')
    },
    refusals
  )

  story(
    'save the credentials of a gateway, show their errors, and verify them',
    async (scene) => {
      const { page } = await opened(scene, 'settings?tab=gateways')
      const apple = page.getByRole('region', { name: 'Apple (APNs)' })
      await apple.getByLabel('Key file (.p8)').fill('no key')
      await apple.getByLabel('Key ID').fill('short')
      await apple.getByRole('button', { name: 'Save' }).click()
      await sees(apple, /PEM|\.p8|private key/i)
      const browsers = page.getByRole('region', { name: 'Browsers (Web Push)' })
      await browsers.getByLabel('Contact').fill('mailto:ops@example.com')
      await browsers.getByRole('button', { name: 'Save' }).click()
      await sees(browsers, /subject mailto:ops@example.com/)
      await browsers.getByRole('button', { name: 'Verify' }).click()
      await browsers.getByRole('status').waitFor()
      await browsers.getByRole('button', { name: 'Remove' }).click()
      await dialog(page).getByRole('button', { name: 'Remove' }).click()
      await sees(browsers, 'Not configured')
    },
    refusals
  )

  story(
    'an admin sees all projects, creates one and deletes it',
    async (scene) => {
      const { page } = await opened(scene, 'home')
      await page.getByLabel('Project', { exact: true }).selectOption('All projects…')
      await page.getByRole('button', { name: 'Create project' }).click()
      await dialog(page).getByLabel('Name').fill('Second shop')
      await dialog(page).getByRole('textbox', { name: 'ID' }).fill('not an id')
      await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
      await sees(dialog(page), /must match|must be/)
      await dialog(page).getByRole('textbox', { name: 'ID' }).fill('second-shop')
      await dialog(page).getByRole('button', { name: 'Create', exact: true }).click()
      await sees(page, 'Second shop (second-shop)')
      await page.goto(`${service.url}/console/projects`)
      const row = page.getByRole('article', { name: 'Second shop' })
      await row.getByRole('button', { name: 'Delete' }).click()
      await dialog(page).getByLabel('Type second-shop to confirm').fill('second-shop')
      await dialog(page).getByRole('button', { name: 'Delete' }).click()
      await row.waitFor({ state: 'detached' })
      // The audit log of the installation tells who did it, and shows the changes of one author.
      const name = `Ops ${Date.now()}`
      const { token } = (await service.manage('POST', '/tokens', { json: { name, role: 'admin' } })).json
      const headers = { authorization: `Bearer ${token}` }
      await service.manage('POST', '/projects', { json: { name: 'Kiosk' }, headers })
      await page.goto(`${service.url}/console/audit`)
      await sees(page, /deleted the project Second shop/)
      await choose(page, 'Who', `${name} (admin)`)
      await page
        .getByText(/deleted the project Second shop/)
        .first()
        .waitFor({ state: 'detached' })
      await sees(page, /created the project Kiosk/)
    },
    refusals
  )
})
