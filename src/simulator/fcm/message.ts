import { isObject } from '../../platform/fields.ts'
import type { Violation } from './errors.ts'

type Check = (value: unknown, field: string) => Violation | undefined
type Shape = Record<string, Check>

const wrong = (field: string, description: string): Violation => ({ field, description })

const text: Check = (value, field) => (typeof value === 'string' ? undefined : wrong(field, 'must be a string'))
const flag: Check = (value, field) => (typeof value === 'boolean' ? undefined : wrong(field, 'must be a boolean'))
const number: Check = (value, field) => (typeof value === 'number' ? undefined : wrong(field, 'must be a number'))
const object: Check = (value, field) => (isObject(value) ? undefined : wrong(field, 'must be an object'))
const texts: Check = (value, field) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string') ? undefined : wrong(field, 'must be strings')
const any: Check = () => undefined

const textMap: Check = (value, field) => {
  if (!isObject(value)) return wrong(field, 'must be an object')
  const bad = Object.keys(value).find((name) => typeof value[name] !== 'string')
  return bad === undefined ? undefined : wrong(`${field}[${bad}]`, 'must be a string')
}

const dataMap: Check = (value, field) => {
  const bad = isObject(value) && Object.keys(value).find((name) => /^(?:from$|message_type$|gcm|google)/.test(name))
  return textMap(value, field) ?? (bad ? wrong(field, `Invalid data payload key: ${bad}`) : undefined)
}

const oneOf =
  (...values: string[]): Check =>
  (value, field) =>
    values.includes(String(value).toUpperCase()) ? undefined : wrong(field, `must be one of ${values.join(', ')}`)

const longestTtlSeconds = 2_419_200
const duration: Check = (value, field) => {
  const [, seconds] = /^(\d+(?:\.\d{1,9})?)s$/.exec(String(value)) ?? []
  if (seconds === undefined) return wrong(field, 'must be a duration such as 3.5s')
  return Number(seconds) > longestTtlSeconds ? wrong(field, 'must be at most 4 weeks') : undefined
}

const link: Check = (value, field) =>
  /^https:\/\//.test(String(value)) ? undefined : wrong(field, 'must be an https URL')

const shaped =
  (shape: Shape): Check =>
  (value, field) => {
    if (!isObject(value)) return wrong(field, 'must be an object')
    for (const [name, inner] of Object.entries(value)) {
      const check = Object.hasOwn(shape, name) ? shape[name] : undefined
      const path = field ? `${field}.${name}` : name
      if (!check) return wrong(field, `Cannot find field: ${name}`)
      // Google's JSON treats null as absent.
      const found = inner === null ? undefined : check(inner, path)
      if (found) return found
    }
    return undefined
  }

const androidNotification: Shape = {
  ...Object.fromEntries(
    ['title', 'body', 'icon', 'color', 'sound', 'tag', 'click_action', 'body_loc_key', 'title_loc_key'].map((name) => [
      name,
      text
    ])
  ),
  ...Object.fromEntries(['channel_id', 'ticker', 'image', 'event_time'].map((name) => [name, text])),
  ...Object.fromEntries(
    ['sticky', 'local_only', 'default_sound', 'default_vibrate_timings', 'default_light_settings'].map((name) => [
      name,
      flag
    ])
  ),
  ...Object.fromEntries(
    ['notification_priority', 'vibrate_timings', 'visibility', 'light_settings', 'proxy'].map((name) => [name, any])
  ),
  body_loc_args: texts,
  title_loc_args: texts,
  bypass_proxy_notification: flag,
  notification_count: number
}

const label = shaped({ analytics_label: text })

const message = shaped({
  token: text,
  topic: text,
  condition: text,
  name: text,
  data: dataMap,
  notification: shaped({ title: text, body: text, image: text }),
  android: shaped({
    collapse_key: text,
    priority: oneOf('NORMAL', 'HIGH'),
    ttl: duration,
    restricted_package_name: text,
    data: dataMap,
    notification: shaped(androidNotification),
    fcm_options: label,
    direct_boot_ok: flag,
    bandwidth_constrained_ok: flag,
    restricted_satellite_ok: flag
  }),
  apns: shaped({
    headers: textMap,
    payload: object,
    fcm_options: shaped({ analytics_label: text, image: text }),
    live_activity_token: text
  }),
  webpush: shaped({
    headers: textMap,
    data: textMap,
    notification: object,
    fcm_options: shaped({ link, analytics_label: text })
  }),
  fcm_options: label
})

const request = shaped({ message, validate_only: flag })

/** The first fault in the structure of a request. */
export const checkShape = (payload: unknown): Violation | undefined =>
  request(payload, '') ??
  (isObject(payload) && isObject(payload.message) ? undefined : wrong('message', 'The message is missing.'))
