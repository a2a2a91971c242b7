import { hash } from 'node:crypto'
import type { Pool } from '../platform/db/db.ts'
import { parseDuration } from '../platform/duration.ts'
import { instantMs } from './instant.ts'
import { type AttributeCondition, attributeOf, type Operator, segmentLimits } from './language.ts'
import { limitStatementTime, matchTexts } from './pattern-store.ts'
import { Room, resolve } from './trigger-reference.ts'

type Properties = Readonly<Record<string, unknown>>

/** Whether texts match patterns, as PostgreSQL says: JavaScript has other patterns, and some never end. */
export type Patterns = (text: string, pattern: string) => boolean

interface Facts {
  properties: Properties
  now: Date
  /** The values of `{{ trigger.* }}` in a condition. */
  trigger: Properties
  patterns: Patterns
}

/**
 * Whether all conditions hold for an event. They mean the same as in a segment, where PostgreSQL evaluates them
 * (compare.ts); here an event may have to be compared with the conditions of a hundred campaigns.
 */
export const eventMatches = (where: readonly AttributeCondition[] | undefined, facts: Facts): boolean =>
  (where ?? []).every((condition) => holds(condition, facts))

function holds({ attribute, operator, value }: AttributeCondition, { properties, now, trigger, patterns }: Facts) {
  const { name } = attributeOf(attribute, 'where')!
  const stored = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (operator === 'exists') return stored !== undefined
  if (operator === 'not_exists') return stored === undefined
  const wanted = resolve(value, trigger, new Room(segmentLimits.filled))
  if (wanted === undefined) return false
  if (operator === 'matches')
    return typeof stored === 'string' && typeof wanted === 'string' && patterns(stored, wanted)
  return compared(operator, stored, wanted, now)
}

function compared(operator: Operator, stored: unknown, wanted: unknown, now: Date): boolean {
  const empty = stored === undefined || stored === null
  switch (operator) {
    case 'equals':
      return isOneOf(stored, [wanted])
    case 'in':
      return Array.isArray(wanted) && isOneOf(stored, wanted)
    case 'not_equals':
      return isNoneOf(stored, [wanted])
    case 'not_in':
      return Array.isArray(wanted) ? isNoneOf(stored, wanted) : empty
    case 'before':
    case 'after': {
      const [one, other] = [instantMs(stored), instantMs(wanted)]
      if (one === undefined || other === undefined) return false
      return operator === 'before' ? one < other : one > other
    }
    case 'within_last': {
      const [at, ms] = [instantMs(stored), parseDuration(wanted)]
      return at !== undefined && ms !== undefined && at <= now.getTime() && at >= now.getTime() - ms
    }
    case 'not_contains':
      if (typeof wanted !== 'string') return empty
      return empty || (typeof stored === 'string' && !stored.includes(wanted))
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      return typeof stored === 'string' && typeof wanted === 'string' && searched(operator, stored, wanted)
    default:
      return ordered(operator, stored, wanted)
  }
}

const searched = (operator: 'contains' | 'starts_with' | 'ends_with', stored: string, wanted: string) =>
  operator === 'contains'
    ? stored.includes(wanted)
    : operator === 'starts_with'
      ? stored.startsWith(wanted)
      : stored.endsWith(wanted)

/** Texts are ordered by code point and numbers by value; nothing else has an order. */
function ordered(operator: Operator, stored: unknown, wanted: unknown): boolean {
  const order =
    typeof stored === 'string' && typeof wanted === 'string'
      ? Buffer.compare(Buffer.from(stored), Buffer.from(wanted))
      : typeof stored === 'number' && typeof wanted === 'number'
        ? stored - wanted
        : Number.NaN
  if (operator === 'greater_than') return order > 0
  if (operator === 'greater_or_equal') return order >= 0
  return operator === 'less_than' ? order < 0 : order <= 0
}

const isScalar = (value: unknown) => value === null || ['string', 'number', 'boolean'].includes(typeof value)
const isOneOf = (stored: unknown, wanted: readonly unknown[]) => isScalar(stored) && wanted.includes(stored)

