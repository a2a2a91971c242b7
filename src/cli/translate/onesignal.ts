import { type Fields, isObject } from '../../platform/fields.ts'
import type { Segment } from '../../segments/segments.ts'
import { condition, grouped, Remarks, type TranslatedSegment } from './segment.ts'

const comparisons = new Map([
  ['=', 'equals'],
  ['!=', 'not_equals'],
  ['>', 'greater_than'],
  ['<', 'less_than'],
  ['exists', 'exists'],
  ['not_exists', 'not_exists'],
  ['in_array', 'in'],
  ['not_in_array', 'not_in']
])
const platforms = new Map([
  ['ios', 'IOS'],
  ['android', 'ANDROID'],
  ['web', 'WEB'],
  ['chrome', 'WEB'],
  ['firefox', 'WEB'],
  ['safari', 'WEB']
])

/** Translates `filters` of OneSignal: a list in which OR separates groups, and everything else is joined by AND. */
export function oneSignalSegment(filters: readonly unknown[]): TranslatedSegment {
  const remarks = new Remarks()
  const groups: Segment[][] = [[]]
  for (const [index, filter] of filters.entries()) {
    if (!isObject(filter)) groups.at(-1)!.push(remarks.cannot(`filters[${index}]`, 'is not an object'))
    else if (filter.operator !== undefined && filter.field === undefined) {
      if (String(filter.operator).toUpperCase() === 'OR') groups.push([])
    } else groups.at(-1)!.push(conditionOf(filter, `filters[${index}] (${String(filter.field)})`, remarks))
  }
  const parts = groups.filter((group) => group.length > 0).map((group) => grouped('all', group))
  const segment: Segment = parts.length === 0 ? { all: [] } : grouped('any', parts)
  return { segment, problems: remarks.problems, notes: [...remarks.notes] }
}

function conditionOf(filter: Fields, about: string, remarks: Remarks): Segment {
  const { field, relation = '=', value, key } = filter
  const operator = comparisons.get(String(relation))
  const compared = (attribute: string, wanted: unknown = value): Segment =>
    operator
      ? condition(attribute, operator, /exists/.test(operator) ? undefined : wanted)
      : remarks.cannot(about, `the relation ${String(relation)} has no counterpart`)
  switch (field) {
    case 'tag':
      if (operator === 'greater_than' || operator === 'less_than') {
        remarks.notes.add(`user.${key} is compared as a number. Import tags with --infer, so that it is one.`)
        return compared(`user.${key}`, Number(value))
      }
      return compared(
        `user.${key}`,
        operator === 'in' || operator === 'not_in'
          ? String(value)
              .split(',')
              .map((one) => one.trim())
          : String(value)
      )
    case 'last_session':
    case 'first_session':
      return since(field === 'last_session' ? 'user.last_seen_at' : 'user.created_at', filter, about, remarks)
    case 'language':
      return compared('device.language')
    case 'country':
      remarks.notes.add('A country is the region of the device, which follows its settings and not its place.')
      return compared('device.locale')
    case 'app_version':
      return compared('device.app_version', String(value))
    case 'device_type': {
      const platform = platforms.get(String(value).toLowerCase())
      return platform
        ? compared('device.platform', platform)
        : remarks.cannot(about, `${String(value)} is no platform of Tidings`)
    }
    case 'external_id':
    case 'external_user_id':
      return compared('user.id', String(value))
    case 'session_count':
    case 'session_time':
    case 'amount_spent':
    case 'bought_sku':
      return remarks.cannot(
        about,
        'Tidings counts neither sessions nor purchases by itself. Track events, and use a condition on events'
      )
    case 'location':
      return remarks.cannot(about, 'Tidings stores no places')
    case 'email':
      return remarks.cannot(about, 'Tidings sends no email')
    default:
      return remarks.cannot(about, 'this field has no counterpart')
  }
}

/** `hours_ago`: `<` is within the last hours, `>` is longer ago. */
function since(attribute: string, { relation, hours_ago, value }: Fields, about: string, remarks: Remarks): Segment {
  const hours = Number(hours_ago ?? value)
  if (!Number.isFinite(hours) || hours <= 0) return remarks.cannot(about, 'hours_ago must be a number')
  const within = condition(attribute, 'within_last', `${Math.max(1, Math.round(hours))}h`)
  if (relation === '<') return within
  if (relation === '>') return { all: [condition(attribute, 'exists'), { not: within }] }
  return remarks.cannot(about, `the relation ${String(relation)} has no counterpart`)
}
