import assert from 'node:assert/strict'
import type { Json, Reply } from './http.ts'
import type { TestProject, TestService } from './service.ts'

export const ios = { id: 'phone', platform: 'IOS', push_token: 'ab12', push_token_type: 'APNS' }

/** Calls as an app does: with the public key. */
export const asApp = (project: TestProject, method: string, path: string, json?: unknown, headers = {}) =>
  project.call(method, `/api/v1${path}`, {
    ...(json !== undefined && { json }),
    headers: { 'x-service-api-key': project.publicKey, ...headers }
  })

/** Registers one device and returns it as stored. */
export async function put(project: TestProject, device: Json, headers = {}): Promise<Json> {
  const reply = await asApp(project, 'POST', '/devices', { devices: [device] }, headers)
  assert.equal(reply.status, 200, reply.text)
  return reply.json.devices[0]
}

export const link = (project: TestProject, device: string, user: string): Promise<Reply> =>
  asApp(project, 'POST', `/devices/${device}/user/project-user-id`, { project_user_id: user })

/** Reads beyond the responses: a device as the management API shows it, and the number of rows of a table. */
export const lookInto = (service: TestService) => ({
  async read(project: TestProject, device: string): Promise<Json> {
    const reply = await service.manage('GET', `/projects/${project.id}/devices/${device}`)
    return reply.status === 200 ? reply.json : reply.status
  },
  count: async (table: string, project: TestProject): Promise<number> =>
    (await service.sql(`select count(*)::int as n from ${table} where project_id = $1`, [project.id]))[0].n
})
