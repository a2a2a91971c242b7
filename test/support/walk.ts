import { givenCampaign } from './campaigns.ts'
import { givenUser } from './messages.ts'
import type { TestProject, TestService } from './service.ts'

/** A project for the conversation that agents' clients are tested with: ana has a phone, bo has none, spring is a campaign. */
export async function givenSpring(service: TestService): Promise<TestProject> {
  const project = await service.project({ mode: 'simulator' })
  for (const user of ['ana', 'bo']) await givenUser(project, user)
  await project.call('PATCH', '/api/v1/users/ana', { json: { properties: { plan: 'gold' } } })
  await service.manage('POST', `/projects/${project.id}/simulator/devices`, {
    json: { device_id: 'ana-phone', platform: 'IOS', project_user_id: 'ana' }
  })
  await givenCampaign(service, project, { campaign_id: 'spring', name: 'Spring', message: { title: 'Spring is here' } })
  return project
}
