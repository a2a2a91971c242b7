import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { compileEventCount, compileSegment } from '../compile.ts'
import type { AttributeCondition, EventCondition } from '../language.ts'
import { evaluate } from '../store.ts'

export type Leaf = AttributeCondition | EventCondition

/** What the conditions were compared with, for a user and one device, or none. */
export interface Judged {
  device_id: string | null
  passed: boolean[]
  /** The events that each condition counts; null for conditions on attributes. */
  counts: (number | null)[]
  properties: Record<string, unknown>
  project_user_id: string | null
  created_at: Date
  last_seen_at: Date | null
  platform: string | null
  facts: Record<string, string | null> | null
}

/** Events that are counted for one condition. */
export const mostCounted = 1_000

/** Evaluates each condition for itself on a user, once for each device; once without a device if there is none. */
export async function judge(
  pool: Pool,
  projectId: ProjectId,
  leaves: Leaf[],
  { userId, deviceIds }: { userId: string; deviceIds: string[] },
  { properties, now }: { properties: Readonly<Record<string, unknown>>; now: Date }
): Promise<Judged[]> {
  const values: unknown[] = [projectId, userId, deviceIds]
  const passed = leaves.map((leaf) => {
    const compiled = compileSegment(leaf, properties, now, values.length + 1)
    values.push(...compiled.values)
    return compiled.condition
  })
  const counts = leaves.map((leaf) => {
    const compiled =
      'event' in leaf ? compileEventCount(leaf, properties, now, values.length + 1, mostCounted + 1) : null
    values.push(...(compiled?.values ?? []))
    return compiled?.sql ?? 'null'
  })
  return evaluate<Judged>(
    pool,
    projectId,
    `select d.id as device_id, array[${passed.join(', ')}]::boolean[] as passed,
            array[${counts.join(', ')}]::int[] as counts, u.properties, u.project_user_id, u.created_at, u.last_seen_at,
            d.platform, d.facts
       from users u left join devices d on d.project_id = $1 and d.user_id = u.id and d.id = any($3::text[])
      where u.project_id = $1 and u.id = $2 order by d.last_seen_at desc, d.id`,
    values
  )
}
