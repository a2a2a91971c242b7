import type { Properties } from '../properties.ts'
import type { Column } from './columns.ts'
import { deviceOf, idOfToken, localeFacts, platformOf, platformOfToken } from './device.ts'
import { type Device, lost, type Problem, type SourceRecord, type Translated } from './records.ts'
import { booleanIn, timeIn, valueIn } from './values.ts'

const types = new Map([
  ['IOS', 'APNS'],
  ['ANDROID', 'FCM'],
  ['WEB', 'WEBPUSH']
])

/** Translates the lines of a CSV file whose columns are known. An empty cell says nothing about its field. */
export function csvTranslator(columns: readonly Column[]) {
  return ({ value: cells }: SourceRecord<string[]>): Translated => {
    if (cells.length > columns.length && cells.slice(columns.length).some((cell) => cell !== ''))
      return lost(`has ${cells.length} cells, but the header has ${columns.length}`)
    const problems: Problem[] = []
    const properties: Properties = {}
    const given: Record<string, string> = {}
    for (const [index, { field, type }] of columns.entries()) {
      const cell = cells[index]
      if (cell === undefined || cell === '' || field === '-') continue
      if (!field.startsWith('properties.')) given[field] = cell
      else {
        const value = valueIn(cell, type)
        const name = field.slice('properties.'.length)
        if (value === undefined) problems.push({ part: 'properties', reason: `${field}: must be a ${type}` })
        else properties[name] = value
      }
    }
    const device = deviceIn(given, problems)
    const optedOut = given.opted_out === undefined ? false : booleanIn(given.opted_out)
    // The whole line: a user whose choice is not known would get messages.
    if (optedOut === undefined) problems.push({ part: 'line', reason: 'opted_out: must be true or false' })
    return {
      ...(given.project_user_id !== undefined && { user: given.project_user_id }),
      properties,
      ...(optedOut && { preferences: { opted_out: true } }),
      ...timesIn(given, problems),
      devices: device ? [device] : [],
      problems
    }
  }
}

function timesIn(given: Record<string, string>, problems: Problem[]) {
  const times: { created_at?: string; last_seen_at?: string } = {}
  for (const name of ['created_at', 'last_seen_at'] as const) {
    if (given[name] === undefined) continue
    const time = timeIn(given[name])
    if (time) times[name] = time
    else problems.push({ part: 'properties', reason: `${name}: must be a time such as 2026-11-15T09:30:00Z` })
  }
  return times
}

/** The device of a line, if it has one. */
function deviceIn(given: Record<string, string>, problems: Problem[]): Device | undefined {
  const { device_id, push_token: token, push_token_type, is_push_permission_granted: allowed, locale } = given
  if (device_id === undefined && token === undefined) return undefined
  const refuse = (reason: string) => void problems.push({ part: 'device', reason })
  const permission = allowed === undefined ? undefined : booleanIn(allowed)
  if (allowed !== undefined && permission === undefined)
    return refuse('is_push_permission_granted: must be true or false')
  const platform =
    platformOf(given.platform) ?? platformOf(push_token_type) ?? given.platform ?? platformOfToken(token ?? '')
  if (platform === undefined) return refuse('platform: must be given: the token alone does not tell it')
  const {
    project_user_id: _,
    created_at: __,
    opted_out: ___,
    device_created_at,
    device_last_seen_at,
    ...others
  } = given
  return deviceOf({
    ...others,
    ...localeFacts(locale),
    locale: undefined,
    device_id: undefined,
    id: device_id ?? idOfToken(token!),
    platform,
    push_token: token,
    push_token_type: push_token_type ?? (token === undefined || platform === 'IOS' ? undefined : types.get(platform)),
    is_push_permission_granted: permission,
    created_at: timeIn(device_created_at),
    last_seen_at: timeIn(device_last_seen_at ?? given.last_seen_at)
  })
}
