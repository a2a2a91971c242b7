import type { AttributeCondition, EventCondition, Segment } from '../../../../../wire.ts'
import { asGroup, operators, takesNoValue } from '../segment/segment.ts'

const quoted = (value: unknown): string =>
  Array.isArray(value) ? value.map(quoted).join(', ') : typeof value === 'string' ? `“${value}”` : JSON.stringify(value)

/** `user.plan is “premium”`. */
function conditionInWords({ attribute, operator, value }: AttributeCondition): string {
  const label = operators.find((one) => one.value === operator)?.label ?? operator
  return takesNoValue(operator) ? `${attribute} ${label}` : `${attribute} ${label} ${quoted(value)}`
}

/** The filters of an event: `event.amount is greater than 50 and …`; blank if there are none. */
export const filtersInWords = (where: readonly AttributeCondition[] | undefined): string =>
  (where ?? []).map(conditionInWords).join(' and ')

function eventInWords({ event, operator, count, within, where }: EventCondition): string {
  const filters = filtersInWords(where)
  const times = `${operator.replaceAll('_', ' ')} ${count} ${count === 1 ? 'time' : 'times'}`
  return `did ${event} ${times}${within ? ` in the last ${within}` : ''}${filters ? ` where ${filters}` : ''}`
}

/** A segment as a sentence without its end; `everyone` if it has no condition. */
export function segmentInWords(segment: Segment | undefined, inside = false): string {
  if (segment && 'ref' in segment) return `in the segment ${segment.ref}`
  if (segment && 'not' in segment) return `not (${segmentInWords(segment.not)})`
  if (segment && 'attribute' in segment) return conditionInWords(segment)
  if (segment && 'event' in segment) return eventInWords(segment)
  // A segment of a later release, or one that the service would refuse.
  if (segment && Object.keys(segment).length > 0 && !('all' in segment || 'any' in segment))
    return JSON.stringify(segment)
  const { mode, parts } = asGroup(segment)
  if (parts.length === 0) return mode === 'all' ? 'everyone' : 'nobody'
  const words = parts.map((part) => segmentInWords(part, parts.length > 1)).join(mode === 'all' ? ' and ' : ' or ')
  return inside && parts.length > 1 ? `(${words})` : words
}
