import { countConcerned, readAudience, type StoredAudience, type Versions } from '../campaigns/campaigns.ts'
import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import { loadTrigger, sliceTargets } from './batches/expansion-store.ts'

/** The devices and targets that a trigger concerns; not complete: the time was too short, and there are more. */
export interface TriggerSize {
  devices: number
  complete: boolean
}

interface Kept {
  until: number
  size: Promise<TriggerSize | undefined>
}

/** The most targets of a trigger. */
const mostTargets = 20_000
const mostKept = 500
/** Pages ask again while a trigger runs, and the audience of a trigger hardly changes meanwhile. */
const keptMs = 600_000
const keptPartMs = 30_000

/** Counts the audience of a running trigger, as of its start. The expansion itself counts batch by batch as it sends. */
export function createSizes(pool: Pool, versions: Versions) {
  const known = new Map<string, Kept>()

  const count = async (projectId: ProjectId, triggerId: string): Promise<TriggerSize | undefined> => {
    const trigger = await loadTrigger(pool, projectId, triggerId)
    if (!trigger) return undefined
    const ready = await versions.get(projectId, trigger.campaign_id, trigger.campaign_version)
    const audience = await audienceOf(pool, projectId, trigger, ready.definition.default_audience)
    return audience ? countConcerned(pool, projectId, ready, trigger, audience) : { devices: 0, complete: true }
  }

  /** Undefined: there is no such trigger. */
  return (projectId: ProjectId, triggerId: string): Promise<TriggerSize | undefined> => {
    const key = `${projectId} ${triggerId}`
    const kept = known.get(key)
    if (kept && kept.until > steadyMs()) return kept.size
    const fresh: Kept = { until: steadyMs() + keptPartMs, size: count(projectId, triggerId) }
    if (known.size >= mostKept) known.delete(known.keys().next().value!)
    known.set(key, fresh)
    fresh.size.then(
      (size) => {
        if (size?.complete) fresh.until = steadyMs() + keptMs
      },
      () => known.delete(key)
    )
    return fresh.size
  }
}

async function audienceOf(
  pool: Pool,
  projectId: ProjectId,
  { id, audience }: NonNullable<Awaited<ReturnType<typeof loadTrigger>>>,
  byDefault: unknown
): Promise<StoredAudience | null> {
  if (audience === 'broadcast') return { broadcast: true }
  if (audience === 'default') return byDefault ? readAudience(byDefault) : null
  return { targets: (await sliceTargets(pool, projectId, id, 0, mostTargets)).targets }
}
