import type { Pool } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { indexedValue } from '../../users/users.ts'
import { evaluate, isReachable, type SegmentAt } from '../store.ts'

/** A value that every user of a segment has, of an indexed property. */
export interface IndexedCondition {
  propertyId: string
  value: string | boolean
}

const among = (value: string) => `from indexed_values v
    where v.project_id = $1 and v.property_id = $2 and v.value = ${indexedValue(`${value}::jsonb`)}`

const starts = statement(
  'segments.indexed_users',
  `select count(*)::int as users, array_agg(user_id order by user_id) filter (where place % $5 = 1) as starts
     from (select v.user_id, row_number() over (order by v.user_id) as place ${among('$3')} order by v.user_id limit $4) v`
)

/** How many users have the value, counted up to a limit, and the first user of each batch of them. */
export interface IndexedUsers {
  users: number
  starts: string[] | null
}

/** The users that have the value. The index may still name users that had it a moment ago. */
export const usersWithValue = async (
  pool: Pool,
  projectId: ProjectId,
  { propertyId, value }: IndexedCondition,
  limit: number,
  batchSize: number
): Promise<IndexedUsers> =>
  (await pool.one<IndexedUsers>(starts, [projectId, propertyId, JSON.stringify(value), limit, batchSize]))!

export interface IndexedCount {
  users: number
  reachable_users: number
  devices: number
}

/**
 * Counts the users from `from` to before `to` that the index names, and compares each with the whole segment. Users and devices
 * are found by an array of keys and joined in the order of these, which costs a third less than looking up one by one.
 */
export async function countIndexed(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  { propertyId, value }: IndexedCondition,
  from: string,
  to: string | null
): Promise<IndexedCount> {
  const { condition, values, usesDevice } = segment(6)
  const named = '(select ids from named)::uuid[]'
  const [row] = await evaluate<IndexedCount>(
    pool,
    projectId,
    `with named as materialized (
       select array_agg(v.user_id) as ids ${among('$3')} and v.user_id >= $4 and ($5::uuid is null or v.user_id < $5))
     select count(distinct u.id)::int as users, (count(distinct u.id) filter (where d.reached))::int as reachable_users,
            (count(*) filter (where d.reached))::int as devices
       from users u ${usesDevice ? '' : 'left'} join (
         select d.*, ${isReachable('null', true)} as reached from devices d where d.project_id = $1 and d.user_id = any(${named})
       ) d on d.user_id = u.id
      where u.project_id = $1 and u.id = any(${named}) and ${condition}`,
    [projectId, propertyId, JSON.stringify(value), from, to, ...values],
    true
  )
  return row!
}
