import type { Segment } from '../../segments/segments.ts'

/** A segment in the words of Tidings, what could not be said in them, and what a reader must know. */
export interface TranslatedSegment {
  segment: Segment
  problems: string[]
  notes: string[]
}

/**
 * Stands for a condition that cannot be translated: it matches no one. Leaving the condition out instead could send a
 * message to everyone.
 */
export const noOne: Segment = { any: [] }

/** A condition as it comes from a translation; its names are checked when the segment is saved. */
export const condition = (attribute: string, operator: string, value?: unknown): Segment =>
  ({ attribute, operator, ...(value !== undefined && { value }) }) as Segment

/** Collects what a translation cannot do, and what it did with a reservation. */
export class Remarks {
  readonly problems: string[] = []
  readonly notes = new Set<string>()

  cannot(about: string, reason: string): Segment {
    this.problems.push(`${about}: ${reason}`)
    return noOne
  }
}

export const grouped = (word: 'all' | 'any', parts: Segment[]): Segment =>
  parts.length === 1 ? parts[0]! : word === 'all' ? { all: parts } : { any: parts }
