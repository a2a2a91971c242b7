import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import { pausedAt } from './store.ts'

/** How often the cache of projects is read; it keeps an entry for 500 ms and drops it on a notification. */
const lookMs = 100
const mostKnown = 10_000

export type Pauses = ReturnType<typeof createPauses>

/** Knows which projects are paused: none of their messages is dispatched. */
export function createPauses(
  pool: Pool,
  credentials: { project(projectId: ProjectId): Promise<{ pausedAt: Date | null } | undefined> }
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

  /** The result may be half a second old. While the database cannot be reached, the last result counts. */
  function look(projectId: ProjectId): Promise<boolean> {
    const begun = looking.get(projectId)
    if (begun !== undefined) return begun
    const look = credentials
      .project(projectId)
      .then(
        (project) => keep(projectId, project?.pausedAt instanceof Date),
        () => keep(projectId, known.get(projectId)?.paused ?? false)
      )
      .finally(() => looking.delete(projectId))
    looking.set(projectId, look)
    return look
  }

  const since = (projectId: ProjectId): Promise<Date | null> => pausedAt(pool, projectId)

  return {
    look,
    since,
    /** The last known state; a look-up follows in the background. For the sender, which cannot wait. */
    isPaused(projectId: ProjectId): boolean {
      const last = known.get(projectId)
      if (!last || steadyMs() - last.lookedAtMs >= lookMs) void look(projectId)
      return last?.paused ?? false
    },
    /**
     * For jobs. A job ends if its project is paused, because the resume adds the job again. A yes is therefore read
     * from the database: if the resume had already happened, it would not add the job a second time.
     */
    async paused(projectId: ProjectId): Promise<boolean> {
      return (await look(projectId)) && keep(projectId, (await since(projectId)) !== null)
    }
  }
}
