import assert from 'node:assert/strict'
import type { Asked, Json, Reply } from './http.ts'
import { eventually, type TestProject, type TestService } from './service.ts'

export const invalid = 'Campaign Id must be provided'
export const refused = 'Failed to send campaign trigger message'

/** Saves a campaign that can be triggered, unless the wish says otherwise. */
export async function givenCampaign(service: TestService, project: TestProject, wish: Json = {}): Promise<Json> {
  const campaign = { campaign_id: 'news', name: 'News', status: 'active', message: { title: 'Hello' }, ...wish }
  const path = `/projects/${project.id}/campaigns/${encodeURIComponent(campaign.campaign_id)}`
  const reply = await service.manage('PUT', path, { json: campaign })
  assert.equal(reply.status, 200, reply.text)
  return reply.json
}

export const trigger = (project: TestProject, body?: Json, campaign = 'news', asked: Asked = {}): Promise<Reply> =>
  project.call('POST', `/api/v1/campaigns/${encodeURIComponent(campaign)}:trigger`, {
    ...(body !== undefined && { json: body }),
    ...asked
  })

/** Triggers and answers the id; anything but 200 fails the test. */
export async function triggered(project: TestProject, body?: Json, campaign?: string): Promise<string> {
  const reply = await trigger(project, body, campaign)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.trigger_id
}

export async function readTrigger(project: TestProject, id: string): Promise<Json> {
  const reply = await project.call('GET', `/api/v1/triggers/${id}`)
  assert.equal(reply.status, 200, reply.text)
  const { counts } = reply.json
  assert.equal(counts.targeted, counts.sent + counts.failed + counts.skipped + counts.pending, 'the counters add up')
  assert.ok(
    Object.values(counts).every((count) => (count as number) >= 0),
    JSON.stringify(counts)
  )
  return reply.json
}

const ends = ['completed', 'canceled', 'failed']

/** Waits until the trigger has ended, and answers it. */
export const ended = (project: TestProject, id: string, withinMs = 20_000): Promise<Json> =>
  eventually(async () => {
    const found = await readTrigger(project, id)
    assert.ok(ends.includes(found.state), JSON.stringify(found))
    assert.equal(found.counts.pending, 0)
    return found
  }, withinMs)

/** Triggers and waits for the end. */
export const run = async (project: TestProject, body?: Json, campaign?: string): Promise<Json> =>
  ended(project, await triggered(project, body, campaign))

export const users = (...names: string[]) => ({
  audience: { targets: names.map((name) => ({ project_user_id: name })) }
})
export const devices = (...names: string[]) => ({ audience: { targets: names.map((name) => ({ device_id: name })) } })
export const everyone = { audience: { broadcast: true } }

export const put = async (project: TestProject, user: string, properties: Json) =>
  assert.equal(
    (await project.call('POST', '/api/v1/users', { json: { project_user_id: user, properties } })).status,
    200
  )
