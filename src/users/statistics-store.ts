import type { Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

// PostgreSQL analyzes a table after a tenth of it has changed. Until then its statistics do not know a new project. If
// they hold every other project, the planner concludes that this one has no rows, and that any index that begins with
// the project is as good as the right one: it took seconds to find a thousand devices.
const known = statement(
  'users.known_projects',
  `select most_common_vals::text::text[] as projects, (select sum(share) from unnest(most_common_freqs) share) as share
     from pg_stats where schemaname = any(current_schemas(false)) and tablename = 'users' and attname = 'project_id'`
)
/** Below this many users any plan is fast enough. */
const fewUsers = 1_000
const many = statement(
  'users.many',
  `select project_id from users where project_id = $1 order by id offset ${fewUsers} limit 1`
)

/** With a smaller share, projects that the statistics do not name get the rest of the rows in equal parts. */
const wholeShare = 0.999

/** Has PostgreSQL analyze the users and devices, if it takes one of these projects for empty though it has many users. */
export async function learnProjects(pool: Pool, projectIds: readonly ProjectId[]): Promise<boolean> {
  const statistics = await pool.one<{ projects: ProjectId[] | null; share: number | null }>(known)
  // Not analyzed yet, which the server does within a minute, or in the shards of Citus.
  if (!statistics?.projects || (statistics.share ?? 0) < wholeShare) return false
  const named = new Set(statistics.projects)
  for (const projectId of projectIds) {
    if (named.has(projectId) || !(await pool.one(many, [projectId]))) continue
    await pool.adhoc('analyze (skip_locked) users, devices, push_tokens', [])
    return true
  }
  return false
}
