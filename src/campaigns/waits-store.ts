import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { reactsForMs } from './definition/journey-rules.ts'

/** Versions that are looked at. A campaign has a few, unless a program saves it all the time. */
const mostVersions = 1_000

// The inner query passes definitions on unread: PostgreSQL decompresses only those that are left.
const replaced = statement(
  'campaign_versions.replaced',
  `select v.definition #>> '{event_trigger,delay}' as delay, v.definition #>> '{conversion,within}' as within,
          jsonb_path_query_array(v.definition, '$.steps[*].wait') as waits, max(v.replaced_at) as replaced_at
     from (select definition, lead(created_at) over (order by version) as replaced_at from campaign_versions
            where project_id = $1 and campaign_id = $2 order by version desc limit $3) v
    where v.replaced_at is not null and v.definition ->> 'status' = 'active' group by 1, 2, 3`
)

interface Replaced {
  delay: string | null
  within: string | null
  waits: string[]
  replaced_at: Date
}

/**
 * Until when users may be under way in former versions of a campaign, or convert: each goes on with the version by which it
 * began, so the one before the current one may be over sooner than an older one. At least `at`.
 */
export async function formerVersionsUntil(tx: Db, projectId: ProjectId, id: string, at: Date): Promise<Date> {
  const versions = await tx.query<Replaced>(replaced, [projectId, id, mostVersions])
  return versions.reduce((last, { delay, within, waits, replaced_at }) => {
    const until = new Date(replaced_at.getTime() + reactsForMs([delay, ...waits, within]))
    return until > last ? until : last
  }, at)
}
