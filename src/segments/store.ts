import type { Db, Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { limitStatementTime } from './check-patterns.ts'
import type { Asked } from './compare.ts'
import type { CompiledSegment } from './compile.ts'
import { createTurns } from './turns.ts'

/** A segment as a condition whose placeholders begin at a number; compiled anew where that differs. */
export type SegmentAt = (firstPlaceholder: number, asked?: Asked) => CompiledSegment

/** The database gave up on a segment: it takes too long, or a regular expression cannot be used. */
export class SegmentFailed extends Error {
  override readonly name = 'SegmentFailed'
  readonly reason: 'segment_too_slow' | 'segment_invalid'

  constructor(reason: 'segment_too_slow' | 'segment_invalid', options: ErrorOptions) {
    super(reason, options)
    this.reason = reason
  }
}

/** What one look at a window of users may take. A hostile expression ends here, and with it only its own trigger. */
const segmentMs = 5_000
export const firstUser = '00000000-0000-0000-0000-000000000000'

const windowEnd = statement(
  'segments.window_end',
  'select id from users where project_id = $1 and id >= $2 order by id offset $3 limit 1'
)
// Users and devices of a window are read by the index of their keys and merged. Left to itself the planner may sort them,
// start other processes for each window, or, when its statistics are out of date, compare each user with each device.
const keyOrder = statement(
  'segments.key_order',
  `select set_config('enable_nestloop', 'off', true), set_config('enable_bitmapscan', 'off', true),
          set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true)`
)
const inTurn = createTurns()

const ask = <Row>(pool: Pool, projectId: ProjectId, text: string, values: unknown[], inKeyOrder = false) =>
  inTurn(projectId, () => askNow<Row>(pool, text, values, inKeyOrder))

async function askNow<Row>(pool: Pool, text: string, values: unknown[], inKeyOrder: boolean): Promise<Row[]> {
  try {
    // One round trip for it all.
    return await pool.transaction(async (tx) => {
      const limited = limitStatementTime(tx, segmentMs)
      const ordered = inKeyOrder ? tx.run(keyOrder) : undefined
      const [rows] = await Promise.all([tx.adhoc<Row>(text, values), limited, ordered, tx.commit()])
      return rows
    })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (code === '57014') throw new SegmentFailed('segment_too_slow', { cause: error })
    if (/^(2201B|22|54)/.test(code)) throw new SegmentFailed('segment_invalid', { cause: error })
    throw error
  }
}

/** Where a window begins: with this user, after this device of it. */
export interface Place {
  user: string
  device: string | null
}

export interface Match {
  deviceIds: string[]
  /** Null after the last one. */
  next: Place | null
}

/** The users that $1 has from $2 to before $3, their devices and their events. */
const ofWindow = (table: string, id: string) =>
  `${table}.project_id = $1 and ${id} >= $2 and ($3::uuid is null or ${id} < $3)`
const asked: Asked = { devices: ofWindow('d', 'd.user_id'), events: ofWindow('e', 'e.user_id') }
const users = `(select * from users u where ${ofWindow('u', 'u.id')} order by u.id offset 0) u`
const devices = `(select * from devices d where ${asked.devices} order by d.user_id offset 0) d`

const findEnd = async (pool: Pool, projectId: ProjectId, user: string, size: number) =>
  (await pool.one<{ id: string }>(windowEnd, [projectId, user, size]))?.id ?? null

/** What matches in a window, for placeholders $1 to $3. Every device has a user: who need not look at users does not. */
function matched(segment: SegmentAt, firstPlaceholder: number) {
  const { condition, values, usesUser } = segment(firstPlaceholder, asked)
  return { from: usesUser ? `${users} join ${devices} on d.user_id = u.id` : devices, condition, values }
}

/**
 * The devices of the users in a window of keys that match. The window is taken first and filtered then: paging over what
 * matches would have the planner read all users for a page of few. At most `limit` devices; where there are as many, the
 * next window begins within this one, after the last of them.
 */
export async function matchBatch(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  { user, device }: Place,
  size: number,
  limit: number
): Promise<Match> {
  const end = await findEnd(pool, projectId, user, size)
  const { from, condition, values } = matched(segment, 6)
  // One row for all of them: a row for each would cost more than to find it.
  const [found] = await ask<{ ids: string[] | null; last: string | null }>(
    pool,
    projectId,
    `select json_agg(id) as ids, (array_agg(user_id))[$5] as last
       from (select d.user_id, d.id from ${from}
              where (d.user_id > $2 or d.id > $4) and ${condition} order by d.user_id, d.id limit $5) found`,
    [projectId, user, end, device ?? '', limit, ...values],
    true
  )
  const { ids, last } = found!
  const deviceIds = ids ?? []
  if (last !== null) return { deviceIds, next: { user: last, device: deviceIds.at(-1)! } }
  return { deviceIds, next: end === null ? null : { user: end, device: null } }
}

export interface Count {
  users: number
  devices: number
  /** Devices that match and that a push cannot reach: they have no token, or no permission. */
  unreachable: number
  /** The first devices that match. */
  sample: string[]
  /** The user with whom the next window begins; null after the last one. */
  next: string | null
}

/** Whether a push reaches device `d`; a Live Activity where `type` names its attributes. */
const isReachable = (type: string) =>
  `(d.push_permission and case when ${type}::text is null
     then exists (select 1 from push_tokens t where t.project_id = $1 and t.device_id = d.id and t.dead_since is null)
     else d.platform = 'IOS' and exists (
       select 1 from live_activity_tokens t where t.project_id = $1 and t.device_id = d.id
          and t.attributes_type = ${type} and t.activity_id = '' and t.dead_since is null) end)`

const reachable = statement(
  'segments.reachable',
  `select d.id, d.user_id from devices d where d.project_id = $1 and d.id = any($2::text[]) and ${isReachable('$3')}`
)

/** Those of the devices that a push reaches. `attributesType`: that a Live Activity of this type reaches. */
export const findReachable = (db: Db, projectId: ProjectId, deviceIds: string[], attributesType: string | null) =>
  db.query<{ id: string; user_id: string }>(reachable, [projectId, deviceIds, attributesType])

/** How many a campaign would reach in a window, and a few of those that match. */
export async function countBatch(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  user: string,
  { size, sampleSize, attributesType }: { size: number; sampleSize: number; attributesType: string | null }
): Promise<Count> {
  const end = await findEnd(pool, projectId, user, size)
  const { from, condition, values } = matched(segment, 6)
  const [count] = await ask<Omit<Count, 'sample' | 'next'> & { sample: string[] | null }>(
    pool,
    projectId,
    `select (count(distinct user_id) filter (where reached))::int as users,
            (count(*) filter (where reached))::int as devices,
            (count(*) filter (where not reached))::int as unreachable,
            json_agg(id) filter (where place <= $4) as sample
       from (select d.user_id, d.id, ${isReachable('$5')} as reached, row_number() over () as place
               from ${from} where ${condition}) found`,
    [projectId, user, end, sampleSize, attributesType, ...values],
    true
  )
  return { ...count!, sample: count!.sample ?? [], next: end }
}

/** Which of these devices match. */
export async function matchDevices(pool: Pool, projectId: ProjectId, segment: SegmentAt, deviceIds: string[]) {
  const { condition, values } = segment(3)
  const rows = await ask<{ device_id: string }>(
    pool,
    projectId,
    `select d.id as device_id from devices d join users u on u.project_id = $1 and u.id = d.user_id
      where d.project_id = $1 and d.id = any($2::text[]) and ${condition}`,
    [projectId, deviceIds, ...values]
  )
  return new Set(rows.map(({ device_id }) => device_id))
}

/** Which of these users match, whatever devices they have; for segments that speak of users only. */
export async function matchUsers(pool: Pool, projectId: ProjectId, segment: SegmentAt, userIds: string[]) {
  const { condition, values } = segment(3)
  const rows = await ask<{ id: string }>(
    pool,
    projectId,
    `select u.id from users u where u.project_id = $1 and u.id = any($2::uuid[]) and ${condition}`,
    [projectId, userIds, ...values]
  )
  return new Set(rows.map(({ id }) => id))
}
