import assert from 'node:assert/strict'
import type { Json } from '../support/http.ts'
import type { TestProject, TestService } from '../support/service.ts'

/** A project as the holder of a key with this policy sees it. */
export async function agentKey(
  service: TestService,
  project: TestProject,
  policy: Json | null
): Promise<TestProject & { keyId: string }> {
  const made = await service.manage('POST', `/projects/${project.id}/keys`, {
    json: { kind: 'secret', name: 'agent', policy }
  })
  assert.equal(made.status, 201, made.text)
  return { ...withKey(project, made.json.key), keyId: made.json.id }
}

export function withKey(project: TestProject, key: string): TestProject {
  return {
    ...project,
    secretKey: key,
    call: (method, path, asked = {}) =>
      project.call(method, path, { ...asked, headers: { ...asked.headers, 'x-service-api-key': key } })
  }
}

export const setPolicy = (service: TestService, { id, keyId }: { id: string; keyId: string }, policy: Json | null) =>
  service.manage('PATCH', `/projects/${id}/keys/${keyId}`, { json: { policy } })

export const none = {
  skills: null,
  max_recipients: null,
  max_recipients_per_day: null,
  approval_above: null,
  confirm_broadcasts: false,
  dry_run: false,
  quiet_hours: null
}
