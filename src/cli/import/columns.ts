import { factNames } from '../../devices/schemas.ts'
import { usageFailure } from '../exit.ts'
import { type ValueType, valueTypes } from './values.ts'

/** What a column becomes: a field of the user or the device, or a property. */
export interface Column {
  header: string
  field: string
  type: ValueType
}

const deviceFields = [
  ...['device_id', 'platform', 'push_token', 'push_token_type', 'push_environment', 'app_identifier'],
  ...['is_push_permission_granted', 'device_created_at', 'device_last_seen_at', 'locale', ...factNames]
]
export const fields: readonly string[] = ['project_user_id', 'created_at', 'last_seen_at', 'opted_out', ...deviceFields]

/** Other names of the same, as files of other systems have them. */
const alsoCalled = new Map(
  Object.entries({
    project_user_id: ['user_id', 'userid', 'external_id', 'external_user_id', 'uid', 'customer_id', 'distinct_id'],
    push_token: ['token', 'device_token', 'fcm_token', 'apns_token', 'registration_id', 'registration_token'],
    push_token_type: ['token_type'],
    push_environment: ['environment'],
    platform: ['os', 'device_type', 'device_os'],
    app_identifier: ['bundle_id', 'package_name', 'app_id'],
    is_push_permission_granted: ['push_enabled', 'notifications_enabled', 'push_permission'],
    model: ['device_model'],
    locale_language: ['language'],
    timezone: ['time_zone', 'tz'],
    last_seen_at: ['last_active', 'last_seen', 'last_active_at']
  }).flatMap(([field, names]) => names.map((name) => [name, field] as const))
)

/** Facts of a device are properties of the user in a file without devices. */
const needsDevice = new Set<string>([...factNames, 'locale', 'platform', 'app_identifier', 'push_environment'])

const isField = (name: string) => fields.includes(name)
const plain = (header: string) =>
  header
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')

/** `--map "Plan name=properties.plan:text"`; `-` leaves a column out. */
export function mapArgument(argument: string, before: Column[] = []): Column[] {
  const at = argument.lastIndexOf('=')
  const header = argument.slice(0, at).trim()
  const [, field = '', type = ''] = /^(.*?)(?::([a-z]+))?$/.exec(argument.slice(at + 1).trim())!
  const known = field === '-' || isField(field) || /^properties\../.test(field)
  if (at < 1 || !known)
    throw usageFailure(
      `--map ${argument}: write column=field, such as --map "User ID=project_user_id" or --map "Age=properties.age:number". Fields: ${fields.join(', ')}, properties.<name>, or - to leave the column out.`
    )
  if (type !== '' && !valueTypes.includes(type as ValueType))
    throw usageFailure(`--map ${argument}: the type must be one of ${valueTypes.join(', ')}.`)
  return [...before, { header, field, type: (type || 'text') as ValueType }]
}

export interface Mapping {
  map?: Column[]
  infer?: true
  only?: true
}

/** Reads the header of a file: named columns first, then those whose names are known; every other is a property. */
export function readHeader(cells: readonly string[], { map = [], infer, only }: Mapping): Column[] {
  const headers = cells.map((cell) => cell.trim())
  const missing = map.find(({ header }) => !headers.includes(header))
  if (missing) throw usageFailure(`There is no column "${missing.header}". The columns are ${someOf(headers)}.`)
  const guessed = headers.map((header): Column => {
    const told = map.find((one) => one.header === header)
    if (told) return told
    const [, name = '', type] = /^(.*?)(?::(text|number|boolean|time|auto))?$/s.exec(header)!
    const field = isField(plain(name)) ? plain(name) : alsoCalled.get(plain(name))
    const usual = infer ? 'auto' : 'text'
    if (field) return { header, field, type: 'text' }
    if (only || name === '') return { header, field: '-', type: 'text' }
    return { header, field: `properties.${name.replace(/^properties\./, '')}`, type: (type ?? usual) as ValueType }
  })
  const hasDevice = guessed.some(({ field }) => field === 'push_token' || field === 'device_id')
  const columns = hasDevice ? guessed : guessed.map((column) => asProperty(column, map))
  checkColumns(columns, headers, hasDevice)
  return columns
}

/** Enough to recognize a file, also one that is no table. */
const someOf = (headers: readonly string[]): string => {
  const some = headers.slice(0, 20).map((header) => (header.length > 60 ? `${header.slice(0, 60)}…` : header))
  return `${some.join(', ')}${headers.length > some.length ? `, and ${headers.length - some.length} more` : ''}`
}

const asProperty = (column: Column, map: readonly Column[]): Column =>
  needsDevice.has(column.field) && !map.includes(column) ? { ...column, field: `properties.${column.header}` } : column

function checkColumns(columns: readonly Column[], headers: readonly string[], hasDevice: boolean): void {
  const used = columns.map(({ field }) => field).filter((field) => field !== '-')
  const twice = used.find((field, index) => used.indexOf(field) < index)
  if (twice) {
    const names = columns.filter(({ field }) => field === twice).map(({ header }) => `"${header}"`)
    throw usageFailure(
      `The columns ${names.join(' and ')} both become ${twice}. Leave one out with --map ${names[1]!.replace(/"$/, '=-"')}.`
    )
  }
  if (!used.includes('project_user_id') && !hasDevice)
    throw usageFailure(
      `No column names the user or a push token. The columns are ${someOf(headers)}. Say which is which, for example with --map "${headers[0]}=project_user_id".`
    )
}
