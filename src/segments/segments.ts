import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { createCatalog } from './catalog/catalog.ts'
import { checkPatterns } from './check-patterns.ts'
import { parseSegment } from './parse.ts'
import { createSaving, type Users } from './saved/saved.ts'
import { sizesOf } from './saved/sizes.ts'
import { listSizes } from './saved/sizes-store.ts'
import { eraseSavedWindow } from './saved/store.ts'

export { checkPatterns } from './check-patterns.ts'
export { type CompiledSegment, compileSegment } from './compile.ts'
export { createPatternMatcher, eventMatches, type PatternMatcher, patternPairs } from './event-conditions.ts'
export { conditionsOf, explainSegment, failuresOf } from './explain/explain.ts'
export { instantRule } from './instant.ts'
export {
  type AttributeCondition,
  countOperators,
  fixedAttributes,
  operators,
  type Segment,
  segmentLimits
} from './language.ts'
export { parseSegment, readConditions, readSegment } from './parse.ts'
export { referencesIn } from './references.ts'
export { idsIn, refsIn } from './saved/refs.ts'
export { lockSaved } from './saved/store.ts'
export { type Whole, wholeOf } from './saved/whole.ts'
export {
  countBatch,
  countUsersBefore,
  findReach,
  firstUser,
  matchBatch,
  matchDevices,
  matchGroups,
  matchUsers,
  type Place,
  type Respected,
  type SegmentAt,
  SegmentFailed
} from './store.ts'
export { hasReference } from './trigger-reference.ts'
export { patiently, SegmentBusy } from './turns.ts'
export { type InZones, inZones } from './zones.ts'
export type SavedSegments = ReturnType<typeof createSegments>

/** Segments that are saved by name and used in campaigns, with their sizes over time. */
export function createSegments({ pool, campaigns }: { pool: Pool; campaigns: Users }) {
  const { count, countDraft, job } = sizesOf(pool)
  return {
    saving: createSaving(pool, campaigns),
    catalog: createCatalog(pool),

    sizes: {
      count,

      /** Checks a segment that is not saved, and counts it. */
      async countDraft(projectId: ProjectId, segment: unknown, gone: AbortSignal) {
        const checked = parseSegment(segment)
        await checkPatterns(pool, projectId, checked)
        return countDraft(projectId, checked, gone)
      },

      list: (projectId: ProjectId, segmentId: string, before: string | null, limit: number) =>
        listSizes(pool, projectId, segmentId, before, limit)
    },

    jobs: [job],

    /** Deletes up to 500 saved segments of a project that is being erased, and returns how many. */
    eraseWindow: (db: Db, projectId: ProjectId): Promise<number> => eraseSavedWindow(db, projectId)
  }
}
