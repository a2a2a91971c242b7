import type { ProjectId } from '../../platform/ids.ts'
import type { Pool } from './pool.ts'
import type { SenderSettings } from './settings.ts'

/** The pools of a process. They share its sockets, and no project takes the room of the others. */
export class Pools {
  readonly #settings: SenderSettings
  readonly #pools = new Map<string, Pool>()
  /** Those that have sockets: however many pools wait for a gateway, a search for an idle one visits only these. */
  readonly #holders = new Set<Pool>()
  /** The pools of each project to unlisted origins. */
  readonly #unlisted = new Map<ProjectId, Set<Pool>>()
  #sockets = 0

  constructor(settings: SenderSettings) {
    this.#settings = settings
  }

  /** The sockets of all pools, including those that are being opened or closed. */
  get sockets(): number {
    return this.#sockets
  }

  get(key: string): Pool | undefined {
    return this.#pools.get(key)
  }

  values(): Iterable<Pool> {
    return this.#pools.values()
  }

  add(pool: Pool): void {
    this.#pools.set(pool.key, pool)
    if (!pool.isUnlisted) return
    const { projectId } = pool.credential
    const siblings = this.#unlisted.get(projectId) ?? new Set()
    this.#unlisted.set(projectId, siblings.add(pool))
  }

  /** The caller closes the pool. */
  remove(pool: Pool): void {
    this.#pools.delete(pool.key)
    const { projectId } = pool.credential
    const siblings = this.#unlisted.get(projectId)
    if (siblings?.delete(pool) && siblings.size === 0) this.#unlisted.delete(projectId)
  }

  drop(pool: Pool): void {
    this.remove(pool)
    void pool.close(0)
  }

  /** Whether the project may have one more pool to an unlisted origin. An idle one of its own makes room. */
  admitUnlisted(projectId: ProjectId): boolean {
    const siblings = this.#unlisted.get(projectId)
    return !siblings || siblings.size < this.#settings.maxOrigins || this.#dropFirst(siblings)
  }

  /** Whether the pool may open one more socket. The pool that has been idle longest makes room. */
  admitSocket(pool: Pool): boolean {
    if (this.#sockets >= this.#settings.maxSockets && !this.#dropFirst(this.#holders)) return false
    this.#sockets += 1
    this.#holders.add(pool)
    return true
  }

  /** A socket of the pool is closed. */
  releaseSocket(pool: Pool): void {
    this.#sockets -= 1
    if (pool.sockets === 0) this.#holders.delete(pool)
  }

  #dropFirst(pools: Iterable<Pool>): boolean {
    let first: Pool | undefined
    for (const pool of pools) if (pool.dispensable && (!first || isBefore(pool, first))) first = pool
    if (first) this.drop(first)
    return first !== undefined
  }
}

/** A pool without a connection has the least to lose; of the others, the one that was idle longest is dropped. */
const isBefore = (a: Pool, b: Pool) =>
  a.sockets === 0 || b.sockets === 0 ? a.sockets < b.sockets : a.usedAt < b.usedAt
