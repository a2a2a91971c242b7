import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { type CompiledSegment, compileSegment, inZones, referencesIn, type SegmentAt } from '../segments/segments.ts'
import type { Renderer, Rendering } from '../templates/templates.ts'
import type { StoredTarget } from './audience/request.ts'
import type { SegmentOf } from './audience/targets.ts'
import type { Campaign } from './definition/definition.ts'
import { zonesFor } from './schedule/occurrences.ts'
import { findVersion } from './store.ts'
import { heldOutOf, type Texts, textsOf } from './texts/choosing.ts'

/** A version that a trigger refers to does not exist: its project is being erased. */
export class CampaignErased extends Error {
  override readonly name = 'CampaignErased'
}

/** A version of a campaign, ready to be sent. */
export interface Ready {
  definition: Campaign
  /** The texts of a step, and how they are rendered. Null: those of a campaign without steps, or of its first step. */
  texts(step: string | null | undefined): Texts & { rendering: Rendering }
  /** Whether a user belongs to the holdout. Undefined: the campaign has none. */
  heldOut: ((userId: string) => boolean) | undefined
  /** Every batch of a long broadcast evaluates the same condition: its time is that of the trigger. */
  segmentFor(trigger: SegmentTrigger): SegmentAt
  /** The segment for each target of a trigger: its own properties count in conditions that refer to the trigger. */
  segmentsFor(trigger: SegmentTrigger): SegmentOf
}

/** The facts of a trigger that its segment depends on. */
export interface SegmentTrigger {
  properties: Record<string, unknown>
  started_at: Date
  /** An occurrence at the local time of users is for users of some zones. */
  source?: Readonly<Record<string, unknown>> | null
}

export type Versions = ReturnType<typeof createVersions>

/** Versions never change, so the cache needs no invalidation, only a limit. */
const maxCached = 200

/** `key` names a saved version; a draft has none. `watch`: missing values are reported, whatever the campaign says. */
export function readyOf(
  renderer: Renderer,
  projectId: ProjectId,
  definition: Campaign,
  key?: string,
  watch?: true
): Ready {
  const steps = new Map<string | null, Texts & { rendering: Rendering }>()
  const segmentFor = (trigger: SegmentTrigger): SegmentAt => {
    const narrowed = zonesFor(definition.schedule, trigger.source)
    return narrowed ? inZones(wholeSegment(trigger), narrowed) : wholeSegment(trigger)
  }
  const wholeSegment = ({ properties, started_at }: SegmentTrigger): SegmentAt => {
    // Compiled once: each target that does not match asks for the condition, and a trigger may carry long lists.
    const known = new Map<string, CompiledSegment>()
    return (first, scope) => {
      const variant = `${first} ${scope?.checked} ${scope?.devices} ${scope?.events} ${scope?.postpones}`
      const compiled = known.get(variant) ?? compileSegment(definition.segment, properties, started_at, first, scope)
      known.set(variant, compiled)
      return compiled
    }
  }
  let names: string[] | undefined
  /** The names of the trigger's properties that the segment refers to. */
  const namesInSegment = () => (names ??= [...new Set(referencesIn(definition.segment).map(([name]) => name!))])
  return {
    definition,
    texts(step = null) {
      const known = steps.get(step)
      if (known) return known
      const texts = textsOf(definition, step, watch)
      const name = key !== undefined && texts.step !== null ? `${key} ${texts.step}` : key
      const made = { ...texts, rendering: renderer.of(projectId, texts.source, name) }
      steps.set(step, made)
      return made
    },
    heldOut: heldOutOf(definition),
    segmentFor,
    segmentsFor(trigger) {
      const plain = segmentFor(trigger)
      const wanted = namesInSegment()
      const own = new Map<StoredTarget, SegmentAt>()
      return (target) => {
        const [, , properties] = target
        if (!properties || !wanted.some((name) => Object.hasOwn(properties, name))) return plain
        const known =
          own.get(target) ?? segmentFor({ ...trigger, properties: picked(wanted, properties, trigger.properties) })
        own.set(target, known)
        return known
      }
    }
  }
}

/**
 * The properties of these names, each from the first that has it. Copying all of them for each target would take seconds: a
 * trigger may have tens of thousands of names, and as many targets.
 */
function picked(names: string[], ...from: Record<string, unknown>[]): Record<string, unknown> {
  const found = names.flatMap((name) => {
    const one = from.find((properties) => Object.hasOwn(properties, name))
    return one ? [[name, one[name]] as const] : []
  })
  return Object.fromEntries(found)
}

export function createVersions(pool: Pool, renderer: Renderer) {
  const cached = new Map<string, Ready>()
  return {
    async get(projectId: ProjectId, campaignId: string, version: number): Promise<Ready> {
      const key = JSON.stringify([projectId, campaignId, version])
      const known = cached.get(key)
      if (known) return known
      const definition = await findVersion(pool, projectId, campaignId, version)
      if (!definition) throw new CampaignErased(`version ${version} of campaign ${campaignId}`)
      const ready = readyOf(renderer, projectId, definition, key)
      if (cached.size >= maxCached) cached.delete(cached.keys().next().value!)
      cached.set(key, ready)
      return ready
    }
  }
}
