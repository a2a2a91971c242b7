import {
  type ProjectOf,
  type Ready,
  readAudience,
  rulesFor,
  type StoredAudience,
  type StoredTarget,
  type Versions
} from '../../campaigns/campaigns.ts'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { matchDevices, matchUsers, patiently, type SegmentAt, SegmentFailed } from '../../segments/segments.ts'
import { identity } from '../../users/users.ts'
import { loadTrigger, type RunningTrigger } from '../batches/expansion-store.ts'
import type { Explanation, Gate } from '../schemas.ts'
import { terminal } from '../store.ts'
import { withConditions } from './conditions.ts'
import { explainDevices, segmentReasons } from './devices.ts'
import {
  devicesOf,
  type MessageRow,
  messagesOf,
  namedTargets,
  type SkipRow,
  skipsOf,
  userOfDevice
} from './explain-store.ts'
import { passed, stopped } from './gates.ts'
import { sentences } from './rules.ts'

/** How long an explanation waits for its turn to evaluate the segment. */
const segmentMs = 3_000

/** Targets of one user that are read. */
const mostNamed = 102

/** Reasons of skips that come before the segment. */
const earlierReasons: ReadonlySet<string> = new Set(['unknown_user', 'unknown_device', 'no_device'])

/** Reasons for which a user was left out when the service made a trigger. */
const outsideSteps: Readonly<Record<string, string>> = {
  exited: 'The user had left the campaign by an event before this message was due.',
  not_entered_again: sentences.not_entered_again!
}

/** Traces that a trigger left of one user. */
interface Traces {
  skips: SkipRow[]
  messages: MessageRow[]
  /** The reason why the user was skipped as a whole. */
  userSkip: string | undefined
  /** Whether a device of the user passed the segment. */
  passedSegment: boolean
}

/** The subject of the explanation: a user with all devices, or one device. */
export type Explained = { projectUserId: string } | { deviceId: string }

/** The user in question; null if none is known. The name is null for an anonymous one. */
interface Subject {
  userId: string | null
  name: string | null
  devices: string[]
}

/** Explains why a user or a device received the message of a trigger, or why not: each check in order. */
export const createExplain =
  ({
    pool,
    versions,
    projectOf,
    pausedSince
  }: {
    pool: Pool
    versions: Versions
    projectOf: ProjectOf
    pausedSince: (projectId: ProjectId) => Promise<Date | null>
  }) =>
  async (projectId: ProjectId, triggerId: string, who: Explained): Promise<Found | undefined> => {
    const trigger = await loadTrigger(pool, projectId, triggerId)
    if (!trigger) return undefined
    const ready = await versions.get(projectId, trigger.campaign_id, trigger.campaign_version)
    const { userId, name, devices } = await subjectOf(pool, projectId, who)
    const since = terminal.has(trigger.state) ? null : await pausedSince(projectId)
    const targets: StoredTarget[] = [
      ...(name === null ? [] : [['project_user_id', name] satisfies StoredTarget]),
      ...(userId ? [['user_id', userId] satisfies StoredTarget] : []),
      ...devices.map((id): StoredTarget => ['device_id', id])
    ]
    const isTargeted = trigger.audience === 'targets'
    const named = isTargeted ? await namedTargets(pool, projectId, triggerId, targets, mostNamed) : []
    const gates = [...pauseGates(since), ...scheduleGates(trigger), audienceGate(trigger, ready, targets, named)]
    const head = { trigger_id: triggerId, project_user_id: name, state: trigger.state }
    if (!userId) {
      gates.push(
        'deviceId' in who
          ? stopped('device', 'unknown_device', 'No device has this id.')
          : stopped('user', 'unknown_user', 'No user has this project_user_id.')
      )
      return { ...head, gates, devices: [] }
    }
    const traces = await findTraces(pool, projectId, triggerId, { userId, name, devices }, 'deviceId' in who)
    const { userSkip, skips, messages } = traces
    const outside = userSkip === undefined ? undefined : outsideSteps[userSkip]
    if (outside) return { ...head, gates: [...pauseGates(since), stopped('audience', userSkip!, outside)], devices: [] }
    // Traces show what happened then; only without them the segment is evaluated as of now.
    const segment =
      pastSegmentGate(traces) ??
      (await segmentGate(pool, projectId, segmentsOf(ready, trigger, named), userId, devices, trigger.source?.local))
    const inWords = await withConditions(pool, projectId, segment, { trigger, ready, userId, devices, named })
    gates.push(userGate(userSkip), inWords, deviceGate(traces, devices.length))
    const project = await rulesFor(projectOf, projectId, ready.definition)
    const canceled = trigger.outcome === 'canceled' && gates.every((gate) => gate.passed)
    const ids = [...new Set([...devices, ...messages.map(({ device_id }) => device_id)])]
    return {
      ...head,
      gates,
      devices: await explainDevices(pool, projectId, { trigger, ready, ids, skips, messages, named, project, canceled })
    }
  }

