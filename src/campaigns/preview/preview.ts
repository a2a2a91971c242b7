import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { isTransactional, refusalBy, type TopicDefaults, topicDefaults } from '../../preferences/preferences.ts'
import {
  countBatch,
  countUsersBefore,
  findReach,
  firstUser,
  matchBatch,
  type Place,
  patiently,
  type Respected,
  type SegmentAt,
  SegmentFailed,
  wholeOf
} from '../../segments/segments.ts'
import type { Renderer } from '../../templates/templates.ts'
import { type Choices, visitedOf } from '../../users/users.ts'
import { type ProjectOf, rulesFor } from '../audience/limits.ts'
import { loadRecipients } from '../audience/recipients-store.ts'
import {
  hasOwnProperties,
  readAudience,
  type StoredAudience,
  type StoredTarget,
  type TriggerRequest
} from '../audience/request.ts'
import { resolveTargets, type SegmentOf } from '../audience/targets.ts'
import type { Campaign } from '../definition/definition.ts'
import { type Ready, readyOf, type SegmentTrigger } from '../versions.ts'
import { needsEach, type ReachRules, reachOf, type UsersUnderWay } from './reach.ts'
import { sampleOf } from './sample.ts'
import type { Preview } from './schemas.ts'
import { triggerPropertiesOf } from './trigger-properties.ts'

/** How long a preview evaluates the segment. */
const countMs = 3_000
const usersAtOnce = 10_000
const sampleSize = 50
const targetsAtOnce = 500
/** Devices that are examined together. */
const devicesAtOnce = 2_000
/** Reasons of single devices that are kept: more than a sample can show. */
const mostReasons = 2_000

/** The audience as far as it was counted. */
interface Found {
  users: number
  devices: number
  /** Of these devices, those that get it later, when quiet hours are over. */
  deferred: number
  sample: string[]
  /** The properties that targets give to devices of the sample. */
  own: ReadonlyMap<string, Record<string, unknown>>
  complete: boolean
  /** If the time was too short for everyone: how many users were compared until then. */
  visited?: number
  reason: string | null
  skipped: Record<string, number>
  /** Why devices of the sample would get nothing, as far as they were examined one by one. */
  reasons: Map<string, string>
}

const none = (reason: string | null): Found => ({
  users: 0,
  devices: 0,
  deferred: 0,
  sample: [],
  own: new Map(),
  complete: true,
  reason,
  skipped: {},
  reasons: new Map()
})

interface PreviewOptions {
  pool: Pool
  renderer: Renderer
  projectOf: ProjectOf
  usersUnderWay: UsersUnderWay
}

/** Counts the audience of a trigger and renders a sample, without sending anything. */
export const createPreview =
  ({ pool, renderer, projectOf, usersUnderWay }: PreviewOptions) =>
  async (projectId: ProjectId, definition: Campaign, request: TriggerRequest): Promise<Omit<Preview, 'warnings'>> => {
    const trigger = { properties: request.properties, started_at: new Date() }
    const whole = await wholeOf(pool, projectId, definition.segment)
    const written = whole ? { ...definition, segment: whole.segment } : definition
    const ready = readyOf(renderer, projectId, written, undefined, true)
    const { default_audience } = definition
    const audience = request.audience ?? (default_audience ? readAudience(default_audience) : null)
    const topics = await topicDefaults(pool, projectId, definition.topic === undefined ? [] : [definition.topic])
    const reach = {
      attributesType: definition.live_activity?.attributes_type ?? null,
      ...(!isTransactional(definition) && { respected: respectedBy(definition, topics) }),
      refusalOf: (choices: Choices | null) => refusalBy(choices, definition, topics)
    }
    const project = await rulesFor(projectOf, projectId, definition)
    const each = { ready, trigger, project, topics, usersUnderWay }
    const found = await countAudience(pool, projectId, audience, reach, each)
    const { users, devices, deferred, complete, visited, reason, skipped } = found
    const part = visited ? await visitedOf(pool, projectId, visited) : {}
    return {
      audience: { users, devices, deferred, complete, reason, skipped, ...part },
      trigger_properties: triggerPropertiesOf(written),
      ...(await sampleOf(pool, projectId, ready, trigger, { ...found, refusalOf: reach.refusalOf }))
    }
  }

