import type { Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'

// PostgreSQL analyzes a table after a tenth of it has changed. Until then its statistics do not know a new project. If
// they hold every other project, the planner concludes that this one has no rows, and that any index that begins with
// the project is as good as the right one: it took seconds to find a thousand devices (docs/decisions/0081).
const known = statement(
  'users.known_projects',
  `select most_common_vals::text::text[] as projects, (select sum(share) from unnest(most_common_freqs) share) as share
     from pg_stats where schemaname = any(current_schemas(false)) and tablename = 'users' and attname = 'project_id'`
)
/** Below this many users any plan is fast enough. */
const fewUsers = 1_000
const large = statement(
  'users.large_projects',
  `select p.project_id from projects p
    where p.project_id = any($1::text[])
      and exists (select 1 from users u where u.project_id = p.project_id order by u.id offset ${fewUsers} limit 1)`,
  { acrossProjects: 'the statistics of a table are those of all projects' }
)

/** With a smaller share, projects that the statistics do not name get the rest of the rows in equal parts. */
const wholeShare = 0.999
/** A project that a sample of the table missed is tried again after this long. */
const againMs = 3_600_000
const tried = new WeakMap<Pool, Map<ProjectId, number>>()

/**
 * Has PostgreSQL analyze the users and devices, if it takes one of these projects for empty though it has many users.
 * Returns whether it did.
 */
export async function learnProjects(pool: Pool, projectIds: readonly ProjectId[]): Promise<boolean> {
  const statistics = await pool.one<{ projects: ProjectId[] | null; share: number | null }>(known)
  // Not analyzed yet, which the server does within a minute, or in the shards of Citus.
  if (!statistics?.projects || (statistics.share ?? 0) < wholeShare) return false
  const named = new Set(statistics.projects)
  const before = tried.get(pool) ?? new Map<ProjectId, number>()
  tried.set(pool, before)
  const unknown = projectIds.filter((id) => !named.has(id) && !(before.get(id)! > steadyMs() - againMs))
  if (unknown.length === 0) return false
  const found = await pool.query<{ project_id: ProjectId }>(large, [unknown])
  if (found.length === 0) return false
  for (const { project_id } of found) before.set(project_id, steadyMs())
  await pool.adhoc('analyze (skip_locked) users, devices, push_tokens', [])
  return true
}
