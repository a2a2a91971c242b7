import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing, type Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { steadyMs } from '../../platform/time.ts'
import type { MessageRow } from '../message.ts'
import { claimMessages, findMessages, keyOf } from '../store.ts'

/** How long a claim lasts. After that another process takes the row, if its owner is dead. */
export const claimMs = 30_000
/**
 * A gateway responds within about 10 s: a claim with less time than this left is renewed before the row is dispatched.
 */
const marginMs = 15_000
/** The wait between attempts while the database cannot be reached. */
const againMs = 500
const mostTried = 20

export const claimUntil = (): Date => new Date(Date.now() + claimMs)

/** The rows that this process (`owner`) has claimed, by `owner` and `due_at` in the database. */
export class Claims {
  readonly #pool: Pool
  readonly #owner: string
  /** Rows that another process claimed or settled, or that were deleted with their user. */
  readonly #lost = new WeakSet<MessageRow>()
  #closed = false

  constructor(pool: Pool, owner: string) {
    this.#pool = pool
    this.#owner = owner
  }

  isClaimed(row: MessageRow): boolean {
    return (row.claimEndsAtMs ?? 0) >= steadyMs() + marginMs
  }

  isLost(row: MessageRow): boolean {
    return this.#lost.has(row)
  }

  /**
   * Notes a claim that is valid until then. Its end is kept by the steady clock: setting the wall clock must not make a
   * claim longer than it is for other processes.
   */
  mark(row: MessageRow, until: Date): void {
    row.claimEndsAtMs = steadyMs() + claimMs
    Object.assign(row, { state: 'handed', due_at: until, owner: this.#owner })
  }

  /** Notes a claim that has no end in the database: a batch or a job finds the row again after a crash. */
  markUntimed(row: MessageRow, at: Date): void {
    row.claimEndsAtMs = steadyMs() + claimMs
    row.state = 'handed'
    row.due_at = null
    row.handed_at = at
    row.owner = this.#owner
  }

  /**
   * Claims the rows for long enough to dispatch them, and returns those that it could claim; other processes own or
   * settled the rest. While the database cannot be reached it waits: no row is dispatched until then, and none is
   * forgotten.
   */
  async claim(projectId: ProjectId, rows: MessageRow[]): Promise<MessageRow[]> {
    const tried: Date[] = []
    for (;;) {
      const loose = rows.filter((row) => !this.#lost.has(row) && !this.isClaimed(row))
      try {
        if (loose.length > 0) await this.#claimOnce(projectId, loose, tried)
        return rows.filter((row) => !this.#lost.has(row))
      } catch (error) {
        if (this.#closed || !isPassing(error)) throw error
        // Only the call that was cut off may have reached the database: the later ones failed to connect.
        if (tried.length > mostTried) tried.splice(1, 1)
        await sleep(againMs)
      }
    }
  }

  /** `tried`: times of earlier calls whose responses were lost. The database may have executed them. */
  async #claimOnce(projectId: ProjectId, loose: MessageRow[], tried: Date[]): Promise<void> {
    const until = claimUntil()
    const before = [...tried]
    tried.push(until)
    const claim = { at: new Date(), until, owner: this.#owner, tried: before }
    const claimed = await claimMessages(this.#pool, projectId, loose, claim)
    const lost = loose.filter((row) => !claimed.has(keyOf(row)))
    for (const row of loose) if (claimed.has(keyOf(row))) this.mark(row, until)
    for (const row of lost) this.#lost.add(row)
    if (lost.length > 0) await this.readAgain(projectId, lost)
  }

  /** Reads rows that another process owns or has settled. A row that no longer exists was deleted with its user. */
  async readAgain(projectId: ProjectId, rows: MessageRow[]): Promise<void> {
    const found = new Map((await findMessages(this.#pool, projectId, rows)).map((row) => [keyOf(row), row]))
    for (const row of rows)
      Object.assign(row, found.get(keyOf(row)) ?? { state: 'skipped', reason: 'CANCELED', due_at: null })
  }

  /** From now on a claim that the database does not accept fails, because the process ends. */
  close(): void {
    this.#closed = true
  }
}
