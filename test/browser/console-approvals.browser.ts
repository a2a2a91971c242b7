import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { agentOf } from '../a2a/agent.ts'
import { agentKey } from '../oversight/keys.ts'
import { givenCampaign, put } from '../support/campaigns.ts'
import { eventually } from '../support/service.ts'
import { dialog, refusals, type Scene, sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

/** Three users with a phone each, and an agent whose actions for more than one of them need a person. */
async function givenAgent() {
  const project = await service.project({ mode: 'simulator' })
  for (const name of ['ana', 'bo', 'cy']) {
    await put(project, name, {})
    await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
      json: { platform: 'IOS', project_user_id: name }
    })
  }
  await givenCampaign(service, project, { message: { title: 'Spring sale', body: 'Hello {{ user.id }}' } })
  const key = await agentKey(service, project, { approval_above: 1 })
  const agent = agentOf(service, key, 'plain')
  const asked = { skill: 'trigger-campaign', campaignId: 'news', broadcast: true }
  const task = await agent.send(asked, { metadata: { agentName: 'planner' } })
  assert.equal(task.status.state, 'auth-required')
  const stateOf = async () => (await agent.get(task.id)).status.state
  return { project, task, stateOf }
}

async function openApproval(scene: Scene) {
  const given = await givenAgent()
  const page = await scene.open(service, `p/${given.project.id}/approvals`)
  await page.getByTitle('Waiting for a decision').waitFor({ state: 'attached' })
  await page.getByRole('link', { name: /Trigger “.*” for everyone/ }).click()
  await sees(page, '3 users on 3 devices.')
  return { ...given, page }
}

describe('the queue of approvals', () => {
  story('shows what would be sent, and a click sends it', async (scene) => {
    const { page, task, stateOf, project } = await openApproval(scene)
    await sees(page, 'planner, key “agent”')
    await sees(page, 'Hello ana')
    await scene.picture(page, 'approval')
    await page.getByRole('button', { name: 'Approve for 3 users' }).click()
    await sees(page, /Approved.*by bootstrap/)
    await eventually(async () => assert.equal(await stateOf(), 'completed'))
    await page.getByTitle('Waiting for a decision').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: task.id }).click()
    await sees(page.locator('[data-step=Shown]'), /3 users on 3 devices\./)
    await sees(page.locator('[data-step=Agreed]'), /^bootstrap approved it/)
    await sees(page.locator('[data-step=Done]'), 'trigger-result')
    await scene.picture(page, 'agent-task')
    const { items } = (await project.call('GET', '/api/v1/triggers')).json
    assert.equal(items.length, 1)
  })

  story('takes a rejection with a note, which the agent reads; nothing is sent', async (scene) => {
    const { page, stateOf, task, project } = await openApproval(scene)
    await page.getByRole('textbox', { name: 'Note' }).fill('Not before Monday')
    await page.getByRole('button', { name: 'Reject' }).click()
    await sees(page, 'Note: “Not before Monday”')
    await eventually(async () => assert.equal(await stateOf(), 'rejected'))
    await page.getByRole('link', { name: task.id }).click()
    await sees(page.locator('[data-step=Agreed]'), /rejected it.*“Not before Monday”/)
    assert.deepEqual((await project.call('GET', '/api/v1/triggers')).json.items, [])
  })

  story(
    'asks anew where the campaign was changed, and leads to the new approval',
    async (scene) => {
      const { page, project, stateOf } = await openApproval(scene)
      await givenCampaign(service, project, { message: { title: 'Summer sale', body: 'Hello' } })
      await page.getByRole('button', { name: 'Approve for 3 users' }).click()
      await page.getByRole('link', { name: 'Open the new approval' }).click()
      await sees(page, 'Summer sale')
      assert.equal(await stateOf(), 'auth-required')
      assert.deepEqual((await project.call('GET', '/api/v1/triggers')).json.items, [])
    },
    refusals
  )

  story('lets a viewer read and not decide', async (scene) => {
    const { project } = await givenAgent()
    const made = await service.manage('POST', '/tokens', {
      json: { name: 'viewer', role: 'viewer', project_id: project.id }
    })
    const page = await scene.open(service, `p/${project.id}/approvals`, made.json.token)
    await page.getByRole('link', { name: /for everyone/ }).click()
    await sees(page, 'View only: a decision needs the editor role.')
    assert.equal(await page.getByRole('button', { name: /Approve/ }).count(), 0)
  })
})

describe('the policy of a key', () => {
  story('is added, shown and removed', async (scene) => {
    const project = await service.project({ mode: 'simulator' })
    const page = await scene.open(service, `p/${project.id}/settings?tab=keys`)
    const policyOf = async () => {
      const { items } = (await service.manage('GET', `/projects/${project.id}/keys`)).json
      return items.find(({ kind }: { kind: string }) => kind === 'secret').policy
    }
    await page.getByRole('button', { name: 'Add policy' }).first().click()
    await dialog(page).getByRole('textbox', { name: 'Needs approval above' }).fill('100')
    await sees(dialog(page), 'Sends to more than 100 users need the approval of a person.')
    await dialog(page).getByRole('textbox', { name: 'Quiet from' }).fill('22:00')
    await dialog(page).getByRole('textbox', { name: 'Quiet until' }).fill('08:00')
    await scene.look(page, 'the form of a policy')
    await scene.picture(page, 'key-policy')
    await dialog(page).getByRole('button', { name: 'Save policy' }).click()
    await page.getByRole('button', { name: 'Policy', exact: true }).click()
    assert.deepEqual([(await policyOf()).approval_above, (await policyOf()).quiet_hours.from], [100, '22:00'])
    await dialog(page).getByRole('button', { name: 'Remove policy' }).click()
    await page.getByRole('button', { name: 'Add policy' }).first().waitFor()
    assert.equal(await policyOf(), null)
  })
})