/** The `project_user_id` of an anonymous user is null. */
type Found = Omit<Explanation, 'project_user_id'> & { project_user_id: string | null }

async function subjectOf(pool: Pool, projectId: ProjectId, who: Explained): Promise<Subject> {
  if ('deviceId' in who) {
    const userId = await userOfDevice(pool, projectId, who.deviceId)
    if (userId === undefined) return { userId: null, name: null, devices: [who.deviceId] }
    const name = (await identity.namesOf(pool, projectId, [userId])).get(userId) ?? null
    return { userId, name, devices: [who.deviceId] }
  }
  const name = who.projectUserId
  const userId = (await identity.idsOf(pool, projectId, [name])).get(name) ?? null
  return { userId, name, devices: userId ? await devicesOf(pool, projectId, userId) : [] }
}

/** `only`: leaves out other devices of the user. */
async function findTraces(
  pool: Pool,
  projectId: ProjectId,
  triggerId: string,
  { userId, name, devices }: Subject & { userId: string },
  only: boolean
): Promise<Traces> {
  const isOurs = (id: string) => !only || devices.includes(id)
  const all = await skipsOf(pool, projectId, triggerId, userId, name)
  const skips = all.filter(({ kind, value }) => kind !== 'device_id' || isOurs(value))
  const messages = (await messagesOf(pool, projectId, triggerId, userId)).filter(({ device_id }) => isOurs(device_id))
  const later = skips.some(({ reason }) => !segmentReasons.has(reason) && !earlierReasons.has(reason))
  const userSkip = skips.find(({ kind }) => kind !== 'device_id')?.reason
  return { skips, messages, userSkip, passedSegment: messages.length > 0 || later }
}

/** One check while the project is paused, none otherwise. */
const pauseGates = (since: Date | null): Gate[] =>
  since === null
    ? []
    : [stopped('project', 'project_paused', `The project is paused since ${since.toISOString()}: nothing is sent now.`)]

/** One check for a trigger that waits for its time, or whose campaign was not active then. */
function scheduleGates({ state, due_at, reason }: RunningTrigger): Gate[] {
  if (state === 'scheduled')
    return [
      stopped(
        'schedule',
        'not_due',
        `The trigger is sent at ${due_at?.toISOString()}: what follows is checked again then.`
      )
    ]
  if (reason === 'campaign_not_active')
    return [stopped('schedule', reason, 'The campaign was not active when the trigger was due, so it was canceled.')]
  if (reason === 'discarded')
    return [stopped('schedule', reason, 'The trigger was canceled by resume --discard, after a restore.')]
  return []
}

