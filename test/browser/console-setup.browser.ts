import './with-notifications.ts'

import assert from 'node:assert/strict'
import { put } from '../support/campaigns.ts'
import { eventually } from '../support/service.ts'
import { sees, startWithConsole, story } from './console.ts'

const service = await startWithConsole()

story('a new project is set up from its first push to a notification of this browser', async ({ open, look }) => {
  const project = await service.project({ name: 'Second', mode: 'simulator' })
  const { id } = project
  const page = await open(service, `p/${id}/home`)
  const steps = page.getByRole('region', { name: 'Next steps' })
  await sees(steps, '0 of 5 done')
  // A push that fails is no first push.
  await put(project, 'bo', {})
  const push_notifications = [{ target: { project_user_id: 'bo' }, title: 'Hello' }]
  const failed = await project.call('POST', '/api/v1/messages:send', { json: { push_notifications } })
  assert.equal(failed.json.delivery_results[0].status, 'DELIVERY_RESULT_STATUS_FAILED')
  await page.reload()
  await sees(steps, '0 of 5 done')
  await look(page, 'home of a new project')

  // The project has no user and no device yet: the page adds both, and the push arrives.
  await steps.getByRole('button', { name: 'Send a test push' }).click()
  await sees(page.getByRole('region', { name: 'Lock screen of iPhone of demo-user' }), 'It works')

  await page.goto(`${service.url}/console/p/${id}/home`)
  await sees(steps, '2 of 5 done')
  await page.context().grantPermissions(['notifications'], { origin: service.url })
  await steps.getByText('Reach a real browser or phone').click()
  await steps.getByRole('button', { name: 'Push to this browser' }).click()
  const shown = `navigator.serviceWorker.getRegistration('/console/')
    .then((found) => found?.getNotifications() ?? []).then((all) => all.map(({ title }) => title))`
  await eventually(
    async () => assert.ok(((await page.evaluate(shown)) as string[]).includes('Hello from Tidings')),
    20_000
  )
  await sees(steps, '3 of 5 done')
})
