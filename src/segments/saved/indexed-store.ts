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

const countUpTo = statement(
  'segments.indexed_users',
  `select count(*)::int as users from (select 1 ${among('$3')} limit $4) found`
)

/** How many users have the value, counted up to a limit. The index may still name users that had it a moment ago. */
export const usersWithValue = async (
  pool: Pool,
  projectId: ProjectId,
  { propertyId, value }: IndexedCondition,
  limit: number
): Promise<number> =>
  (await pool.one<{ users: number }>(countUpTo, [projectId, propertyId, JSON.stringify(value), limit]))!.users

export interface IndexedCount {
  users: number
  reachable_users: number
  devices: number
  /** The last user of this batch; null after the last batch. */
  last: string | null
}

/**
 * Counts the users of a batch that the index names, and compares each with the whole segment. Users and devices are looked up
 * one by one (`offset 0`): a join might read all users of the project instead.
 */
export async function countIndexed(
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  { propertyId, value }: IndexedCondition,
  after: string,
  size: number
): Promise<IndexedCount> {
  const { condition, values, usesDevice } = segment(6)
  const [row] = await evaluate<IndexedCount & { seen: number }>(
    pool,
    projectId,
    `with v as materialized (select v.user_id ${among('$3')} and v.user_id > $4 order by v.user_id limit $5)
     select count(distinct u.id)::int as users, (count(distinct u.id) filter (where d.reached))::int as reachable_users,
            (count(*) filter (where d.reached))::int as devices,
            (select v.user_id from v order by v.user_id desc limit 1) as last, (select count(*)::int from v) as seen
       from v cross join lateral (select * from users u where u.project_id = $1 and u.id = v.user_id offset 0) u
       ${usesDevice ? 'cross' : 'left'} join lateral (
         select d.*, ${isReachable('null')} as reached from devices d where d.project_id = $1 and d.user_id = u.id offset 0
       ) d ${usesDevice ? '' : 'on true'}
      where ${condition}`,
    [projectId, propertyId, JSON.stringify(value), after, size, ...values]
  )
  return { ...row!, last: row!.seen < size ? null : row!.last }
}
