import { eachFact, mayBeNull } from './schemas.ts'
import type { DeviceRow } from './store.ts'

/** The response for SDKs: every field is present, and empty rather than null. */
export const sdkDevice = (row: DeviceRow) => ({
  id: row.id,
  platform: row.platform,
  ...eachFact((name) => row.facts[name] ?? (mayBeNull.has(name) ? null : '')),
  is_push_permission_granted: row.push_permission,
  push_token: row.token ?? '',
  push_token_type: row.type ?? '',
  push_environment: row.environment ?? '',
  app_identifier: row.app_identifier ?? '',
  user_id: row.user_id
})

/** The response for people: it shows only the beginning of a token, because the whole token allows sending. */
export const managedDevice = (row: DeviceRow, projectUserId: string | null) => ({
  id: row.id,
  platform: row.platform,
  is_push_permission_granted: row.push_permission,
  ...eachFact((name) => row.facts[name] ?? null),
  user_id: row.user_id,
  project_user_id: projectUserId,
  push:
    row.token === null
      ? null
      : {
          token_prefix: row.token.slice(0, 12),
          type: row.type,
          environment: row.environment,
          app_identifier: row.app_identifier,
          registered_at: row.registered_at,
          ...(row.dead_since && { turned_off_at: row.dead_since, turned_off_reason: row.dead_reason })
        },
  created_at: row.created_at,
  updated_at: row.updated_at,
  last_seen_at: row.last_seen_at
})
