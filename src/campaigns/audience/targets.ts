import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { matchGroups, type SegmentAt, segmentLimits } from '../../segments/segments.ts'
import { findNamed, findNamedReachable, type Named } from './recipients-store.ts'
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
  /** For each device the place of the target that reached it, the first of several. */
  places: number[]
  /** The users of these devices. */
  userIds: string[]
  /** Targets that lead to no message, each with its reason. */
  skips: SkippedTarget[]
}

/** The targets of one trigger, and the segment that limits each of them. */
export interface Wanted {
  segmentOf: SegmentOf
  targets: StoredTarget[]
}

/** The segment of a target: its own properties may change the values of conditions. */
export type SegmentOf = (target: StoredTarget) => SegmentAt

const unknown: Record<TargetKind, string> = {
  project_user_id: 'unknown_user',
  user_id: 'unknown_user',
  device_id: 'unknown_device'
}

export const resolveTargets = async (
  pool: Pool,
  projectId: ProjectId,
  segmentOf: SegmentOf,
  targets: StoredTarget[]
): Promise<Resolved> => (await resolveMany(pool, projectId, [{ segmentOf, targets }]))[0]!

/**
 * Contract 4.4, rules 2, 4 and 6: finds the devices of targets that match the segment. A target that leads to no message
 * counts as one skipped, with a reason. Several triggers are looked up together, and equal segments are evaluated once.
 */
async function resolveMany(pool: Pool, projectId: ProjectId, wanted: Wanted[]): Promise<Resolved[]> {
  return resolveRows(pool, projectId, wanted, await findNamed(pool, projectId, targetsOf(wanted)))
}

/** The same with the recipients, by their devices, of triggers with a few targets. */
export async function resolveReachable(pool: Pool, projectId: ProjectId, wanted: Wanted[]) {
  const { named, recipients } = await findNamedReachable(pool, projectId, targetsOf(wanted))
  return { resolved: await resolveRows(pool, projectId, wanted, named), recipients }
}

const targetsOf = (wanted: Wanted[]): StoredTarget[] => [
  ...new Map(wanted.flatMap(({ targets }) => targets.map((target) => [keyOf(target), target]))).values()
]

async function resolveRows(pool: Pool, projectId: ProjectId, wanted: Wanted[], rows: Named[]): Promise<Resolved[]> {
  const found = Map.groupBy(rows, ({ kind, value }) => keyOf([kind, value]))
  const matchingOf = await findMatching(pool, projectId, wanted, found)
  return wanted.map((one) => resolved(one, found, matchingOf))
}

/** Evaluates the segment of each target on the devices that the target leads to. Equal segments share one evaluation. */
async function findMatching(
  pool: Pool,
  projectId: ProjectId,
  wanted: Wanted[],
  found: Map<string, Named[]>
): Promise<(segment: SegmentAt) => ReadonlySet<string>> {
  const candidatesOf = new Map<SegmentAt, Set<string>>()
  for (const { segmentOf, targets } of wanted)
    for (const target of targets) {
      const segment = segmentOf(target)
      const candidates = candidatesOf.get(segment) ?? new Set()
      candidatesOf.set(segment, candidates)
      for (const { device_id } of found.get(keyOf(target)) ?? []) if (device_id !== null) candidates.add(device_id)
    }
  const lists = new Map<unknown, string>()
  /** A long list is one that a trigger gave its targets together: it is compared as a whole. */
  const shortOf = (value: unknown) => {
    if (!Array.isArray(value) || value.length <= segmentLimits.listLength) return value
    const known = lists.get(value) ?? `list ${lists.size}`
    lists.set(value, known)
    return { known }
  }
  const alike = Map.groupBy(candidatesOf.keys(), (segment) => {
    const { condition, values } = segment(1)
    return JSON.stringify([condition, values.map(shortOf)])
  })
  const groups = [...alike.values()].map((segments) => ({
    segment: segments[0]!,
    deviceIds: new Set(segments.flatMap((segment) => [...candidatesOf.get(segment)!]))
  }))
  const matched = await matchAll(pool, projectId, groups)
  const matching = new Map(
    [...alike.values()].flatMap((segments, index) => segments.map((one) => [one, matched[index]!]))
  )
  return (segment) => matching.get(segment)!
}

interface Group {
  segment: SegmentAt
  deviceIds: Set<string>
}

/** Everyone is in a segment without conditions: it need not be evaluated. */
async function matchAll(pool: Pool, projectId: ProjectId, groups: Group[]): Promise<ReadonlySet<string>[]> {
  const known = groups.map(({ segment, deviceIds }) => {
    const { matchesNone, condition } = segment(1)
    if (matchesNone || deviceIds.size === 0) return new Set<string>()
    return condition === 'true' ? deviceIds : undefined
  })
  const open = groups.filter((_, index) => !known[index])
  const matched = await matchGroups(pool, projectId, open)
  return known.map((one) => one ?? matched.shift()!)
}

function resolved(
  { segmentOf, targets }: Wanted,
  found: Map<string, Named[]>,
  matchingOf: (segment: SegmentAt) => ReadonlySet<string>
): Resolved {
  const placeOf = new Map<string, number>()
  const userIds: string[] = []
  const skips: SkippedTarget[] = []
  for (const [place, target] of targets.entries()) {
    const [kind, value] = target
    const segment = segmentOf(target)
    const matching = matchingOf(segment)
    const leads = found.get(keyOf(target))
    for (const { device_id, user_id } of leads ?? []) {
      if (device_id === null || !matching.has(device_id)) continue
      if (!placeOf.has(device_id)) placeOf.set(device_id, place)
      userIds.push(user_id)
    }
    const reason = reasonOf(kind, leads, matching, segment)
    if (reason) skips.push({ kind, value, reason, userId: leads?.[0]?.user_id ?? null })
  }
  return { deviceIds: [...placeOf.keys()], places: [...placeOf.values()], userIds, skips }
}

function reasonOf(
  kind: TargetKind,
  leads: Named[] | undefined,
  matching: ReadonlySet<string>,
  segment: SegmentAt
): string | undefined {
  if (!leads) return unknown[kind]
  const devices = leads.flatMap(({ device_id }) => device_id ?? [])
  if (devices.length === 0) return 'no_device'
  if (devices.some((id) => matching.has(id))) return undefined
  return segment(1).matchesNone ? 'missing_trigger_property' : 'not_in_segment'
}

const keyOf = ([kind, value]: StoredTarget) => `${kind} ${value}`
