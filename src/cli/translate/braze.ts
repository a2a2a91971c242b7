import { type Fields, isObject } from '../../platform/fields.ts'
import type { Segment } from '../../segments/segments.ts'
import { condition, grouped, Remarks, type TranslatedSegment } from './segment.ts'

const comparisons = new Map([
  ['equals', 'equals'],
  ['not_equal', 'not_equals'],
  ['does_not_equal', 'not_equals'],
  ['greater_than', 'greater_than'],
  ['greater_than_or_equal_to', 'greater_or_equal'],
  ['less_than', 'less_than'],
  ['less_than_or_equal_to', 'less_or_equal'],
  ['before', 'before'],
  ['after', 'after'],
  ['exists', 'exists'],
  ['does_not_exist', 'not_exists']
])

/** Translates a connected audience of Braze: AND and OR over filters. */
export function brazeSegment(audience: Fields): TranslatedSegment {
  const remarks = new Remarks()
  const segment = partOf(audience, 'audience', remarks)
  return { segment, problems: remarks.problems, notes: [...remarks.notes] }
}

function partOf(part: unknown, path: string, remarks: Remarks): Segment {
  if (!isObject(part)) return remarks.cannot(path, 'is not an object')
  for (const [word, here] of [
    ['AND', 'all'],
    ['OR', 'any']
  ] as const) {
    const inner = part[word]
    if (Array.isArray(inner))
      return grouped(
        here,
        inner.map((one, index) => partOf(one, `${path}.${word}[${index}]`, remarks))
      )
  }
  const [kind = ''] = Object.keys(part)
  const filter = isObject(part[kind]) ? part[kind] : {}
  const about = `${path}.${kind}`
  if (kind === 'custom_attribute')
    return attributeOf(`user.${String(filter.custom_attribute_name)}`, filter, about, remarks)
  if (kind === 'last_used_app') return attributeOf('user.last_seen_at', filter, about, remarks)
  if (kind === 'push_subscription_status') return subscription(filter, about, remarks)
  if (kind === 'email_subscription_status') return remarks.cannot(about, 'Tidings sends no email')
  return remarks.cannot(about, 'this filter has no counterpart')
}

function attributeOf(attribute: string, { comparison, value }: Fields, about: string, remarks: Remarks): Segment {
  const word = String(comparison)
  const operator = comparisons.get(word)
  if (operator) return condition(attribute, operator, /exist/.test(word) ? undefined : value)
  const days = /^(less|greater)_than_x_days_ago$/.exec(word)
  if (days) {
    const within = condition(attribute, 'within_last', `${Number(value)}d`)
    return days[1] === 'less' ? within : { all: [condition(attribute, 'exists'), { not: within }] }
  }
  if (word === 'matches_regex' || word === 'does_not_match_regex') {
    remarks.notes.add('A regular expression is one of PostgreSQL here. Its syntax differs in details.')
    const matches = condition(attribute, 'matches', value)
    return word === 'matches_regex' ? matches : { not: matches }
  }
  if (word === 'includes_value' || word === 'does_not_include_value') {
    remarks.notes.add(
      `${attribute} is a list there. Import with --nested text: the list is then text such as ["a","b"].`
    )
    return condition(attribute, word === 'includes_value' ? 'contains' : 'not_contains', JSON.stringify(value))
  }
  return remarks.cannot(about, `the comparison ${word} has no counterpart`)
}

/** Users who have opted out get nothing by themselves, so the condition that most audiences have is not needed. */
function subscription({ comparison, value }: Fields, about: string, remarks: Remarks): Segment {
  const wanted = (comparison === 'is') !== (value === 'unsubscribed')
  if (!wanted) return remarks.cannot(about, 'a campaign cannot reach people who have unsubscribed')
  remarks.notes.add(
    'Users who have opted out, and devices without permission, are left out of every campaign by themselves.'
  )
  return { all: [] }
}
