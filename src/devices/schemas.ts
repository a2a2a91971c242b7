import { type Static, type TOptional, Type } from '@sinclair/typebox'

export type Platform = 'IOS' | 'ANDROID' | 'WEB'

/** Facts that an app reports about the phone and itself. All are optional, because SDKs differ. */
export const factNames = [
  'model',
  'manufacturer',
  'os_name',
  'os_version',
  'app_name',
  'app_version',
  'sdk_type',
  'sdk_version',
  'ad_id',
  'locale_region',
  'locale_language',
  'timezone'
] as const
export type FactName = (typeof factNames)[number]
/** null removes a fact. */
export type Facts = Partial<Record<FactName, string | null>>

const Fact = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 255,
  description: 'Absent: unchanged. null: removed.'
})

export const DeviceSchema = Type.Object({
  id: Type.Optional(Type.String({ description: '1 to 255 characters, made by the app and kept on the phone.' })),
  device_id: Type.Optional(Type.String({ description: 'Another name for id.' })),
  platform: Type.Optional(
    Type.String({ description: 'IOS, ANDROID or WEB, in any case, also with DEVICE_PLATFORM_TYPE_ before it.' })
  ),
  ...(Object.fromEntries(factNames.map((name) => [name, Type.Optional(Fact)])) as Record<
    FactName,
    TOptional<typeof Fact>
  >),
  is_push_permission_granted: Type.Optional(
    Type.Unsafe<boolean | null>({
      type: ['boolean', 'null'],
      description: 'false: the device is not reachable. null: unknown.'
    })
  ),
  push_token: Type.Optional(
    Type.Unsafe<string | object | null>({
      type: ['string', 'object', 'null'],
      description: 'Of APNs or FCM, or a PushSubscription as JSON text or as an object. null or empty: removed.'
    })
  ),
  push_token_type: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'APNS, FCM or WEBPUSH.' })
  ),
  push_environment: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'production (default) or sandbox.' })
  ),
  app_identifier: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 255,
      description: 'Bundle or package id; else the header X-Service-App-Identifier.'
    })
  )
})
export type SentDevice = Static<typeof DeviceSchema>

export const Platform = Type.Union([Type.Literal('IOS'), Type.Literal('ANDROID'), Type.Literal('WEB')])
const nullable = { type: ['string', 'null'] }
/** One SDK decodes strictly and takes null for these two only. */
export const mayBeNull = new Set<string>(['app_version', 'ad_id'])
const NullableText = Type.Unsafe<string | null>(nullable)

type Schemas = Record<FactName, typeof NullableText>
/** A record with one value for each fact. */
export const eachFact = <Value>(make: (name: FactName) => Value) =>
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

/** The push token of a device, without the part that would let its reader send. */
export interface ManagedPush {
  token_prefix: string
  type: string
  environment: string
  app_identifier: string | null
  registered_at: string
  /** Set if a gateway reported the token as dead. */
  turned_off_at?: string
  turned_off_reason?: string
}

export const ManagedDevice = Type.Object({
  ...common,
  ...eachFact(() => NullableText),
  user_id: Type.String({ description: "The service's own id of the user." }),
  project_user_id: Type.Unsafe<string | null>({ ...nullable, description: 'null: the user is anonymous.' }),
  push: Type.Unsafe<ManagedPush | null>({
    type: ['object', 'null'],
    description:
      'Its push token, if it has one: token_prefix, type, environment, app_identifier, registered_at; turned_off_at and turned_off_reason where a gateway reported it as dead.'
  }),
  created_at: Type.String(),
  updated_at: Type.String(),
  last_seen_at: Type.String()
})
