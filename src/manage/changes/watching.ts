import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { steadyMs } from '../../platform/time.ts'
import { type Kind, kindOfAction } from './schemas.ts'
import { type Marks, marked, readMarks } from './store.ts'

/** How often a project is read while a page watches it. */
const everyMs = 1_000
/** A slow database is read less often: the time of a read is at most this share of all time. */
const share = 0.1

/** Compares two readings of a project. */
function difference(before: Marks, now: Marks): Set<Kind> {
  const kinds = new Set<Kind>(marked.filter((kind) => before.marks[kind] !== now.marks[kind]))
  const known = new Set(before.entries.map(({ id }) => id))
  for (const { id, action } of now.entries) if (!known.has(id)) kinds.add(kindOfAction(action)).add('audit')
  return kinds
}

/**
 * Reads the marks of one project again and again, until it is stopped, and reports the kinds that have changed. All
 * pages of this node that watch the project share it; other nodes read for their own pages.
 */
export function watchProject(
  { pool, log }: { pool: Pool; log: Log },
  projectId: ProjectId,
  /** The nodes of the installation, as a text that changes with them. */
  nodes: () => string,
  report: (kinds: ReadonlySet<Kind>) => void
) {
  let before: Marks | undefined
  let nodesBefore = nodes()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  async function look(): Promise<void> {
    const startedMs = steadyMs()
    try {
      const now = await readMarks(pool, projectId)
      const kinds = before ? difference(before, now) : new Set<Kind>()
      before = now
      if (nodes() !== nodesBefore) kinds.add('nodes')
      nodesBefore = nodes()
      if (kinds.size > 0 && !stopped) report(kinds)
    } catch (error) {
      // The next reading is compared with the last that succeeded, so nothing is missed.
      log.debug({ error: (error as Error).message }, 'changes could not be read')
    }
    if (!stopped) timer = setTimeout(() => void look(), Math.max(everyMs, (steadyMs() - startedMs) / share))
  }

  const first = look()
  return {
    /** Settles after the first reading: changes from then on are reported. */
    ready: first,
    stop(): void {
      stopped = true
      clearTimeout(timer)
    }
  }
}
