import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { findNamed, matchDevices, type Named, type SegmentAt } from './audience-store.ts'
import type { Skip } from './chunk-store.ts'
import type { StoredTarget, TargetKind } from './trigger-request.ts'

export interface Resolved {
  deviceIds: string[]
  /** Whose devices these are. */
  userIds: string[]
  /** Targets that come to nothing, each with its reason. */
  skips: Skip[]
}

const unknown: Record<TargetKind, string> = {
  project_user_id: 'unknown_user',
  user_id: 'unknown_user',
  device_id: 'unknown_device'
}

/**
 * Contract 4.4, rules 2, 4 and 6: the devices that targets lead to, as far as they match the segment. A target that
 * leads to no message counts as one skipped, and says why.
 */
export async function resolveTargets(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  targets: StoredTarget[]
): Promise<Resolved> {
  const found = Map.groupBy(await findNamed(pool, projectId, targets), ({ kind, value }) => keyOf(kind, value))
  const candidates = new Set([...found.values()].flat().flatMap(({ device_id }) => device_id ?? []))
  const matching = candidates.size === 0 ? candidates : await matchingOf(pool, projectId, segment, candidates)
  const skips = targets.flatMap(([kind, value]): Skip[] => {
    const leads = found.get(keyOf(kind, value))
    const reason = reasonOf(kind, leads, matching, segment)
    return reason ? [{ kind, value, reason, userId: leads?.[0]?.user_id ?? null }] : []
  })
  const leads = [...found.values()].flat()
  const userIds = leads.flatMap(({ user_id, device_id }) => (device_id && matching.has(device_id) ? user_id : []))
  return { deviceIds: [...matching], userIds, skips }
}

async function matchingOf(pool: Pool, projectId: ProjectId, segment: SegmentAt, candidates: Set<string>) {
  const { nobody, condition } = segment(1)
  if (nobody) return new Set<string>()
  // Everyone is in it: nobody has to be asked.
  return condition === 'true' ? candidates : matchDevices(pool, projectId, segment, [...candidates])
}

function reasonOf(
  kind: TargetKind,
  leads: Named[] | undefined,
  matching: Set<string>,
  segment: SegmentAt
): string | undefined {
  if (!leads) return unknown[kind]
  const devices = leads.flatMap(({ device_id }) => device_id ?? [])
  if (devices.length === 0) return 'no_device'
  if (devices.some((id) => matching.has(id))) return undefined
  return segment(1).nobody ? 'missing_trigger_property' : 'not_in_segment'
}

const keyOf = (kind: TargetKind, value: string) => `${kind} ${value}`
