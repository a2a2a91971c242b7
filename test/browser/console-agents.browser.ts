import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { put } from '../support/campaigns.ts'
import { openConsole, picture, sees, startWithConsole } from './console.ts'

const service = await startWithConsole()

async function openAgents(t: TestContext) {
  const project = await service.project({ mode: 'simulator' })
  await put(project, 'ana', {})
  await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
    json: { platform: 'IOS', project_user_id: 'ana' }
  })
  const opened = await openConsole(t, service, { token: service.adminToken })
  await opened.page.goto(`${service.url}/console/p/${project.id}/agents`)
  return { ...opened, project }
}

describe('the playground of agents', () => {
  it('sends data, shows the stream, and the task with its artifact can be read afterwards', async (t) => {
    const { page, complaints } = await openAgents(t)
    await page.getByText('As data').click()
    await page.getByRole('textbox', { name: 'Data' }).fill('{"skill": ')
    await sees(page, /This is not JSON/)
    assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled())
    const asked = { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hello', body: 'From an agent' }
    await page.getByRole('textbox', { name: 'Data' }).fill(JSON.stringify(asked))
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=submitted]').waitFor()
    await page.locator('[data-event=completed]').waitFor()
    await picture(page, 'agents')
    await page.getByRole('link', { name: 'Look at the task' }).click()
    await sees(page, 'Artifacts')
    await sees(page, /"totalSent": 1/)
    await sees(page, /"title": "Hello"/)
    assert.deepEqual(complaints, [])
  })

  it('sends words; a question is answered by the next message', async (t) => {
    const { page, project, complaints } = await openAgents(t)
    await page.getByRole('textbox', { name: 'Message' }).fill('Send a push to user ana')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=input-required]').waitFor()
    await sees(page, 'The agent waits for an answer')
    await page.getByRole('textbox', { name: 'Message' }).fill('Send a push to user ana saying "Hello"')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('[data-event=completed]').waitFor()
    const { items } = (await service.manage('GET', `/projects/${project.id}/messages`)).json
    assert.equal(items.length, 1)
    await page.getByRole('tab', { name: 'Agent card' }).click()
    await sees(page, /send-push-notification/)
    assert.deepEqual(complaints, [])
  })
})