function audienceGate(
  trigger: RunningTrigger,
  { definition: { default_audience } }: Ready,
  targets: StoredTarget[],
  named: StoredTarget[]
): Gate {
  if (trigger.audience === 'broadcast') return passed('audience', 'The trigger is a broadcast.')
  const byDefault = trigger.audience === 'default' && default_audience ? readAudience(default_audience) : null
  if (trigger.audience === 'default' && !byDefault)
    return stopped('audience', 'no_audience', 'Neither the trigger nor the campaign has an audience.')
  if (byDefault && 'broadcast' in byDefault)
    return passed('audience', 'The default audience of the campaign is a broadcast.')
  const found = byDefault ? names(byDefault, targets) : named.length > 0
  return found
    ? passed('audience', 'The audience names the user, or a device of the user.')
    : stopped('audience', 'not_targeted', 'The audience names neither the user nor a device of the user.')
}

function names(audience: StoredAudience, targets: StoredTarget[]): boolean {
  const texts = new Set(targets.map((target) => JSON.stringify(target)))
  return 'targets' in audience && audience.targets.some((target) => texts.has(JSON.stringify(target)))
}

const userGate = (userSkip: string | undefined): Gate =>
  userSkip === 'unknown_user'
    ? stopped('user', userSkip, 'The user did not exist when the trigger ran.')
    : passed('user', 'The user exists.')

function pastSegmentGate({ userSkip, passedSegment }: Traces): Gate | undefined {
  if (userSkip !== undefined && segmentReasons.has(userSkip))
    return stopped('segment', userSkip, 'The user was not in the segment when the trigger ran.')
  return passedSegment ? passed('segment', 'The user was in the segment when the trigger ran.') : undefined
}

function deviceGate({ userSkip, passedSegment }: Traces, devices: number): Gate {
  if (userSkip === 'no_device') return stopped('device', userSkip, 'The user had no device when the trigger ran.')
  return devices > 0 || passedSegment
    ? passed('device', devices === 1 ? 'The user has a device.' : `The user has ${devices} devices.`)
    : stopped('device', 'no_device', 'The user has no device.')
}

/** The segments by which the trigger may reach the user: one, unless its targets have properties of their own. */
function segmentsOf(ready: Ready, trigger: RunningTrigger, named: StoredTarget[]): SegmentAt[] {
  if (!trigger.target_properties || named.length === 0) return [ready.segmentFor(trigger)]
  return [...new Set(named.map(ready.segmentsFor(trigger)))]
}

async function segmentGate(
  pool: Pool,
  projectId: ProjectId,
  segments: SegmentAt[],
  userId: string,
  devices: string[],
  local: unknown
): Promise<Gate> {
  let gate: Gate | undefined
  for (const segment of segments) {
    gate = await oneSegmentGate(pool, projectId, segment, userId, devices)
    if (gate.passed) break
  }
  const elsewhere = `The user is not in the segment now, or is in a time zone where it was not ${local} then.`
  return gate!.reason === 'not_in_segment' && local !== undefined ? { ...gate!, message: elsewhere } : gate!
}

async function oneSegmentGate(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  userId: string,
  devices: string[]
): Promise<Gate> {
  const { matchesNone, usesDevice } = segment(1)
  if (matchesNone)
    return stopped(
      'segment',
      'missing_trigger_property',
      'The segment refers to a property that the trigger does not have.'
    )
  const evaluate = () =>
    usesDevice ? matchDevices(pool, projectId, segment, devices) : matchUsers(pool, projectId, segment, [userId])
  const matching = await patiently(evaluate, steadyMs() + segmentMs).catch((error: unknown) => {
    if (error instanceof SegmentFailed) return error
    throw error
  })
  if (matching instanceof SegmentFailed)
    return stopped('segment', matching.reason, 'The segment cannot be evaluated: it takes too long, or fails.')
  return matching.size > 0
    ? passed('segment', usesDevice ? `${matching.size} of the devices match now.` : 'The user is in the segment now.')
    : stopped('segment', 'not_in_segment', 'The user is not in the segment now.')
}
