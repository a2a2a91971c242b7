import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { attributeOf, type Segment } from '../language.ts'
import { type Judged, judge, type Leaf } from './explain-store.ts'
import { attributeText, eventText, lacksProperty } from './words.ts'

/** A condition of a segment with what it was compared with; groups have conditions of their own. */
export interface Explained {
  passed: boolean
  message: string
  conditions?: Explained[]
}

interface Subject {
  userId: string
  deviceIds: string[]
}

interface Given {
  /** The properties of the trigger. */
  properties: Readonly<Record<string, unknown>>
  now: Date
  /** The segment as it was written, with the names of its saved segments. */
  written?: Segment | undefined
}

/**
 * Explains each condition of a segment for one user, with the values of now. Conditions on devices are those of the
 * device that comes closest. Undefined: the user does not exist.
 */
export async function explainSegment(
  pool: Pool,
  projectId: ProjectId,
  segment: Segment,
  subject: Subject,
  { properties, now, written }: Given
): Promise<Explained | undefined> {
  const leaves = leavesIn(segment)
  const rows = await judge(pool, projectId, leaves, subject, { properties, now })
  const trees = rows.map((row) => {
    const next = { index: 0 }
    const several = rows.length > 1
    return nodeOf(segment, written, false, { row, properties, next, several })
  })
  return trees.toSorted((one, other) => failuresIn(one) - failuresIn(other))[0]
}

const allOf = 'All of these'

/** The conditions of a segment: those that must all hold, or the only one. */
export const conditionsOf = (tree: Explained): Explained[] =>
  tree.conditions && tree.message === allOf ? tree.conditions : [tree]

/** The conditions that stop the user, in one line: `age is 19, needs more than 30`. */
export function failuresOf(tree: Explained): string[] {
  if (tree.passed) return []
  return tree.conditions && tree.conditions.length > 0 ? tree.conditions.flatMap(failuresOf) : [tree.message]
}

const failuresIn = (tree: Explained) => (tree.passed ? 0 : failuresOf(tree).length)

function leavesIn(segment: Segment): Leaf[] {
  if ('all' in segment) return segment.all.flatMap(leavesIn)
  if ('any' in segment) return segment.any.flatMap(leavesIn)
  if ('not' in segment) return leavesIn(segment.not)
  return 'ref' in segment ? [] : [segment]
}

interface Walk {
  row: Judged
  properties: Readonly<Record<string, unknown>>
  /** The place of the next condition, in the order of `leavesIn`. */
  next: { index: number }
  /** Whether the user has several devices, so that one must be named. */
  several: boolean
}

/** A `not` is carried to the conditions inside: people read "must not be" more easily than "none of". */
function nodeOf(segment: Segment, written: Segment | undefined, negated: boolean, walk: Walk): Explained {
  if (written && 'ref' in written) {
    const inside = nodeOf(segment, undefined, negated, walk)
    const message = `${negated ? 'Not in' : 'In'} the saved segment ${JSON.stringify(written.ref)}`
    return { passed: inside.passed, message, conditions: inside.conditions ?? [inside] }
  }
  if ('not' in segment)
    return nodeOf(segment.not, written && 'not' in written ? written.not : undefined, !negated, walk)
  if ('all' in segment || 'any' in segment) {
    const [parts, isAll] = 'all' in segment ? [segment.all, !negated] : [segment.any, negated]
    const names = written && ('all' in written ? written.all : 'any' in written ? written.any : undefined)
    const conditions = parts.map((part, place) => nodeOf(part, names?.[place], negated, walk))
    return {
      passed: isAll ? conditions.every(({ passed }) => passed) : conditions.some(({ passed }) => passed),
      message: isAll ? allOf : 'At least one of these',
      conditions
    }
  }
  if ('ref' in segment) return { passed: false, message: `The saved segment ${segment.ref} is unknown` }
  return leafOf(segment, negated, walk)
}

function leafOf(leaf: Leaf, negated: boolean, { row, properties, next, several }: Walk): Explained {
  const index = next.index++
  const passed = !lacksProperty(leaf, properties) && row.passed[index]! !== negated
  if ('event' in leaf) return { passed, message: eventText(leaf, negated, row.counts[index] ?? null, properties) }
  const isOfDevice = attributeOf(leaf.attribute, 'segment')!.of === 'device'
  if (isOfDevice && row.device_id === null) return { passed: false, message: 'the user has no device' }
  const of = isOfDevice && several ? ` (${row.device_id})` : ''
  return { passed, message: `${attributeText(leaf, negated, row, properties)}${of}` }
}
