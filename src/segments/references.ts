import type { Segment } from './language.ts'
import { piecesOf } from './trigger-reference.ts'

/** The paths of all trigger properties that the values of a segment refer to. Saved segments must be written out. */
export function referencesIn(segment: Segment): (readonly string[])[] {
  if ('all' in segment) return segment.all.flatMap(referencesIn)
  if ('any' in segment) return segment.any.flatMap(referencesIn)
  if ('not' in segment) return referencesIn(segment.not)
  if ('event' in segment) return (segment.where ?? []).flatMap(({ value }) => inValue(value))
  return 'attribute' in segment ? inValue(segment.value) : []
}

function inValue(value: unknown): (readonly string[])[] {
  if (Array.isArray(value)) return value.flatMap(inValue)
  if (typeof value !== 'string') return []
  return (piecesOf(value) ?? []).flatMap((piece) => (typeof piece === 'string' ? [] : [piece.path]))
}
