import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type Segment, segmentLimits } from '../language.ts'
import { idsIn, type Known, writeOut } from './refs.ts'
import { loadSaved } from './store.ts'

/** A segment with its saved segments written out. */
export interface Whole {
  segment: Segment
  /** The saved segments in it, by way of others too. */
  refs: string[]
}

/** Loads the saved segments that segments refer to, by way of others too. `given` ones are not read. */
export async function loadKnown(
  db: Db,
  projectId: ProjectId,
  segments: Segment[],
  given: Known = new Map()
): Promise<Known> {
  const known = new Map<string, Segment>()
  let wanted = segments.flatMap(idsIn)
  for (let level = 0; level <= segmentLimits.refs && wanted.length > 0; level += 1) {
    const missing = [...new Set(wanted)].filter((id) => !known.has(id))
    const own = missing.flatMap((id) => (given.has(id) ? [[id, given.get(id)!] as const] : []))
    const loaded = await loadSaved(
      db,
      projectId,
      missing.filter((id) => !given.has(id))
    )
    for (const [id, segment] of [...own, ...loaded]) known.set(id, segment)
    wanted = missing.flatMap((id) => (known.has(id) ? idsIn(known.get(id)!) : []))
  }
  return known
}

/** Writes the saved segments of a segment out; undefined if it refers to none. Throws a refusal with paths. */
export async function wholeOf(db: Db, projectId: ProjectId, segment: Segment): Promise<Whole | undefined> {
  if (idsIn(segment).length === 0) return undefined
  const known = await loadKnown(db, projectId, [segment])
  return { segment: writeOut(segment, known), refs: [...known.keys()].sort() }
}
