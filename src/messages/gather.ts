import type { ProjectId } from '../platform/ids.ts'

/** Items that one transaction records. More would make the first wait for the last. */
const mostTogether = 512
/** With so many items the next transaction begins at once. */
const enough = mostTogether / 2
/** After a transaction with more than a few items the next ones are awaited: it costs as much for ten as for fifty. */
const few = 16
const gatherMs = 20

interface Lane<Item> {
  waiting: Item[]
  /** Whether a caller waits for the last of them, and no more are on their way. */
  complete: boolean
  /** Ends the wait for more items; undefined if there is none. */
  resume: (() => void) | undefined
}

/**
 * Gathers items of a project for one transaction at a time, as the coalescer does (src/platform/coalesce.ts), but without a
 * promise for each: with thousands of pushes a second, promises and objects cost much of the CPU of a broadcast
 * (docs/decisions/0068). `record` must not throw; it tells each item how it ended.
 */
export class Gatherer<Item> {
  readonly #record: (projectId: ProjectId, items: Item[]) => Promise<void>
  readonly #lanes = new Map<ProjectId, Lane<Item>>()
  readonly #patient: boolean

  /** `patient`: the first items and few items wait for others too, for an engine on which a transaction costs much. */
  constructor(record: (projectId: ProjectId, items: Item[]) => Promise<void>, patient = false) {
    this.#record = record
    this.#patient = patient
  }

  /** `isLast`: a caller waits for the item, and no more items of the project are on their way. So none are awaited. */
  add(projectId: ProjectId, item: Item, isLast: boolean): void {
    const complete = isLast && !this.#patient
    const known = this.#lanes.get(projectId)
    if (known) {
      known.waiting.push(item)
      known.complete = complete
      if (known.resume && !isWorthWaiting(known)) known.resume()
      return
    }
    const lane: Lane<Item> = { waiting: [item], complete, resume: undefined }
    this.#lanes.set(projectId, lane)
    // Runs after the sockets that are readable now have been read: many responses of a gateway arrive together.
    setImmediate(() => void this.#drain(projectId, lane))
  }

  async #drain(projectId: ProjectId, lane: Lane<Item>): Promise<void> {
    let many = this.#patient
    while (lane.waiting.length > 0) {
      if (many && isWorthWaiting(lane)) await gathered(lane)
      const items = lane.waiting.splice(0, mostTogether)
      many = this.#patient || items.length > few
      await this.#record(projectId, items)
    }
    this.#lanes.delete(projectId)
  }
}

const isWorthWaiting = ({ waiting, complete }: Lane<unknown>): boolean => !complete && waiting.length < enough

/** Resolves when enough items wait or the last one has come, or after a while. */
async function gathered(lane: Lane<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, gatherMs)
  lane.resume = resolve
  await promise
  clearTimeout(timer)
  lane.resume = undefined
}
