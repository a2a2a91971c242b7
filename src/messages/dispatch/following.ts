import type { ProjectId } from '../../platform/ids.ts'
import type { MessageRow } from '../message.ts'
import { keyOf } from '../store.ts'

interface Followed {
  row: MessageRow
  ended: Promise<void>
  end(): void
}

/**
 * The rows that runs of this process follow, from the moment a run takes a row until the row is settled, also while the
 * row waits for room at its gateway. The database cannot distinguish two runs of one process, so only one run may take
 * a row.
 */
export class Following {
  readonly #projects = new Map<ProjectId, Map<string, Followed>>()

  #find(projectId: ProjectId, row: MessageRow): Followed | undefined {
    return this.#projects.get(projectId)?.get(keyOf(row))
  }

  /** False if another run has taken the row. */
  take(projectId: ProjectId, row: MessageRow): boolean {
    const known = this.#find(projectId, row)
    if (known) return known.row === row
    const own = this.#projects.get(projectId) ?? new Map<string, Followed>()
    this.#projects.set(projectId, own)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    own.set(keyOf(row), { row, ended, end })
    return true
  }

  drop(projectId: ProjectId, row: MessageRow): void {
    const known = this.#find(projectId, row)
    if (known?.row !== row) return
    const own = this.#projects.get(projectId)!
    own.delete(keyOf(row))
    if (own.size === 0) this.#projects.delete(projectId)
    known.end()
  }

  has(projectId: ProjectId, row: MessageRow): boolean {
    return this.#find(projectId, row) !== undefined
  }

  /** Resolves when the run that took the row drops it. */
  ended(projectId: ProjectId, row: MessageRow): Promise<void> | undefined {
    return this.#find(projectId, row)?.ended
  }

  keysOf(projectId: ProjectId): string[] {
    return [...(this.#projects.get(projectId)?.keys() ?? [])]
  }
}
