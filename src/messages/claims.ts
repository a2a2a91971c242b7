import { setTimeout as sleep } from 'node:timers/promises'
import { isPassing, type Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import type { MessageRow } from './message.ts'
import { findMessages, holdMessages, keyOf } from './store.ts'

/** How long a row counts as held by its owner. After that another process takes it, if the owner is dead. */
export const heldMs = 30_000
/** A gateway answers within 10 s or so: with less than this left, a row is held anew before it is handed over. */
const marginMs = 15_000
/** While the database is away. */
const againMs = 500
const mostTried = 20

export const heldUntil = (): Date => new Date(Date.now() + heldMs)

/** Which rows this process (`owner`) holds, by their `owner` and `due_at` in the database. */
export function createHolds(pool: Pool, owner: string) {
  /** By the steady clock: a clock that is set must not make a hold longer than it is for others. */
  const endsAt = new WeakMap<MessageRow, number>()
  /** Rows that turned out to be somebody else's, or nobody's any more. */
  const gone = new WeakSet<MessageRow>()
  let closed = false

  const isHeld = (row: MessageRow) => (endsAt.get(row) ?? 0) >= steadyMs() + marginMs

  /** Written without a time of its own: whoever wrote it attends to it, and so does whoever takes over from him. */
  function attend(row: MessageRow, at: Date): void {
    endsAt.set(row, steadyMs() + heldMs)
    Object.assign(row, { state: 'handed', due_at: null, handed_at: at, owner })
  }

  function markHeld(row: MessageRow, until: Date): void {
    endsAt.set(row, steadyMs() + heldMs)
    Object.assign(row, { state: 'handed', due_at: until, owner })
  }

  /** Somebody else has or ended them, or they went with their user. */
  async function readAgain(projectId: ProjectId, rows: MessageRow[]): Promise<void> {
    const found = new Map((await findMessages(pool, projectId, rows)).map((row) => [keyOf(row), row]))
    for (const row of rows)
      Object.assign(row, found.get(keyOf(row)) ?? { state: 'skipped', reason: 'CANCELED', due_at: null })
  }

  /** `tried`: times of earlier calls whose answers were lost. They may have been written. */
  async function claim(projectId: ProjectId, loose: MessageRow[], tried: Date[]): Promise<void> {
    const until = heldUntil()
    const before = [...tried]
    tried.push(until)
    const held = await holdMessages(pool, projectId, loose, { at: new Date(), until, owner, tried: before })
    const lost = loose.filter((row) => !held.has(keyOf(row)))
    for (const row of loose) if (held.has(keyOf(row))) markHeld(row, until)
    for (const row of lost) gone.add(row)
    if (lost.length > 0) await readAgain(projectId, lost)
  }

  return {
    isHeld,
    markHeld,
    attend,
    readAgain,
    isGone: (row: MessageRow) => gone.has(row),
    /**
     * Makes sure that the rows are ours for long enough, and returns those that are; the others were taken or ended. Waits
     * for a database that is away: until it is back no row is dispatched, and none of them is forgotten.
     */
    async hold(projectId: ProjectId, rows: MessageRow[]): Promise<MessageRow[]> {
      const tried: Date[] = []
      for (;;) {
        const loose = rows.filter((row) => !gone.has(row) && !isHeld(row))
        try {
          if (loose.length > 0) await claim(projectId, loose, tried)
          return rows.filter((row) => !gone.has(row))
        } catch (error) {
          if (closed || !isPassing(error)) throw error
          // Only the call that was cut off may have been written: while the database is away no other one reaches it.
          if (tried.length > mostTried) tried.splice(1, 1)
          await sleep(againMs)
        }
      }
    },
    close(): void {
      closed = true
    }
  }
}
