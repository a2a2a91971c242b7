import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { listActions } from '../../src/a2a/a2a.ts'
import { agentKey } from '../oversight/keys.ts'
import { givenCampaign, put } from '../support/campaigns.ts'
import { choose, type Scene, sees, startWithConsole, story } from './console.ts'

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
  story('sends JSON, shows the stream, and leads to the task with what was asked and done', async (scene) => {
    const { page } = await openAgents(scene)
    await page.getByText('JSON', { exact: true }).click()
    await page.getByRole('textbox', { name: 'Data' }).fill('{"skill": ')
    await sees(page, /Invalid JSON/)
    assert.ok(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled())
    const asked = { skill: 'send-push-notification', projectUserId: 'ana', title: 'Hello', body: 'From an agent' }
    await page.getByRole('textbox', { name: 'Data' }).fill(JSON.stringify(asked))
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.locator('[data-event=completed]').waitFor({ state: 'attached' })
    await sees(page, 'send-push-notification: projectUserId ana, title Hello, body From an agent')
    await sees(page, 'delivery-results')
    await scene.picture(page, 'agents')
    await page.getByRole('link', { name: 'View task' }).click()
    const step = (name: string) => page.locator(`[data-step=${name}]`)
    await sees(step('Understood'), /send-push-notification/)
    await sees(step('Understood'), 'From an agent')
    await sees(step('Shown'), 'Nothing: it needed no question.')
    await sees(step('Done'), 'delivery-results')
    await step('Done').getByText('Result as JSON').click()
    await sees(step('Done'), /"totalSent": 1/)
    await step('Understood').getByRole('link', { name: 'Open user' }).click()
    await page.getByRole('heading', { name: 'ana' }).waitFor()
  })

  story('offers every skill with its example, and sends it', async (scene) => {
    const { page } = await openAgents(scene)
    await page.getByText('JSON', { exact: true }).click()
    await page.getByRole('combobox', { name: 'Skill' }).click()
    assert.equal(await page.getByRole('option', { name: /\([a-z-]+\)$/ }).count(), listActions().length)
    await page.getByRole('option', { name: /list-campaigns/ }).click()
    assert.match(await page.getByRole('textbox', { name: 'Data' }).inputValue(), /"skill": "list-campaigns"/)
    await page.getByText('Text', { exact: true }).click()
    await page.getByRole('group', { name: 'Examples' }).getByRole('button', { name: 'List campaigns' }).click()
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).inputValue(), 'List campaigns')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.locator('[data-event=completed]').waitFor({ state: 'attached' })
  })

  story('keeps an open question over a reload, takes the answer of a click, and lists conversations', async (scene) => {
    const { page, project } = await openAgents(scene)
    await givenCampaign(service, project, { message: { title: 'Sale', body: 'Hello' } })
    await page.getByRole('textbox', { name: 'Message' }).fill('Trigger campaign news for everyone')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await sees(page, 'Waiting for your reply')
    await page.reload()
    await sees(page, 'Trigger campaign news for everyone')
    await sees(page, 'Waiting for your reply')
    await scene.look(page, 'an open question')
    await page.getByRole('button', { name: 'Yes', exact: true }).click()
    await sees(page, 'trigger-result')
    const { items } = (await project.call('GET', '/api/v1/triggers')).json
    assert.equal(items.length, 1)
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByText('Waiting for your reply').waitFor({ state: 'detached' })
    assert.equal(await page.getByText('trigger-result').count(), 0)
    await page.getByRole('combobox', { name: 'Conversation' }).click()
    await page.getByRole('option', { name: /^Trigger campaign news/ }).click()
    await sees(page, 'trigger-result')
    await page.getByRole('link', { name: 'View task' }).click()
    await sees(page.locator('[data-step=Shown]'), /Shall I\?/)
    await sees(page.locator('[data-step=Agreed]'), /answered “Yes”/)
    await page.locator('[data-step=Done]').getByRole('link', { name: 'Open trigger' }).waitFor()
  })

  story('acts with a key within its policy, which stands there in words', async (scene) => {
    const { page, project } = await openAgents(scene)
    await agentKey(service, project, { skills: ['list-campaigns'] })
    await page.reload()
    await choose(page, 'Act as', 'Key “agent”')
    await sees(page, 'May use only: list-campaigns.')
    await page.getByRole('textbox', { name: 'Message' }).fill('Send a push to user ana saying "Hello"')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.locator('[data-event=rejected]').waitFor({ state: 'attached' })
    assert.deepEqual((await service.manage('GET', `/projects/${project.id}/messages`)).json.items, [])
    await page.getByRole('tab', { name: 'Keys and policies' }).click()
    await sees(page.getByRole('region', { name: 'agent' }), 'May use only: list-campaigns.')
    await page.getByRole('tab', { name: 'Agent card' }).click()
    await sees(page, /send-push-notification/)
  })
})
