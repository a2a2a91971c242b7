import assert from 'node:assert/strict'
import { it } from 'node:test'
import { givenUser, results, to } from '../support/messages.ts'
import { startService } from '../support/service.ts'

const service = await startService()

it('tokens that a wrong environment refuses are on again once there are enough to tell that it is wrong', async () => {
  const project = await service.project({ mode: 'simulator' })
  const turnedOff = async () => {
    const rows = await service.sql(
      'select device_id from push_tokens where project_id = $1 and dead_since is not null order by device_id',
      [project.id]
    )
    return rows.map(({ device_id }) => device_id)
  }
  const ofUser = (user: string) =>
    Array.from({ length: 12 }, (_, index) => ({ id: `${user}-${index}`, push_token: `sim-badtoken-${user}-${index}` }))
  for (const user of ['ana', 'bo']) await givenUser(project, user, ...ofUser(user))
  await results(project, [to('ana')])
  assert.equal((await turnedOff()).length, 12, 'a few say nothing about the others')
  await results(project, [to('bo')])
  assert.deepEqual(await turnedOff(), [])
  await results(project, [to('ana')])
  assert.deepEqual(await turnedOff(), [], 'from now on none is turned off')
})
