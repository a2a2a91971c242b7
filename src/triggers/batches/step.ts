import {
  type Ready,
  readAudience,
  resolveTargets,
  type SegmentOf,
  type StoredAudience
} from '../../campaigns/campaigns.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { firstUser, matchBatch, type Place, type SegmentAt } from '../../segments/segments.ts'
import type { TriggerOutcome } from '../store.ts'
import type { Skip } from './batch-store.ts'
import { devicesReached, type RunningTrigger, sliceTargets } from './expansion-store.ts'

/** Small enough that other jobs get a turn, large enough that the fixed cost of a batch does not matter. */
export const batchDevices = 1_000
/** Devices of a broadcast's first batch: the first push does not wait until a thousand are found, rendered and written. */
const firstBatchDevices = 100
/** Batches that one step plans at most. */
export const batchesPerStep = 4
/** Devices that one step finds at most. */
export const mostFound = batchesPerStep * batchDevices
const targetsPerStep = 200
/** The users that one step examines. */
export const usersPerStep = { least: 500, first: 2_000, most: 20_000 }

/**
 * The users of the next step, after so many users of this one had so many devices: each step has a fixed cost, so it
 * examines as many as will nearly fill it, and at most twice as many as before.
 */
export const widened = (users: number, found: number) =>
  Math.max(usersPerStep.first, Math.min(users * 2, Math.floor((users * mostFound * 0.9) / Math.max(1, found))))

/** The devices that one step found, and the cursor of the next step. */
export interface Step {
  deviceIds: string[]
  /** For each device the place of its target, if targets have properties of their own. */
  places?: number[]
  skips: Skip[]
  cursor: string
  outcome: TriggerOutcome | null
  reason: string | null
}

const noDevices = (cursor: string, reason: string): Step => ({
  deviceIds: [],
  skips: [],
  cursor,
  outcome: 'completed',
  reason
})

/** Finds the next devices of an audience. */
export async function nextStep(
  pool: Pool,
  projectId: ProjectId,
  trigger: RunningTrigger,
  { definition: { default_audience }, segmentFor, segmentsFor }: Ready,
  users: number,
  room: number
): Promise<Step> {
  const byDefault = trigger.audience === 'default' && default_audience ? readAudience(default_audience) : null
  if (trigger.audience === 'default' && !byDefault) return noDevices('', 'no_audience')
  if (trigger.audience !== 'broadcast' && !(byDefault && 'broadcast' in byDefault))
    return nextTargets(pool, projectId, trigger, segmentsFor(trigger), byDefault)
  const devices = trigger.cursor === '' ? firstBatchDevices : Math.min(room, batchesPerStep) * batchDevices
  return nextUsers(pool, projectId, trigger, segmentFor(trigger), users, devices)
}

async function nextUsers(
  pool: Pool,
  projectId: ProjectId,
  { cursor }: RunningTrigger,
  segment: SegmentAt,
  users: number,
  devices: number
): Promise<Step> {
  if (segment(1).matchesNone) return noDevices(cursor, 'missing_trigger_property')
  const { deviceIds, next } = await matchBatch(pool, projectId, segment, placeOf(cursor), users, devices)
  return {
    deviceIds,
    skips: [],
    cursor: next ? cursorOf(next) : cursor,
    outcome: next ? null : 'completed',
    reason: null
  }
}

async function nextTargets(
  pool: Pool,
  projectId: ProjectId,
  { id, cursor, target_properties, source }: RunningTrigger,
  segmentOf: SegmentOf,
  byDefault: StoredAudience | null
): Promise<Step> {
  const from = Number(cursor)
  const to = from + targetsPerStep
  const { length, targets } =
    byDefault && 'targets' in byDefault
      ? { length: byDefault.targets.length, targets: byDefault.targets.slice(from, to) }
      : await sliceTargets(pool, projectId, id, from, to)
  const { skips, ...found } = await resolveTargets(pool, projectId, segmentOf, targets)
  const reached = target_properties ? await placed(pool, projectId, id, from, found) : { deviceIds: found.deviceIds }
  return {
    ...reached,
    skips: skips.filter(({ reason }) => !isElsewhere(source, reason)).map((skip) => ({ ...skip, triggerId: id })),
    cursor: String(to),
    outcome: to >= length ? 'completed' : null,
    reason: null
  }
}

/** Targets of an occurrence at local time are in one of its many zones: the triggers of the others do not list them. */
const isElsewhere = (source: RunningTrigger['source'], reason: string): boolean =>
  source?.local !== undefined && reason === 'not_in_segment'

/** The devices that no earlier step reached, each with the place of its target: the first target of a device wins. */
async function placed(
  pool: Pool,
  projectId: ProjectId,
  triggerId: string,
  from: number,
  { deviceIds, places }: { deviceIds: string[]; places: number[] }
) {
  const earlier =
    from > 0 ? await devicesReached(pool, projectId, triggerId, deviceIds) : (new Set() as ReadonlySet<string>)
  const fresh = deviceIds.map((id, index) => [id, from + places[index]!] as const).filter(([id]) => !earlier.has(id))
  return { deviceIds: fresh.map(([id]) => id), places: fresh.map(([, place]) => place) }
}

const cursorOf = ({ user, device }: Place): string => (device === null ? user : `${user} ${device}`)

function placeOf(cursor: string): Place {
  if (cursor === '') return { user: firstUser, device: null }
  return { user: cursor.slice(0, 36), device: cursor.length > 36 ? cursor.slice(37) : null }
}
