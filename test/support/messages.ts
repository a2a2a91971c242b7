import assert from 'node:assert/strict'
import { link, put } from './devices.ts'
import type { Asked, Json, Reply } from './http.ts'
import type { TestProject } from './service.ts'

export const succeed = 'DELIVERY_RESULT_STATUS_SUCCEED'
export const failed = 'DELIVERY_RESULT_STATUS_FAILED'
export const pending = 'DELIVERY_RESULT_STATUS_PENDING'

export const send = (project: TestProject, items: unknown, asked: Asked = {}): Promise<Reply> =>
  project.call('POST', '/api/v1/messages:send', { json: { push_notifications: items }, ...asked })

/** Sends and returns the results; any status but 200 fails the test. */
export async function results(project: TestProject, items: unknown, query = ''): Promise<Json[]> {
  const reply = await project.call('POST', `/api/v1/messages:send${query}`, { json: { push_notifications: items } })
  assert.equal(reply.status, 200, reply.text)
  return reply.json.delivery_results
}

export const to = (projectUserId: string, more: object = {}) => ({
  target: { project_user_id: projectUserId },
  title: 'Hello',
  ...more
})

/** A user with devices that have push tokens, last seen in the opposite order of the list. */
export async function givenUser(project: TestProject, user: string, ...devices: (string | Json)[]): Promise<void> {
  const created = await project.call('POST', '/api/v1/users', { json: { project_user_id: user } })
  assert.equal(created.status, 200)
  for (const device of devices) {
    const whole = typeof device === 'string' ? { id: device } : device
    await put(project, { platform: 'IOS', push_token: `${whole.id}-token`, push_token_type: 'APNS', ...whole })
    assert.equal((await link(project, whole.id, user)).status, 200)
  }
}

export const read = (project: TestProject, messageId: string) => project.call('GET', `/api/v1/messages/${messageId}`)
