import { Refusal } from '../platform/errors.ts'
import { encodeCursor } from '../platform/http/paging.ts'
import { isUuid } from '../platform/ids.ts'
import type { KeyRow, NewKey, Project, TokenRow } from '../projects/projects.ts'

export const wireProject = ({
  createdAt,
  pausedAt,
  messageLimits,
  quietHours,
  identityVerification,
  ...project
}: Project) => ({
  ...project,
  created_at: createdAt,
  paused_at: pausedAt,
  message_limits: messageLimits,
  quiet_hours: quietHours,
  identity_verification: identityVerification
})
export const wireKey = ({ id, kind, name, prefix, created_at, last_used_at, expires_at, policy }: KeyRow) => ({
  id,
  kind,
  name,
  prefix,
  created_at,
  last_used_at,
  expires_at,
  policy
})
export const wireNewKey = ({ id, kind, name, key, prefix, created_at, expires_at, policy }: NewKey) => ({
  id,
  kind,
  name,
  key,
  prefix,
  created_at,
  expires_at,
  policy
})
export const wireToken = ({ id, name, role, project_id, prefix, created_at, last_used_at }: TokenRow) => ({
  id,
  name,
  role,
  project_id,
  prefix,
  created_at,
  last_used_at
})
export const cursorOfId = (row: { id: string }) => encodeCursor(row.id)

/** Ids are UUIDs, so any other text identifies nothing. */
export function known(id: string | undefined, what: string): string {
  if (id === undefined || !isUuid(id)) throw new Refusal('not_found', `There is no such ${what}.`)
  return id
}