/**
 * Counts the devices and targets that a trigger concerns, whatever becomes of them, for up to three seconds: what its
 * counter `targeted` comes to.
 */
export async function countConcerned(
  pool: Pool,
  projectId: ProjectId,
  ready: Ready,
  trigger: SegmentTrigger,
  audience: StoredAudience
): Promise<{ devices: number; complete: boolean }> {
  const all = { attributesType: null, refusalOf: () => undefined }
  const count = () =>
    'broadcast' in audience
      ? countEveryone(pool, projectId, ready.segmentFor(trigger), all)
      : countTargets(pool, projectId, ready.segmentsFor(trigger), audience.targets, all, undefined)
  const { devices, skipped, complete } = await count().catch((error: unknown) => {
    if (error instanceof SegmentFailed) return { ...none(error.reason), complete: false }
    throw error
  })
  return { devices: Object.values(skipped).reduce((sum, more) => sum + more, devices), complete }
}

/** What decides whether a message reaches a device. */
interface Reach {
  /** Of the Live Activity that the campaign starts; null if it sends a push. */
  attributesType: string | null
  /** Absent: choices do not count. */
  respected?: Respected
  /** Why a user with these choices does not want the message. */
  refusalOf(choices: Choices | null): string | undefined
}

const respectedBy = ({ topic }: Campaign, topics: TopicDefaults): Respected => ({
  topic: topic ?? null,
  subscribed: topic === undefined || (topics.get(topic) ?? true)
})

async function countAudience(
  pool: Pool,
  projectId: ProjectId,
  audience: StoredAudience | null,
  reach: Reach,
  each: ReachRules
) {
  if (!audience) return none('no_audience')
  const { ready, trigger } = each
  const one = needsEach(each) ? each : undefined
  const segment = ready.segmentFor(trigger)
  if (segment(1).matchesNone && !hasOwnProperties(audience)) return none('missing_trigger_property')
  try {
    return 'broadcast' in audience
      ? one
        ? await examineEveryone(pool, projectId, segment, one)
        : await countEveryone(pool, projectId, segment, reach)
      : await countTargets(pool, projectId, ready.segmentsFor(trigger), audience.targets, reach, one)
  } catch (error) {
    if (error instanceof SegmentFailed) return { ...none(error.reason), complete: false }
    throw error
  }
}

async function countEveryone(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  { attributesType, respected }: Reach
): Promise<Found> {
  const found = none(null)
  const deadline = steadyMs() + countMs
  let visited = 0
  let user: string | null = firstUser
  while (user !== null) {
    if (steadyMs() > deadline) return { ...found, complete: false, visited }
    const from: string = user
    const wanted = { size: usersAtOnce, sampleSize: sampleSize - found.sample.length, attributesType, respected }
    const count = () => countBatch(pool, projectId, segment, from, wanted)
    const { users, devices, unreachable, optedOut, topicOptedOut, sample, next } = await patiently(count, deadline)
    found.users += users
    found.devices += devices
    skip(found, unreachableFor(attributesType), unreachable)
    skip(found, 'opted_out', optedOut)
    skip(found, 'topic_opted_out', topicOptedOut)
    found.sample.push(...sample)
    visited += usersAtOnce
    user = next
  }
  return found
}

