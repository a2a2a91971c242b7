import { durationRule, parseDuration } from '../platform/duration.ts'
import type { Detail } from '../platform/errors.ts'
import { longerThan } from '../platform/fields.ts'
import { isStorable } from '../platform/json/storable.ts'
import { instantText } from '../platform/time.ts'
import { instantRule } from './instant.ts'
import { type Attribute, segmentLimits as limits, type Operator } from './language.ts'
import { hasReference, piecesOf, referenceRule } from './trigger-reference.ts'
import { versionKey, versionRule } from './version.ts'

type Rule = (value: unknown) => string | undefined

const timely = new Set<Operator>(['before', 'after', 'within_last'])
const textual = new Set<Operator>(['contains', 'not_contains', 'starts_with', 'ends_with', 'matches'])
const platforms = new Set<unknown>(['IOS', 'ANDROID', 'WEB'])

/** Returns the problems of the value of a condition, with paths relative to the condition. */
export function valueProblems(attribute: Attribute, operator: Operator, value: unknown, given: boolean): Detail[] {
  const { kind } = attribute
  if (timely.has(operator) && (kind === 'text' || kind === 'version'))
    return [{ path: '.operator', message: `${operator} compares times, and this attribute is not a time` }]
  if (textual.has(operator) && kind === 'time')
    return [{ path: '.operator', message: `${operator} searches text, and this attribute is a time` }]
  if (operator === 'exists' || operator === 'not_exists')
    return given ? [{ path: '.value', message: `must not be given with ${operator}` }] : []
  if (!given) return [{ path: '.value', message: 'must be given' }]
  const rule = ruleOf(attribute, operator)
  if (operator !== 'in' && operator !== 'not_in') return problem('.value', value, rule)
  if (typeof value === 'string' && piecesOf(value)?.length === 1 && hasReference(value)) return []
  if (!Array.isArray(value))
    return [{ path: '.value', message: 'must be a list, or one {{ trigger.x }} that is a list' }]
  if (value.length > limits.listLength)
    return [{ path: '.value', message: `must have at most ${limits.listLength} entries` }]
  return value.flatMap((item, index) => problem(`.value[${index}]`, item, rule))
}

function problem(path: string, value: unknown, rule: Rule): Detail[] {
  const message =
    generalRule(value) ??
    (rule !== pattern && typeof value === 'string' && hasReference(value) ? undefined : rule(value))
  return message === undefined ? [] : [{ path, message }]
}

/** Rules for every value, whatever the operator. */
function generalRule(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'must be a finite number'
  if (typeof value !== 'string') return undefined
  if (!isStorable(value)) return 'must not hold NUL or a lone surrogate'
  if (longerThan(value, limits.textLength)) return `must be at most ${limits.textLength} characters`
  return piecesOf(value) ? undefined : referenceRule
}

const text: Rule = (value) => (typeof value === 'string' ? undefined : 'must be a string')
const scalar: Rule = (value) =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)
    ? undefined
    : 'must be a string, a number, a boolean or null'
const ordered: Rule = (value) =>
  ['string', 'number'].includes(typeof value) ? undefined : 'must be a number or a string'
const instant: Rule = (value) => (instantText(value) ? undefined : instantRule)
const duration: Rule = (value) => (parseDuration(value) === undefined ? durationRule : undefined)
const version: Rule = (value) => (versionKey(value) ? undefined : versionRule)
const platform: Rule = (value) => (platforms.has(value) ? undefined : 'must be IOS, ANDROID or WEB')
const pattern: Rule = (value) =>
  text(value) ??
  (longerThan(value as string, limits.patternLength) ? `must be at most ${limits.patternLength} characters` : undefined)

function ruleOf(attribute: Attribute, operator: Operator): Rule {
  if (operator === 'within_last') return duration
  if (operator === 'matches') return pattern
  if (textual.has(operator)) return text
  if (attribute.kind === 'time' || timely.has(operator)) return instant
  const order = operator.startsWith('greater') || operator.startsWith('less')
  if (attribute.kind === 'json') return order ? ordered : scalar
  if (attribute.kind === 'version') return order ? version : text
  return attribute.name === 'platform' && !order ? platform : text
}
