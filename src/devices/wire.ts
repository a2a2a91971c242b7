import { Type } from '@sinclair/typebox'
import { type FactName, factNames } from './fields.ts'
import type { DeviceRow } from './store.ts'

const Platform = Type.Union([Type.Literal('IOS'), Type.Literal('ANDROID'), Type.Literal('WEB')])
const nullable = { type: ['string', 'null'] }
/** One SDK decodes strictly and takes null for these two only. */
const mayBeNull = new Set<string>(['app_version', 'ad_id'])
const NullableText = Type.Unsafe<string | null>(nullable)

type Schemas = Record<FactName, typeof NullableText>
const eachFact = <Value>(make: (name: FactName) => Value) =>
  Object.fromEntries(factNames.map((name) => [name, make(name)])) as Record<FactName, Value>

const common = { id: Type.String(), platform: Platform, is_push_permission_granted: Type.Boolean() }

export const DeviceAnswer = Type.Object({
  ...common,
  ...(eachFact((name) => (mayBeNull.has(name) ? NullableText : Type.String())) as Schemas),
  push_token: Type.String({ description: 'Empty: none.' }),
  push_token_type: Type.String({ description: 'APNS, FCM, WEBPUSH or empty.' }),
  push_environment: Type.String({ description: 'production, sandbox or empty.' }),
  app_identifier: Type.String({ description: 'Empty: not known.' }),
  user_id: Type.String({ description: "The service's own id of the user." })
})

/** For SDKs: every field is there, and empty rather than null. */
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

export const ManagedDevice = Type.Object({
  ...common,
  ...eachFact(() => NullableText),
  user_id: Type.String({ description: "The service's own id of the user." }),
  project_user_id: Type.Unsafe<string | null>({ ...nullable, description: 'null: nobody has logged in.' }),
  push: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    description:
      'Its push token, if it has one: token_prefix, type, environment, app_identifier, registered_at; turned_off_at and turned_off_reason where a gateway called it dead.'
  }),
  created_at: Type.String(),
  updated_at: Type.String(),
  last_seen_at: Type.String()
})

/** For people: a token is shown by its beginning only, since whoever has it whole may send. */
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
