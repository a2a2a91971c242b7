import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { matchDevices, type SegmentAt } from '../../segments/segments.ts'
import { findNamed, type Named } from './recipients-store.ts'
import type { StoredTarget, TargetKind } from './request.ts'

/** A target that leads to no message. */
export interface SkippedTarget {
  kind: TargetKind
  value: string
  reason: string
  /** Null: no such user. */
  userId: string | null
}

export interface Resolved {
  deviceIds: string[]
  /** The users of these devices. */
  userIds: string[]
  /** Targets that lead to no message, each with its reason. */
  skips: SkippedTarget[]
}

/** The targets of one trigger, and the segment that limits them. */
export interface Wanted {
  segment: SegmentAt
  targets: StoredTarget[]
}

const unknown: Record<TargetKind, string> = {
  project_user_id: 'unknown_user',
  user_id: 'unknown_user',
  device_id: 'unknown_device'
}

export const resolveTargets = async (
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  targets: StoredTarget[]
): Promise<Resolved> => (await resolveMany(pool, projectId, [{ segment, targets }]))[0]!

/**
 * Contract 4.4, rules 2, 4 and 6: finds the devices of targets that match the segment. A target that leads to no message
 * counts as one skipped, with a reason. Several triggers are looked up together, and equal segments are evaluated once.
 */
export async function resolveMany(pool: Pool, projectId: ProjectId, wanted: Wanted[]): Promise<Resolved[]> {
  const named = new Map(wanted.flatMap(({ targets }) => targets.map((target) => [keyOf(...target), target])))
  const rows = named.size > 0 ? await findNamed(pool, projectId, [...named.values()]) : []
  const found = Map.groupBy(rows, ({ kind, value }) => keyOf(kind, value))
  const leadsOf = ({ targets }: Wanted) => targets.flatMap((target) => found.get(keyOf(...target)) ?? [])
  const bySegment = Map.groupBy(wanted, ({ segment }) => {
    const { condition, values } = segment(1)
    return JSON.stringify([condition, values])
  })
  const matching = new Map<Wanted, Set<string>>()
  for (const alike of bySegment.values()) {
    const candidates = new Set(alike.flatMap(leadsOf).flatMap(({ device_id }) => device_id ?? []))
    const matched = await matchingOf(pool, projectId, alike[0]!.segment, candidates)
    for (const one of alike) matching.set(one, matched)
  }
  return wanted.map((one) => resolved(one, leadsOf(one), found, matching.get(one)!))
}

function resolved(
  { segment, targets }: Wanted,
  leads: Named[],
  found: Map<string, Named[]>,
  matching: Set<string>
): Resolved {
  const hits = leads.filter(({ device_id }) => device_id !== null && matching.has(device_id))
  const skips = targets.flatMap(([kind, value]): SkippedTarget[] => {
    const own = found.get(keyOf(kind, value))
    const reason = reasonOf(kind, own, matching, segment)
    return reason ? [{ kind, value, reason, userId: own?.[0]?.user_id ?? null }] : []
  })
  return {
    deviceIds: [...new Set(hits.map(({ device_id }) => device_id!))],
    userIds: hits.map(({ user_id }) => user_id),
    skips
  }
}

async function matchingOf(pool: Pool, projectId: ProjectId, segment: SegmentAt, candidates: Set<string>) {
  const { matchesNone, condition } = segment(1)
  if (matchesNone || candidates.size === 0) return new Set<string>()
  // Everyone is in the segment: it need not be evaluated.
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
  return segment(1).matchesNone ? 'missing_trigger_property' : 'not_in_segment'
}

const keyOf = (kind: TargetKind, value: string) => `${kind} ${value}`