async function countTargets(
  pool: Pool,
  projectId: ProjectId,
  segmentOf: SegmentOf,
  targets: StoredTarget[],
  { attributesType, refusalOf }: Reach,
  each: ReachRules | undefined
): Promise<Found> {
  const found = none(null)
  const matching = new Map<string, StoredTarget>()
  const seen = new Set<string>()
  const users = new Set<string>()
  let devices = 0
  const deadline = steadyMs() + countMs
  for (let from = 0; from < targets.length; from += targetsAtOnce) {
    if (steadyMs() > deadline) {
      found.complete = false
      break
    }
    const some = targets.slice(from, from + targetsAtOnce)
    const resolved = await patiently(() => resolveTargets(pool, projectId, segmentOf, some), deadline)
    const fresh = new Map<string, StoredTarget>()
    for (const [index, id] of resolved.deviceIds.entries())
      if (!matching.has(id)) fresh.set(id, some[resolved.places[index]!]!)
    for (const [id, target] of fresh) matching.set(id, target)
    for (const { reason } of resolved.skips) skip(found, reason, 1)
    if (each) {
      const ownOf = (id: string) => fresh.get(id)?.[2]
      devices += await examine(pool, projectId, each, { deviceIds: [...fresh.keys()], ownOf, deadline }, found, users)
      continue
    }
    for (const { id, user_id, ...one } of await findReach(pool, projectId, resolved.deviceIds, attributesType)) {
      if (seen.has(id)) continue
      seen.add(id)
      const reason = refusalOf(one.choices) ?? (one.reached ? undefined : unreachableFor(attributesType))
      if (reason) skip(found, reason, 1)
      else {
        devices += 1
        users.add(user_id)
      }
    }
  }
  const sample = [...matching.keys()].sort().slice(0, sampleSize)
  const own = new Map(sample.map((id) => [id, matching.get(id)![2] ?? {}]))
  return { ...found, users: users.size, devices, sample, own }
}

/** Counts everyone in the segment device by device, as far as the time allows. */
async function examineEveryone(pool: Pool, projectId: ProjectId, segment: SegmentAt, each: ReachRules): Promise<Found> {
  const found = none(null)
  const users = new Set<string>()
  const deadline = steadyMs() + countMs
  let place: Place | null = { user: firstUser, device: null }
  while (place !== null) {
    if (steadyMs() > deadline) found.complete = false
    if (!found.complete) break
    const from: Place = place
    const match = () => matchBatch(pool, projectId, segment, from, usersAtOnce, devicesAtOnce)
    const { deviceIds, next } = await patiently(match, deadline)
    found.devices += await examine(pool, projectId, each, { deviceIds, deadline }, found, users)
    found.sample.push(...deviceIds.slice(0, sampleSize - found.sample.length))
    // A batch for which the time was too short is not counted as visited.
    if (found.complete) place = next
  }
  // A place after a device of a user: this user was visited too.
  const visited = place && (await countUsersBefore(pool, projectId, place.user)) + (place.device === null ? 0 : 1)
  return { ...found, users: users.size, ...(visited && { visited }) }
}

/** Examines devices as sending does, and returns the number of those that would get the message. */
async function examine(
  pool: Pool,
  projectId: ProjectId,
  each: ReachRules,
  {
    deviceIds,
    ownOf,
    deadline
  }: { deviceIds: string[]; ownOf?: (id: string) => Record<string, unknown> | undefined; deadline: number },
  found: Found,
  users: Set<string>
): Promise<number> {
  const loaded = await loadRecipients(pool, projectId, deviceIds)
  const recipients = ownOf ? loaded.map((one) => ({ ...one, own: ownOf(one.device_id) })) : loaded
  const untilMs = Date.now() + Math.max(0, deadline - steadyMs())
  const { reasons, deferred, open } = await reachOf(pool, projectId, each, recipients, untilMs)
  if (open.size > 0) found.complete = false
  let devices = 0
  for (const { device_id: id, user_id } of recipients) {
    if (open.has(id)) continue
    const reason = reasons.get(id)
    if (reason) {
      skip(found, reason, 1)
      if (found.reasons.size < mostReasons) found.reasons.set(id, reason)
      continue
    }
    devices += 1
    users.add(user_id)
    if (deferred.has(id)) found.deferred += 1
  }
  return devices
}

/** The reason that triggers count for devices without an endpoint. */
const unreachableFor = (attributesType: string | null) =>
  attributesType === null ? 'no_push_token' : 'no_live_activity_token'

function skip({ skipped }: Found, reason: string, count: number): void {
  if (count > 0) skipped[reason] = (skipped[reason] ?? 0) + count
}
