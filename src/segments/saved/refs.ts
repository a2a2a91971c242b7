import { type Detail, Refusal } from '../../platform/errors.ts'
import { type Segment, segmentLimits } from '../language.ts'
import { readSegment } from '../parse.ts'

/** A reference to a saved segment, and where it stands. */
export interface Placed {
  id: string
  path: string
}

/** The saved segments that a segment refers to itself. */
export function refsIn(segment: Segment, path = 'segment'): Placed[] {
  if ('ref' in segment) return [{ id: segment.ref, path: `${path}.ref` }]
  if ('not' in segment) return refsIn(segment.not, `${path}.not`)
  if ('all' in segment) return segment.all.flatMap((inner, index) => refsIn(inner, `${path}.all[${index}]`))
  if ('any' in segment) return segment.any.flatMap((inner, index) => refsIn(inner, `${path}.any[${index}]`))
  return []
}

export const idsIn = (segment: Segment): string[] => [...new Set(refsIn(segment).map(({ id }) => id))]

/** Saved segments by their ids. */
export type Known = ReadonlyMap<string, Segment>

/**
 * Writes the saved segments of a segment out. Throws a refusal that names each reference to a missing one, a circle, or
 * a result that is larger than a segment may be. `own` is the id of the segment itself, if it is a saved one.
 */
export function writeOut(
  segment: Segment,
  known: Known,
  { path = 'segment', own }: { path?: string; own?: string } = {}
): Segment {
  const problems: Detail[] = refsIn(segment, path)
    .filter(({ id }) => !known.has(id) && id !== own)
    .map(({ id, path: place }) => ({ path: place, message: `there is no saved segment "${id}"` }))
  const [missing] = problems
  if (missing) throw refused(problems)
  const room = { nodes: segmentLimits.nodes }
  const whole = replaced(segment, known, own === undefined ? [] : [own], room, path)
  const faults: Detail[] = []
  readSegment(whole, path, faults)
  if (faults.length > 0)
    throw refused(faults.map((fault) => ({ path, message: `with its saved segments: ${fault.message}` })))
  return whole
}

function replaced(segment: Segment, known: Known, trail: string[], room: { nodes: number }, path: string): Segment {
  if (--room.nodes < 0)
    throw refused([
      { path, message: `with its saved segments: must have at most ${segmentLimits.nodes} groups and conditions` }
    ])
  if ('ref' in segment) {
    const { ref } = segment
    if (trail.includes(ref))
      throw refused([{ path, message: `must not lead back to itself: ${[...trail, ref].join(' → ')}` }])
    if (trail.length >= segmentLimits.refs)
      throw refused([{ path, message: `must not refer to saved segments over more than ${segmentLimits.refs} levels` }])
    // A segment that another one refers to cannot be deleted.
    return replaced(known.get(ref) ?? { any: [] }, known, [...trail, ref], room, path)
  }
  const inner = (part: Segment) => replaced(part, known, trail, room, path)
  if ('not' in segment) return { not: inner(segment.not) }
  if ('all' in segment) return { all: segment.all.map(inner) }
  if ('any' in segment) return { any: segment.any.map(inner) }
  return segment
}

const refused = (problems: Detail[]) =>
  new Refusal('invalid_segment', `${problems[0]!.path}: ${problems[0]!.message}`, problems)
