import { readAudience, type StoredAudience, type StoredTarget, type Versions } from '../../campaigns/campaigns.ts'
import type { Pool } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import { matchDevices, matchUsers, patiently, type SegmentAt, SegmentFailed } from '../../segments/segments.ts'
import { identity } from '../../users/users.ts'
import { loadWork, type Work } from '../batches/batch-store.ts'
import type { Explanation, Gate } from '../schemas.ts'
import { terminal } from '../store.ts'
import { devicesOf, type Message, ofSegment, passed, type Skipped, stopped } from './devices.ts'

const devicesNow = statement(
  'explain.devices',
  'select id from devices where project_id = $1 and user_id = $2 order by last_seen_at desc, id limit 100'
)
const isTarget = statement(
  'explain.is_target',
  `select exists (select 1 from jsonb_array_elements(audience -> 'targets') as t(target) where t.target = any($3::jsonb[]))
     as named from triggers where project_id = $1 and id = $2`
)
const skips = statement(
  'explain.skips',
  `select kind, value, reason from trigger_skips
    where project_id = $1 and trigger_id = $2 and (user_id = $3 or (kind = 'project_user_id' and value = $4))`
)
const messages = statement(
  'explain.messages',
  `select device_id, message_id, state, reason, reason_message from messages
    where project_id = $1 and trigger_id = $2 and user_id = $3`
)

/** How long it waits for a turn to ask the segment. */
const lookMs = 3_000

/** Reasons of a skip that came before the segment was asked. */
const beforeSegment: ReadonlySet<string> = new Set(['unknown_user', 'unknown_device', 'no_device'])

/** Why a user got the message of a trigger, or why not: each gate in order. What is asked now is said to be. */
export const createExplain =
  ({
    pool,
    versions,
    pausedSince
  }: {
    pool: Pool
    versions: Versions
    pausedSince: (projectId: ProjectId) => Promise<Date | null>
  }) =>
  async (projectId: ProjectId, triggerId: string, projectUserId: string): Promise<Explanation | undefined> => {
    const work = await loadWork(pool, projectId, triggerId)
    if (!work) return undefined
    const ready = await versions.get(projectId, work.campaign_id, work.campaign_version)
    const userId = (await identity.idsOf(pool, projectId, [projectUserId])).get(projectUserId) ?? null
    const devices = userId
      ? (await pool.query<{ id: string }>(devicesNow, [projectId, userId])).map(({ id }) => id)
      : []
    const named: StoredTarget[] = [
      ['project_user_id', projectUserId],
      ...(userId ? [['user_id', userId] satisfies StoredTarget] : []),
      ...devices.map((id): StoredTarget => ['device_id', id])
    ]
    const { default_audience } = ready.definition
    const ofDefault = work.audience === 'default' && default_audience ? readAudience(default_audience) : null
    const since = terminal.has(work.state) ? null : await pausedSince(projectId)
    const gates = [...pauseGate(since), await audienceGate(pool, projectId, work, ofDefault, named)]
    const answer = { trigger_id: triggerId, project_user_id: projectUserId, state: work.state }
    if (!userId)
      return {
        ...answer,
        gates: [...gates, stopped('user', 'unknown_user', 'No user has this project_user_id.')],
        devices: []
      }
    const known = await pool.query<Skipped>(skips, [projectId, triggerId, userId, projectUserId])
    const sent = await pool.query<Message>(messages, [projectId, triggerId, userId])
    // What happened then is known where it left a trace; only the rest has to be asked as of now.
    const then = known.find(({ kind }) => kind !== 'device_id')?.reason
    const wentOn = sent.length > 0 || known.some(({ reason }) => !ofSegment.has(reason) && !beforeSegment.has(reason))
    const asOfNow = () => segmentGate(pool, projectId, ready.segmentFor(work), userId, devices)
    gates.push(userGate(then), segmentThen(then, wentOn) ?? (await asOfNow()), deviceGate(then, devices.length, wentOn))
    const ids = [...new Set([...devices, ...sent.map(({ device_id }) => device_id)])]
    return { ...answer, gates, devices: await devicesOf(pool, projectId, { work, ready, ids, skips: known, sent }) }
  }

/** Only where it holds something back. */
const pauseGate = (since: Date | null): Gate[] =>
  since === null
    ? []
    : [stopped('project', 'project_paused', `The project is paused since ${since.toISOString()}: nothing is sent now.`)]

async function audienceGate(
  pool: Pool,
  projectId: ProjectId,
  work: Work,
  ofDefault: StoredAudience | null,
  named: StoredTarget[]
): Promise<Gate> {
  if (work.audience === 'broadcast') return passed('audience', 'It was a broadcast.')
  if (work.audience === 'default' && !ofDefault)
    return stopped('audience', 'no_audience', 'The trigger had no audience, and the campaign has no default one.')
  if (ofDefault && 'broadcast' in ofDefault) return passed('audience', 'The default audience is a broadcast.')
  const texts = named.map((target) => JSON.stringify(target))
  const found = ofDefault
    ? ofDefault.targets.some((target) => texts.includes(JSON.stringify(target)))
    : (await pool.one<{ named: boolean }>(isTarget, [projectId, work.id, texts]))?.named === true
  return found
    ? passed('audience', 'The user, or a device of the user, was named as a target.')
    : stopped('audience', 'not_targeted', 'Neither the user nor a device of the user was named as a target.')
}

const userGate = (then: string | undefined): Gate =>
  then === 'unknown_user'
    ? stopped('user', then, 'There was no such user when it was sent.')
    : passed('user', 'The user exists.')

function segmentThen(then: string | undefined, wentOn: boolean): Gate | undefined {
  if (then !== undefined && ofSegment.has(then))
    return stopped('segment', then, 'The segment did not match the user when it was sent.')
  return wentOn ? passed('segment', 'It matched when it was sent.') : undefined
}

function deviceGate(then: string | undefined, devices: number, wentOn: boolean): Gate {
  if (then === 'no_device') return stopped('device', then, 'The user had no device when it was sent.')
  return devices > 0 || wentOn
    ? passed('device', devices === 1 ? 'The user has a device.' : `The user has ${devices} devices.`)
    : stopped('device', 'no_device', 'The user has no device.')
}

async function segmentGate(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  userId: string,
  devices: string[]
): Promise<Gate> {
  const { nobody, usesDevice } = segment(1)
  if (nobody)
    return stopped(
      'segment',
      'missing_trigger_property',
      'The segment refers to a property that the trigger does not have.'
    )
  const look = () =>
    usesDevice ? matchDevices(pool, projectId, segment, devices) : matchUsers(pool, projectId, segment, [userId])
  const matching = await patiently(look, steadyMs() + lookMs).catch((error: unknown) => {
    // As it failed the trigger, so it fails here.
    if (error instanceof SegmentFailed) return error
    throw error
  })
  if (matching instanceof SegmentFailed)
    return stopped('segment', matching.reason, 'The segment cannot be asked: it takes too long, or fails.')
  return matching.size > 0
    ? passed('segment', usesDevice ? `${matching.size} of the devices match now.` : 'The user matches now.')
    : stopped('segment', 'not_in_segment', 'The segment does not match the user as it is now.')
}
