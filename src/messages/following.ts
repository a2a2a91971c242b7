import type { ProjectId } from '../platform/ids.ts'
import type { MessageRow } from './message.ts'
import { keyOf } from './store.ts'

interface Followed {
  row: MessageRow
  ended: Promise<void>
  end(): void
}

/**
 * What the runs of this process have, from when a run takes a row until the row has ended: also while it waits for room at
 * its gateway. The database cannot tell two runs of one process apart, so only one of them may have a row.
 */
export function createFollowing() {
  const projects = new Map<ProjectId, Map<string, Followed>>()
  const find = (projectId: ProjectId, row: MessageRow) => projects.get(projectId)?.get(keyOf(row))

  return {
    /** False where another run has it. */
    take(projectId: ProjectId, row: MessageRow): boolean {
      const known = find(projectId, row)
      if (known) return known.row === row
      const own = projects.get(projectId) ?? new Map<string, Followed>()
      projects.set(projectId, own)
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      own.set(keyOf(row), { row, ended, end })
      return true
    },
    drop(projectId: ProjectId, row: MessageRow): void {
      const known = find(projectId, row)
      if (known?.row !== row) return
      const own = projects.get(projectId)!
      own.delete(keyOf(row))
      if (own.size === 0) projects.delete(projectId)
      known.end()
    },
    has: (projectId: ProjectId, row: MessageRow): boolean => find(projectId, row) !== undefined,
    /** Resolves when the run that has it is done with it. */
    ended: (projectId: ProjectId, row: MessageRow): Promise<void> | undefined => find(projectId, row)?.ended,
    keysOf: (projectId: ProjectId): string[] => [...(projects.get(projectId)?.keys() ?? [])]
  }
}
