import { readJson } from '../../platform/json/names.ts'
import { exit, Failure } from '../exit.ts'
import type { Properties, Scalar } from '../properties.ts'
import { deviceOf, localeFacts } from './device.ts'
import { type Device, lost, type Problem, type SourceRecord, type Translated } from './records.ts'
import { booleanIn, timeIn, valueIn } from './values.ts'

/** What a `device_type` of OneSignal is: a number, or its name in newer exports. */
const kinds = new Map<string, 'IOS' | 'ANDROID' | string>([
  ...['0', 'ios', 'iospush'].map((name) => [name, 'IOS'] as const),
  ...['1', 'android', 'androidpush'].map((name) => [name, 'ANDROID'] as const),
  ...[
    '5',
    '7',
    '8',
    '12',
    '17',
    'chromepush',
    'safaripush',
    'safarilegacypush',
    'firefoxpush',
    'edgepush',
    'webpush'
  ].map(
    (name) =>
      [
        name,
        'a subscription of a browser belongs to the key pair of OneSignal; the browser subscribes anew when your page loads the client'
      ] as const
  ),
  ...['2', 'amazon', 'firepush'].map(
    (name) => [name, 'devices of Amazon use a gateway that Tidings does not have'] as const
  ),
  ...['13', 'huawei', 'huaweipush'].map(
    (name) => [name, 'devices of Huawei use a gateway that Tidings does not have'] as const
  ),
  ...['3', '4', '6', 'windowspush'].map((name) => [name, 'this platform was discontinued'] as const),
  ...['9', 'macos', 'macospush'].map(
    (name) => [name, 'tokens of macOS apps belong to another app than those of iOS'] as const
  ),
  ...['11', 'email'].map((name) => [name, 'an email address is no push token'] as const),
  ...['14', 'sms'].map((name) => [name, 'a phone number is no push token'] as const)
])

/** Columns of OneSignal that become something else than a property, or nothing. */
type Row = Record<string, string>

/** Translates the CSV of POST /players/csv_export, which the dashboard exports too. */
export function oneSignalTranslator(header: readonly string[], infer: boolean) {
  const names = header.map((name) => name.trim().toLowerCase())
  if (!names.includes('identifier') || !names.includes('device_type'))
    throw new Failure(
      exit.failure,
      'invalid_file',
      'This is not an export of OneSignal: the columns identifier and device_type are missing. For any other table, use `tidings import csv`.'
    )
  return ({ value: cells }: SourceRecord<string[]>): Translated => {
    const row: Row = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']))
    const user = row.external_user_id || row.external_id || undefined
    const problems: Problem[] = []
    const device = deviceIn(row, problems)
    if (user === undefined && !device) return lost(problems[0]?.reason ?? 'has neither an external id nor a push token')
    const seen = timeIn(row.last_active)
    const created = timeIn(row.created_at)
    return {
      ...(user !== undefined && { user }),
      properties: propertiesIn(row, infer, problems),
      ...(created && { created_at: created }),
      ...(seen && { last_seen_at: seen }),
      devices: device ? [device] : [],
      problems
    }
  }
}

function deviceIn(row: Row, problems: Problem[]): Device | undefined {
  const refuse = (reason: string) => void problems.push({ part: 'device', reason })
  const kind = kinds.get((row.device_type ?? '').trim().toLowerCase())
  if (kind === undefined) return refuse(`device_type ${row.device_type || '(empty)'} is not known`)
  if (kind !== 'IOS' && kind !== 'ANDROID') return refuse(kind)
  if (!row.identifier) return refuse('has no push token: the person was never asked, or said no')
  if (booleanIn(row.invalid_identifier ?? '')) return refuse('OneSignal marked the push token as invalid')
  const types = Number(row.notification_types || 1)
  return deviceOf({
    id: row.id || row.player_id || row.subscription_id || row.identifier.slice(0, 255),
    platform: kind,
    push_token: row.identifier,
    push_token_type: kind === 'IOS' ? 'APNS' : 'FCM',
    // Negative numbers, and 0: unsubscribed, by the person or because the app has no permission.
    is_push_permission_granted: types > 0,
    model: row.device_model,
    os_version: row.device_os,
    app_version: row.game_version,
    ad_id: row.ad_id,
    ...localeFacts(row.language),
    ...(row.country && { locale_region: row.country }),
    timezone: row.timezone_id,
    created_at: timeIn(row.created_at),
    last_seen_at: timeIn(row.last_active)
  })
}

/** Tags are texts at OneSignal. Numbers of sessions and purchases belong to a subscription and not to the user: they stay. */
function propertiesIn(row: Row, infer: boolean, problems: Problem[]): Properties {
  const properties: Properties = {}
  if (row.tags) {
    try {
      for (const [name, value] of Object.entries(readJson(row.tags) as Record<string, unknown>))
        if (value === null || typeof value !== 'object')
          properties[name] = infer && typeof value === 'string' ? valueIn(value, 'auto')! : (value as Scalar)
        else problems.push({ part: 'properties', reason: `tags: ${name} is a list or an object` })
    } catch {
      problems.push({ part: 'properties', reason: 'tags: is not JSON' })
    }
  }
  return properties
}
