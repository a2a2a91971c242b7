import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { listActions } from '../../src/a2a/a2a.ts'
import { put } from '../support/campaigns.ts'
import { type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

async function openAgents(scene: Scene) {
  const project = await service.project({ mode: 'simulator' })
  await put(project, 'ana', {})
  await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
    json: { platform: 'IOS', project_user_id: 'ana' }
  })
  return { page: await scene.open(service, `p/${project.id}/agents`), project }
}

describe('the agent playground', () => {
  story('sends JSON, shows the stream, and links to the task with its artifact', async (scene) => {
    const { page } = await openAgents(scene)
    await page.getByText('JSON', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Data' }).fill('{"skill": ')
    await sees(page, /Invalid JSON/)
    assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled())
    const asked = { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hello', body: 'From an agent' }
    await page.getByRole('textbox', { name: 'Data' }).fill(JSON.stringify(asked))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=submitted]').waitFor()
    await page.locator('[data-event=completed]').waitFor()
    await scene.picture(page, 'agents')
    await page.getByRole('link', { name: 'View task' }).click()
    await sees(page, 'Asked by')
    await sees(page, 'delivery-results')
    await sees(page, /"totalSent": 1/)
    await sees(page, /"title": "Hello"/)
  })

  story('offers every skill with its example, and sends it', async (scene) => {
    const { page } = await openAgents(scene)
    await page.getByText('JSON', { exact: true }).click()
    await page.getByRole('combobox', { name: 'Skill' }).click()
    assert.equal(await page.getByRole('option').count(), listActions().length)
    await page.getByRole('option', { name: /list-campaigns/ }).click()
    assert.match(await page.getByRole('textbox', { name: 'Data' }).inputValue(), /"skill": "list-campaigns"/)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=completed]').waitFor()
    await page.getByRole('link', { name: 'View task' }).click()
    await sees(page, /"campaigns": /)
  })

  story('sends text, and the next message answers the question of the agent', async (scene) => {
    const { page, project } = await openAgents(scene)
    await page.getByRole('textbox', { name: 'Message' }).fill('Send a push to user ana')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=input-required]').waitFor()
    await sees(page, 'Waiting for your reply')
    await page.getByRole('textbox', { name: 'Message' }).fill('Send a push to user ana saying "Hello"')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=completed]').waitFor()
    const { items } = (await service.manage('GET', `/projects/${project.id}/messages`)).json
    assert.equal(items.length, 1)
    await page.getByRole('tab', { name: 'Agent card' }).click()
    await sees(page, /send-push-notification/)
  })
})