/** No value and null differ from every wanted value. A value of another type is not compared. */
function isNoneOf(stored: unknown, wanted: readonly unknown[]): boolean {
  if (wanted.length === 0 || stored === undefined) return true
  if (stored === null) return !wanted.includes(null)
  const comparable = wanted.includes(null) || wanted.some((one) => isScalar(one) && typeof one === typeof stored)
  return comparable && !isOneOf(stored, wanted)
}

/** Texts and patterns that take longer together are divided, because one of them may have been made to be slow. */
const patternMs = 1_000
/** Enough to find one slow text among a thousand others. */
const mostTimeouts = 12

interface Pair {
  text: string
  pattern: string
}

/** The texts of an event and the patterns that its conditions compare them with. */
export function patternPairs(where: readonly AttributeCondition[], properties: Properties): Pair[] {
  return where.flatMap(({ attribute, operator, value }) => {
    const text = properties[attributeOf(attribute, 'where')!.name]
    const compares = operator === 'matches' && typeof text === 'string' && typeof value === 'string'
    return compares ? { text, pattern: value } : []
  })
}

export type PatternMatcher = ReturnType<typeof createPatternMatcher>

const maxKnown = 20_000

/**
 * Remembers which texts match which patterns. PostgreSQL decides, outside of the transaction that needs to know: a pattern
 * may be too slow, and a statement that fails ends its transaction.
 */
export function createPatternMatcher(pool: Pool) {
  const known = new Map<string, boolean>()
  // Texts of events may be long, and many are remembered.
  const keyOf = ({ text, pattern }: Pair) => hash('sha256', JSON.stringify([text, pattern]), 'base64')

  /** Those of the pairs that match; undefined if it takes too long. */
  const tried = (pairs: Pair[]): Promise<Pair[] | undefined> =>
    pool
      .transaction(async (tx) => {
        await limitStatementTime(tx, patternMs)
        const matching = await matchTexts(tx, pairs)
        return pairs.filter((_, index) => matching.has(index))
      })
      .catch((error: unknown) => {
        if (!isTimeout(error)) throw error
        return undefined
      })

  /** The keys of the pairs that match. A pair that takes too long does not; what came with it is tried again without it. */
  async function matchingOf(pairs: Pair[]): Promise<Set<string>> {
    const matching = new Set<string>()
    const parts = pairs.length > 0 ? [pairs.toSorted((one, other) => (one.pattern < other.pattern ? -1 : 1))] : []
    for (let left = mostTimeouts; parts.length > 0 && left > 0; ) {
      const part = parts.shift()!
      const found = await tried(part)
      for (const pair of found ?? []) matching.add(keyOf(pair))
      if (!found) left -= 1
      const half = Math.ceil(part.length / 2)
      if (!found && part.length > 1) parts.push(part.slice(0, half), part.slice(half))
    }
    return matching
  }

  const unknown = (pairs: Pair[]): Pair[] => pairs.filter((pair) => !known.has(keyOf(pair)))

  return {
    unknown,
    /** Takes all pairs that the transaction needs: those that are known already may have to make room for the others. */
    async learn(pairs: Pair[]): Promise<void> {
      if (known.size > maxKnown) known.clear()
      const asked = unknown(pairs)
      const matching = await matchingOf(asked)
      for (const pair of asked) known.set(keyOf(pair), matching.has(keyOf(pair)))
    },
    /** Decides these pairs, however many, and remembers nothing. Takes a connection: not for use in a transaction. */
    async decide(pairs: Pair[]): Promise<Patterns> {
      const matching = await matchingOf(pairs)
      return (text, pattern) => matching.has(keyOf({ text, pattern }))
    },
    matches: ((text, pattern) => known.get(keyOf({ text, pattern })) ?? false) satisfies Patterns
  }
}

const isTimeout = (error: unknown) =>
  [error, (error as Error).cause].some((one) => one instanceof Error && 'code' in one && one.code === '57014')
