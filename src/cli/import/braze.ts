import { type Fields, isObject } from '../../platform/fields.ts'
import type { Properties, Scalar } from '../properties.ts'
import { deviceOf, idOfToken, localeFacts } from './device.ts'
import { jsonRecords } from './json-reader.ts'
import { type Device, lost, type Problem, type Translated } from './records.ts'
import type { Read } from './run.ts'
import { timeIn } from './values.ts'

/** Reads the files of POST /users/export/segment: an object a line, often many files in a zip. */
export const brazeFormat = (nested: 'leave' | 'text'): Read =>
  async function* (source) {
    for await (const records of jsonRecords(source.chunks))
      yield records.map((record) => ({
        record,
        translated: record.fault === undefined ? profileIn(record.value as Fields, nested) : lost(record.fault)
      }))
  }

/** Fields of a profile that become properties by their own names. */
const kept = [
  'first_name',
  'last_name',
  'email',
  'dob',
  'gender',
  'home_city',
  'country',
  'phone',
  'language',
  'total_revenue'
]

function profileIn(profile: Fields, nested: 'leave' | 'text'): Translated {
  const user = typeof profile.external_id === 'string' && profile.external_id !== '' ? profile.external_id : undefined
  const problems: Problem[] = []
  const devices = devicesIn(profile, problems)
  if (user === undefined && devices.length === 0)
    return lost(
      Array.isArray(profile.user_aliases) && profile.user_aliases.length > 0
        ? 'has an alias only, and no push token: give the person an external_id first'
        : 'has neither an external_id nor a push token'
    )
  const created = timeIn(profile.created_at)
  const seen = lastUsed(profile)
  return {
    ...(user !== undefined && { user }),
    properties: propertiesIn(profile, nested, problems),
    ...(user !== undefined && profile.push_subscribe === 'unsubscribed' && { preferences: { opted_out: true } }),
    ...(created && { created_at: created }),
    ...(seen && { last_seen_at: seen }),
    devices,
    problems
  }
}

function propertiesIn(profile: Fields, nested: 'leave' | 'text', problems: Problem[]): Properties {
  const properties: Properties = {}
  const custom = isObject(profile.custom_attributes) ? profile.custom_attributes : {}
  const own = Object.fromEntries(kept.map((name) => [name, profile[name]]))
  // The property `timezone` is the one by which campaigns find the local time of a user.
  for (const [name, value] of Object.entries({ ...own, timezone: profile.time_zone, ...custom })) {
    if (value === undefined || value === null || value === '') continue
    if (typeof value !== 'object') properties[name] = value as Scalar
    else if (nested === 'text') properties[name] = JSON.stringify(value)
    else
      problems.push({
        part: 'properties',
        reason: `custom_attributes: ${name} is a list or an object (--nested text keeps it as text)`
      })
  }
  return properties
}

const webReason =
  'a subscription of a browser belongs to the key pair of Braze; the browser subscribes anew when your page loads the client'

/** Push tokens name the device and the app that they belong to. */
function devicesIn(profile: Fields, problems: Problem[]): Device[] {
  const tokens = Array.isArray(profile.push_tokens) ? profile.push_tokens.filter(isObject) : []
  const described = Array.isArray(profile.devices) ? profile.devices.filter(isObject) : []
  return tokens.flatMap((one): Device[] => {
    const refuse = (reason: string) => {
      problems.push({ part: 'device', reason })
      return []
    }
    const { token, device_id: id, app, notifications_enabled: allowed } = one
    const platform = platformIn(
      one,
      described.find((device) => device.device_id !== undefined && device.device_id === id)
    )
    if (platform === undefined) return refuse(`platform ${String(one.platform ?? '(empty)')} is not known`)
    if (platform === 'WEB') return refuse(webReason)
    if (platform === 'OTHER') return refuse(`${String(one.platform)}: Tidings has no gateway for it`)
    if (typeof token !== 'string' || token === '') return refuse('has no push token')
    const device = described.find((known) => known.device_id !== undefined && known.device_id === id) ?? {}
    return [
      deviceOf({
        id: typeof id === 'string' && id !== '' ? id : idOfToken(token),
        platform,
        push_token: token,
        push_token_type: platform === 'IOS' ? 'APNS' : 'FCM',
        is_push_permission_granted: typeof allowed === 'boolean' ? allowed : undefined,
        app_name: typeof app === 'string' ? app.slice(0, 255) : undefined,
        model: device.model,
        os_version: typeof device.os === 'string' ? /[\d.]+/.exec(device.os)?.[0] : undefined,
        ad_id: device.ad_id ?? device.idfa,
        ...localeFacts(profile.language),
        timezone: profile.time_zone
      })
    ]
  })
}

function platformIn({ platform }: Fields, device: Fields | undefined): 'IOS' | 'ANDROID' | 'WEB' | 'OTHER' | undefined {
  const name = String(platform ?? device?.os ?? '').toLowerCase()
  if (/\bios\b|iphone|ipad|apns|tvos/.test(name)) return 'IOS'
  if (/web|chrome|firefox|safari|edge/.test(name)) return 'WEB'
  if (/kindle|fire|huawei|windows|baidu|macos/.test(name)) return 'OTHER'
  return /android|fcm|gcm/.test(name) ? 'ANDROID' : undefined
}

/** The newest time at which the person used one of the apps. */
function lastUsed({ apps }: Fields): string | undefined {
  const times = (Array.isArray(apps) ? apps : []).flatMap((app) => (isObject(app) ? (timeIn(app.last_used) ?? []) : []))
  return times.sort().at(-1)
}
