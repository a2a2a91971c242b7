import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { type CompiledSegment, compileSegment, type SegmentAt } from '../segments/segments.ts'
import type { Renderer, Rendering } from '../templates/templates.ts'
import type { Campaign } from './definition/definition.ts'
import { findVersion } from './store.ts'

/** A version that a trigger refers to does not exist: its project is being erased. */
export class CampaignErased extends Error {
  override readonly name = 'CampaignErased'
}

/** A version of a campaign, made ready. */
export interface Ready {
  definition: Campaign
  rendering: Rendering
  /** Every window of a long broadcast asks the same question: the time is that of the trigger. */
  segmentFor(trigger: { properties: Record<string, unknown>; accepted_at: Date }): SegmentAt
}

export type Versions = ReturnType<typeof createVersions>

/** Versions never change, so this needs no word of changes; it is bounded because there is no end of them. */
const mostKept = 200

/** `key` names the version where there is one. */
export function readyOf(renderer: Renderer, projectId: ProjectId, definition: Campaign, key?: string): Ready {
  return {
    definition,
    rendering: renderer.of(projectId, definition, key),
    segmentFor: ({ properties, accepted_at }) => {
      // Each target that does not match asks again why, and a trigger may have brought long lists.
      const known = new Map<string, CompiledSegment>()
      return (first, asked) => {
        const question = `${first} ${asked?.devices} ${asked?.events}`
        const compiled =
          known.get(question) ?? compileSegment(definition.segment, properties, accepted_at, first, asked)
        known.set(question, compiled)
        return compiled
      }
    }
  }
}

export function createVersions(pool: Pool, renderer: Renderer) {
  const kept = new Map<string, Ready>()
  return {
    async get(projectId: ProjectId, campaignId: string, version: number): Promise<Ready> {
      const key = JSON.stringify([projectId, campaignId, version])
      const known = kept.get(key)
      if (known) return known
      const definition = await findVersion(pool, projectId, campaignId, version)
      if (!definition) throw new CampaignErased(`version ${version} of campaign ${campaignId}`)
      const ready = readyOf(renderer, projectId, definition, key)
      if (kept.size >= mostKept) kept.delete(kept.keys().next().value!)
      kept.set(key, ready)
      return ready
    }
  }
}
