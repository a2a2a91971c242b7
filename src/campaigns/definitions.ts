import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { SegmentAt } from './audience-store.ts'
import type { Campaign } from './campaign-shape.ts'
import { Gone } from './ending.ts'
import { type Rendering, renderingOf } from './rendering.ts'
import { compileSegment } from './segment-sql.ts'
import { findVersion } from './store.ts'

/** A version of a campaign, made ready: its templates are parsed once, however many get it. */
export interface Ready {
  definition: Campaign
  rendering: Rendering
  /** Every window of a long broadcast asks the same question: the time is that of the trigger. */
  segmentFor(trigger: { properties: Record<string, unknown>; accepted_at: Date }): SegmentAt
}

export type Definitions = ReturnType<typeof createDefinitions>

/** Versions never change, so this needs no word of changes; it is bounded because there is no end of them. */
const mostKept = 200

export function readyOf(definition: Campaign): Ready {
  return {
    definition,
    rendering: renderingOf(definition),
    segmentFor:
      ({ properties, accepted_at }) =>
      (first, asked) =>
        compileSegment(definition.segment, properties, accepted_at, first, asked)
  }
}

export function createDefinitions(pool: Pool) {
  const kept = new Map<string, Ready>()
  return {
    async get(projectId: ProjectId, campaignId: string, version: number): Promise<Ready> {
      const key = JSON.stringify([projectId, campaignId, version])
      const known = kept.get(key)
      if (known) return known
      const definition = await findVersion(pool, projectId, campaignId, version)
      if (!definition) throw new Gone(`version ${version} of campaign ${campaignId}`)
      const ready = readyOf(definition)
      if (kept.size >= mostKept) kept.delete(kept.keys().next().value!)
      kept.set(key, ready)
      return ready
    }
  }
}
