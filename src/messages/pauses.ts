import type { Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'

/** A look goes to the cache of projects, which believes for 500 ms and forgets on a notification. */
const lookMs = 100
const mostKnown = 10_000

const find = statement('projects.paused', 'select paused_at from projects where project_id = $1')

export type Pauses = ReturnType<typeof createPauses>

/** Which projects are paused: nothing of theirs is given to a gateway. */
export function createPauses(
  pool: Pool,
  projectOf: (projectId: ProjectId) => Promise<{ pausedAt: Date | null } | undefined>
) {
  const known = new Map<ProjectId, { paused: boolean; lookedAtMs: number }>()
  const looking = new Map<ProjectId, Promise<boolean>>()

  function keep(projectId: ProjectId, paused: boolean): boolean {
    known.delete(projectId)
    known.set(projectId, { paused, lookedAtMs: steadyMs() })
    const [oldest] = known.keys()
    if (known.size > mostKnown) known.delete(oldest!)
    return paused
  }

  /** By a look-up that may be half a second old. While the database is away the last one holds. */
  function look(projectId: ProjectId): Promise<boolean> {
    const begun = looking.get(projectId)
    if (begun !== undefined) return begun
    const look = projectOf(projectId)
      .then(
        (project) => keep(projectId, project?.pausedAt instanceof Date),
        () => keep(projectId, known.get(projectId)?.paused ?? false)
      )
      .finally(() => looking.delete(projectId))
    looking.set(projectId, look)
    return look
  }

  const since = async (projectId: ProjectId): Promise<Date | null> =>
    (await pool.one<{ paused_at: Date | null }>(find, [projectId]))?.paused_at ?? null

  return {
    look,
    since,
    /** As far as this process knows; it looks again in the background. For the senders, which cannot wait. */
    isPaused(projectId: ProjectId): boolean {
      const last = known.get(projectId)
      if (!last || steadyMs() - last.lookedAtMs >= lookMs) void look(projectId)
      return last?.paused ?? false
    },
    /**
     * For jobs, which end where a project is paused because its resume adds them anew. So a yes is never an old one: the
     * resume may have come meanwhile, and would not come again.
     */
    async paused(projectId: ProjectId): Promise<boolean> {
      return (await look(projectId)) && keep(projectId, (await since(projectId)) !== null)
    }
  }
}
