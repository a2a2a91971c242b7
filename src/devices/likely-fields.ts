import { bare, likely, type UnknownField } from '../platform/unknown-names.ts'
import { DeviceSchema } from './schemas.ts'

const known = Object.keys(DeviceSchema.properties)

/** Names that other services and platform APIs use for the same thing. */
const alsoCalled: Record<string, string> = {
  locale: 'locale_language',
  language: 'locale_language',
  lang: 'locale_language',
  region: 'locale_region',
  country: 'locale_region',
  tz: 'timezone',
  time_zone_id: 'timezone',
  token: 'push_token',
  device_token: 'push_token',
  fcm_token: 'push_token',
  apns_token: 'push_token',
  subscription: 'push_token',
  token_type: 'push_token_type',
  environment: 'push_environment',
  push_permission: 'is_push_permission_granted',
  push_enabled: 'is_push_permission_granted',
  notifications_enabled: 'is_push_permission_granted',
  bundle_id: 'app_identifier',
  package_name: 'app_identifier',
  app_id: 'app_identifier',
  os: 'os_name',
  brand: 'manufacturer',
  device_model: 'model',
  version: 'app_version',
  idfa: 'ad_id',
  advertising_id: 'ad_id'
}

const byBareName = new Map([
  ...Object.entries(alsoCalled).map(([name, meant]) => [bare(name), meant] as const),
  ...known.map((name) => [bare(name), name] as const)
])

/**
 * Fields of device entries that the service ignores although they resemble a known one. Other unknown fields belong to
 * the app.
 */
export function likelyMisspelt(devices: object[]): UnknownField[] {
  const names = new Set(devices.flatMap((device) => Object.keys(device).slice(0, 100)))
  return [...names].flatMap((name) => {
    if (known.includes(name) || name.length > 40) return []
    const meant = byBareName.get(bare(name)) ?? likely(known, name)
    return meant === undefined ? [] : [{ name, meant }]
  })
}
