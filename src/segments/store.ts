import type { Db, Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { inParts } from '../platform/parts.ts'
import type { Choices } from '../users/users.ts'
import type { PostponedCheck, Scope } from './compare.ts'
import type { CompiledSegment } from './compile.ts'
import { limitStatementTime } from './pattern-store.ts'
import { createTurns } from './turns.ts'

/** Compiles a segment to a condition whose placeholders start at a number. */
export type SegmentAt = (firstPlaceholder: number, scope?: Scope) => CompiledSegment

/** PostgreSQL could not evaluate a segment: it takes too long, or has a regular expression that cannot be used. */
export class SegmentFailed extends Error {
  override readonly name = 'SegmentFailed'
  readonly reason: 'segment_too_slow' | 'segment_invalid'

  constructor(reason: 'segment_too_slow' | 'segment_invalid', options: ErrorOptions) {
    super(reason, options)
    this.reason = reason
  }
}

/** Time limit for one batch of users. A hostile expression ends here, and only its own trigger fails. */
const segmentMs = 5_000
export const firstUser = '00000000-0000-0000-0000-000000000000'

const batchEnd = statement(
  'segments.window_end',
  'select id from users where project_id = $1 and id >= $2 order by id offset $3 limit 1'
)
// Forces a merge join over the key indexes of users and devices. Otherwise the planner may sort them, start parallel
// workers for each batch, or, with outdated statistics, look up each user.
const keyOrder = statement(
  'segments.key_order',
  `select set_config('enable_nestloop', 'off', true), set_config('enable_hashjoin', 'off', true),
          set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true),
          set_config('max_parallel_workers_per_gather', '0', true)`
)
export const inTurn = createTurns()

/** Evaluates conditions in turn with others of the project, in limited time. Throws `SegmentFailed`. */
export const evaluate = <Row>(pool: Pool, projectId: ProjectId, text: string, values: unknown[], inKeyOrder = false) =>
  inTurn(projectId, () => evaluateNow<Row>(pool, text, values, inKeyOrder))

async function evaluateNow<Row>(pool: Pool, text: string, values: unknown[], inKeyOrder: boolean): Promise<Row[]> {
  try {
    // One round trip for all statements.
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

/** Start of a batch: this user, after this device of the user. */
export interface Place {
  user: string
  device: string | null
}

export interface Match {
  deviceIds: string[]
  /** Start of the next batch; null after the last one. */
  next: Place | null
}

/**
 * Rows of the project $1 whose user id is at least $2 and less than $3. The planner must not know the second bound: of two
 * ids that its histogram cannot tell apart it expects one user between them, and looks up the events of each. It expects a
 * 200th of users and events between bounds of which it knows one.
 */
const inBatch = (table: string, id: string) =>
  `${table}.project_id = $1 and ${id} >= $2 and ($3::uuid is null or ${id} < (select $3::uuid))`
const usersInBatch = inBatch('u', 'u.id')
const scope: Scope = {
  checked: usersInBatch,
  devices: inBatch('d', 'd.user_id'),
  events: inBatch('e', 'e.user_id')
}
// Plain tables: of a subquery the planner cannot tell that ids are unique, and would keep a copy of each row.
const users = `users u where ${usersInBatch}`
const devices = `devices d where ${scope.devices}`
const devicesAndUsers = `devices d join users u on u.id = d.user_id and ${usersInBatch} where ${scope.devices}`

const findEnd = async (pool: Pool, projectId: ProjectId, user: string, size: number) =>
  (await pool.one<{ id: string }>(batchEnd, [projectId, user, size]))?.id ?? null

/** The rows of a batch, which $1 to $3 describe, that match. Users are joined only if the condition needs them. */
function matched(
  segment: SegmentAt,
  firstPlaceholder: number,
  { needsUser = false, few = false, postpones = false } = {}
) {
  const checked = few ? undefined : scope.checked
  const { condition, postponed, values, usesUser } = segment(firstPlaceholder, { ...scope, checked, postpones })
  return { from: `${usesUser || needsUser ? devicesAndUsers : devices} and ${condition}`, postponed, values }
}

/**
 * Returns the matching devices of a batch of users. The batch is cut by keys first and filtered then: a page of matching
 * devices would make the planner read all users if few match. With `limit` devices the next batch starts after the
 * last of them, within this one.
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
  const find = async (postpones: boolean): Promise<Match> => {
    // A batch this large for its limit follows one of which few matched.
    const { from, postponed, values } = matched(segment, 5, { few: size > 3 * limit, postpones })
    const later = device === null ? '' : `and (d.user_id > $2 or d.id > $${5 + values.length})`
    const checked = postponed.map(({ text }) => text).join(" || e'\\n' || ") || 'null::text'
    // One text for all ids: a row or an element for each costs more than finding it. No id holds a control character.
    const [found] = await evaluate<{ ids: string | null; texts: string | null; last: string | null }>(
      pool,
      projectId,
      `select ids, texts, (select d.user_id from devices d
                     where d.project_id = $1 and devices = $4 and d.id = split_part(ids, e'\\n', -1)) as last
         from (select string_agg(id, e'\\n') as ids, count(*) as devices, string_agg(checked, e'\\n') as texts
                 from (select d.id, ${checked} as checked
                         from ${from} ${later} order by d.user_id, d.id limit $4) found) found`,
      [projectId, user, end, limit, ...values, ...(device === null ? [] : [device])],
      true
    )
    const { ids, texts, last } = found!
    const admitted = ids?.split('\n') ?? []
    const deviceIds = pass(admitted, texts?.split('\n') ?? [], postponed)
    if (deviceIds === undefined) return find(false)
    if (last !== null) return { deviceIds, next: { user: last, device: admitted.at(-1)! } }
    return { deviceIds, next: end === null ? null : { user: end, device: null } }
  }
  return find(true)
}

/** The ids whose texts pass all checks. Undefined if texts have more than one line, so that they cannot be told apart. */
function pass(ids: string[], texts: string[], checks: PostponedCheck[]): string[] | undefined {
  if (checks.length === 0) return ids
  if (texts.length !== ids.length * checks.length) return undefined
  return ids.filter((_, row) => checks.every(({ holds }, place) => holds(texts[row * checks.length + place]!)))
}

export interface Count {
  users: number
  devices: number
  /** Devices that match, but have no token or no permission. */
  unreachable: number
  /** Devices that match, but whose users have opted out, or do not want the topic. */
  optedOut: number
  topicOptedOut: number
  /** The first matching devices. */
  sample: string[]
  /** The first user of the next batch; null after the last one. */
  next: string | null
}

/**
 * Whether a push reaches device `d`, or a Live Activity if `type` names its attributes. `few`: tokens are looked up one by one, where
 * the planner might read those of the whole project.
 */
export const isReachable = (type: string, few = false) =>
  `(d.push_permission and case when ${type}::text is null
     then exists (select 1 from push_tokens t where t.project_id = $1 and t.device_id = d.id and t.dead_since is null
                  ${few ? 'offset 0' : ''})
     else d.platform = 'IOS' and exists (
       select 1 from live_activity_tokens t where t.project_id = $1 and t.device_id = d.id
          and t.attributes_type = ${type} and t.activity_id = '' and t.dead_since is null) end)`

const reachable = statement(
  'segments.reachable',
  `select d.id, d.user_id, u.choices, ${isReachable('$3')} as reached
     from devices d join users u on u.project_id = $1 and u.id = d.user_id
    where d.project_id = $1 and d.id = any($2::text[])`
)

/** For each device, whether a push reaches it, or a Live Activity of `attributesType`, and the choices of its user. */
export const findReach = (db: Db, projectId: ProjectId, deviceIds: string[], attributesType: string | null) =>
  db.query<{ id: string; user_id: string; choices: Choices | null; reached: boolean }>(reachable, [
    projectId,
    deviceIds,
    attributesType
  ])

/** The choices that a count respects: a topic, and whether users who have made no choice receive it. */
export interface Respected {
  topic: string | null
  subscribed: boolean
}

/** Why the user `u` does not want a message of topic $6, which users receive by default if $7 is true. */
const refusal = `case when u.choices @> '{"out": true}' then 'opted_out'
     when not coalesce((u.choices -> 'topics' ->> $6::text)::boolean, $7::boolean) then 'topic_opted_out' end`

/**
 * Counts the matching users and devices of a batch, and returns a few devices as a sample. `respected` is absent where
 * choices do not count, as for transactional messages.
 */
export async function countBatch(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  user: string,
  {
    size,
    sampleSize,
    attributesType,
    respected
  }: { size: number; sampleSize: number; attributesType: string | null; respected?: Respected | undefined }
): Promise<Count> {
  const end = await findEnd(pool, projectId, user, size)
  const { from, values } = matched(segment, 8, { needsUser: respected !== undefined })
  // A fixed order gives the same sample for the same users: people agree to the sample that they saw.
  const order = sampleSize > 0 ? 'order by d.user_id, d.id' : ''
  const [count] = await evaluate<Omit<Count, 'sample' | 'next'> & { sample: string[] | null }>(
    pool,
    projectId,
    `select (count(distinct user_id) filter (where reached and refusal is null))::int as users,
            (count(*) filter (where reached and refusal is null))::int as devices,
            (count(*) filter (where not reached and refusal is null))::int as unreachable,
            (count(*) filter (where refusal = 'opted_out'))::int as "optedOut",
            (count(*) filter (where refusal = 'topic_opted_out'))::int as "topicOptedOut",
            json_agg(id) filter (where place <= $4) as sample
       from (select d.user_id, d.id, ${isReachable('$5')} as reached, row_number() over (${order}) as place,
                    ${respected ? refusal : 'case when $7 then $6::text end'} as refusal
               from ${from}) found`,
    [
      projectId,
      user,
      end,
      sampleSize,
      attributesType,
      respected?.topic ?? null,
      respected?.subscribed ?? false,
      ...values
    ],
    true
  )
  return { ...count!, sample: count!.sample ?? [], next: end }
}

const usersBefore = statement(
  'segments.users_before',
  'select count(*)::int as users from users where project_id = $1 and id < $2'
)

/** How many users come before the start of a batch. */
export const countUsersBefore = async (db: Db, projectId: ProjectId, user: string): Promise<number> =>
  (await db.one<{ users: number }>(usersBefore, [projectId, user]))!.users

/** Counts the users of a batch that match, with or without a device, unless the segment has conditions on devices. */
export async function countUsers(pool: Pool, projectId: ProjectId, segment: SegmentAt, user: string, size: number) {
  const end = await findEnd(pool, projectId, user, size)
  const { condition, values, usesDevice } = segment(4, scope)
  const [counted, from] = usesDevice ? ['distinct u.id', devicesAndUsers] : ['*', users]
  const [row] = await evaluate<{ users: number }>(
    pool,
    projectId,
    `select count(${counted})::int as users from ${from} and ${condition}`,
    [projectId, user, end, ...values],
    usesDevice
  )
  return row!.users
}

/** Returns the devices that match. */
export async function matchDevices(pool: Pool, projectId: ProjectId, segment: SegmentAt, deviceIds: string[]) {
  const { condition, values } = segment(3)
  const rows = await evaluate<{ device_id: string }>(
    pool,
    projectId,
    `select d.id as device_id from devices d join users u on u.project_id = $1 and u.id = d.user_id
      where d.project_id = $1 and d.id = any($2::text[]) and ${condition}`,
    [projectId, deviceIds, ...values]
  )
  return new Set(rows.map(({ device_id }) => device_id))
}

/** Groups that one statement evaluates. */
const groupsAtOnce = 20

/** Returns the devices that match, for each group of devices with a segment of its own. */
export async function matchGroups(
  pool: Pool,
  projectId: ProjectId,
  groups: { segment: SegmentAt; deviceIds: ReadonlySet<string> }[]
): Promise<Set<string>[]> {
  if (groups.length === 1) return [await matchDevices(pool, projectId, groups[0]!.segment, [...groups[0]!.deviceIds])]
  const matched: Set<string>[] = []
  for (const some of inParts(groups, groupsAtOnce)) {
    const values: unknown[] = [projectId]
    const places = new Map<unknown, number>()
    // A long list that a trigger gave all targets is sent once.
    const placeOf = (value: unknown) => {
      const known = places.get(value) ?? values.push(value)
      if (Array.isArray(value)) places.set(value, known)
      return known
    }
    const parts = some.map(({ segment, deviceIds }, place) => {
      const compiled = segment(2)
      const placed = compiled.values.map(placeOf)
      const condition = compiled.condition.replace(/\$([0-9]+)::/g, (_, number) => `$${placed[Number(number) - 2]}::`)
      return `select ${place} as place, d.id as device_id from devices d
        join users u on u.project_id = $1 and u.id = d.user_id
       where d.project_id = $1 and d.id = any($${values.push([...deviceIds])}::text[]) and ${condition}`
    })
    const rows = await evaluate<{ place: number; device_id: string }>(
      pool,
      projectId,
      parts.join(' union all '),
      values
    )
    const found = some.map(() => new Set<string>())
    for (const { place, device_id } of rows) found[place]!.add(device_id)
    matched.push(...found)
  }
  return matched
}

/** Returns the users that match; for segments without conditions on devices. */
export async function matchUsers(pool: Pool, projectId: ProjectId, segment: SegmentAt, userIds: string[]) {
  const { condition, values } = segment(3)
  const rows = await evaluate<{ id: string }>(
    pool,
    projectId,
    `select u.id from users u where u.project_id = $1 and u.id = any($2::uuid[]) and ${condition}`,
    [projectId, userIds, ...values]
  )
  return new Set(rows.map(({ id }) => id))
}
