import type { ProjectId } from '../../platform/ids.ts'
import type { MessageRow } from '../message.ts'
import { keyOf } from '../store.ts'

type Rows = Map<string, MessageRow>

interface Ended {
  promise: Promise<void>
  resolve(): void
}

/**
 * The rows that runs of this process follow, from the moment a run takes a row until the row is settled, also while the
 * row waits for room at its gateway. The database cannot distinguish two runs of one process, so only one run may take
 * a row. Rows are found by trigger and device, whose hashes the engine keeps: a key made of both would be hashed anew.
 */
export class Following {
  readonly #projects = new Map<ProjectId, Map<string, Rows>>()
  /** For rows whose end a run awaits. */
  readonly #ended = new Map<MessageRow, Ended>()

  #find(projectId: ProjectId, { trigger_id, device_id }: MessageRow): MessageRow | undefined {
    return this.#projects.get(projectId)?.get(trigger_id)?.get(device_id)
  }

  /** False if another run has taken the row. */
  take(projectId: ProjectId, row: MessageRow): boolean {
    const known = this.#find(projectId, row)
    if (known) return known === row
    let triggers = this.#projects.get(projectId)
    if (!triggers) {
      triggers = new Map()
      this.#projects.set(projectId, triggers)
    }
    const rows = triggers.get(row.trigger_id)
    if (rows) rows.set(row.device_id, row)
    else triggers.set(row.trigger_id, new Map([[row.device_id, row]]))
    return true
  }

  drop(projectId: ProjectId, row: MessageRow): void {
    const triggers = this.#projects.get(projectId)
    const rows = triggers?.get(row.trigger_id)
    if (!triggers || rows?.get(row.device_id) !== row) return
    rows.delete(row.device_id)
    if (rows.size === 0) triggers.delete(row.trigger_id)
    if (triggers.size === 0) this.#projects.delete(projectId)
    if (this.#ended.size === 0) return
    this.#ended.get(row)?.resolve()
    this.#ended.delete(row)
  }

  has(projectId: ProjectId, row: MessageRow): boolean {
    return this.#find(projectId, row) !== undefined
  }

  /** Resolves when the run that took the row drops it. */
  ended(projectId: ProjectId, row: MessageRow): Promise<void> | undefined {
    const followed = this.#find(projectId, row)
    if (!followed) return undefined
    const known = this.#ended.get(followed)
    if (known) return known.promise
    const ended = Promise.withResolvers<void>()
    this.#ended.set(followed, ended)
    return ended.promise
  }

  keysOf(projectId: ProjectId): string[] {
    const triggers = this.#projects.get(projectId)?.values() ?? []
    return [...triggers].flatMap((rows) => [...rows.values()].map(keyOf))
  }
}
