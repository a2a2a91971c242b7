import type { Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { MessageRow } from './message.ts'
import { findMessages, holdMessages, keyOf } from './store.ts'

/** How long a row counts as in somebody's hands. After that whoever finds it takes it. */
export const heldMs = 30_000
/** A gateway answers within 10 s or so: with less than this left, a row is held anew before it is handed over. */
const marginMs = 15_000

/** Which rows are in the hands of this process, by their `due_at` in the database. */
export function createHolds(pool: Pool) {
  const heldUntil = new WeakMap<MessageRow, number>()
  /** Rows that turned out to be somebody else's, or nobody's any more. */
  const gone = new WeakSet<MessageRow>()

  const isHeld = (row: MessageRow) => (heldUntil.get(row) ?? 0) >= Date.now() + marginMs

  /** Written without a time of its own: whoever wrote it attends to it, and so does whoever takes over from him. */
  function attend(row: MessageRow, at: Date): void {
    heldUntil.set(row, at.getTime() + heldMs)
    Object.assign(row, { state: 'handed', due_at: null, handed_at: at })
  }

  function markHeld(row: MessageRow, until: Date): void {
    heldUntil.set(row, until.getTime())
    Object.assign(row, { state: 'handed', due_at: until })
  }

  /** Somebody else has or ended them, or they went with their user. */
  async function readAgain(projectId: ProjectId, rows: MessageRow[]): Promise<void> {
    const found = new Map((await findMessages(pool, projectId, rows)).map((row) => [keyOf(row), row]))
    for (const row of rows)
      Object.assign(row, found.get(keyOf(row)) ?? { state: 'skipped', reason: 'CANCELED', due_at: null })
  }

  return {
    isHeld,
    markHeld,
    attend,
    isGone: (row: MessageRow) => gone.has(row),
    /** Makes sure that the rows are ours for long enough, and answers those that are; the others were taken or ended. */
    async hold(projectId: ProjectId, rows: MessageRow[]): Promise<MessageRow[]> {
      const now = Date.now()
      const loose = rows.filter((row) => !gone.has(row) && !isHeld(row))
      if (loose.length > 0) {
        const until = new Date(now + heldMs)
        const held = await holdMessages(pool, projectId, loose, new Date(now), until)
        const lost = loose.filter((row) => !held.has(keyOf(row)))
        for (const row of loose) if (held.has(keyOf(row))) markHeld(row, until)
        for (const row of lost) gone.add(row)
        if (lost.length > 0) await readAgain(projectId, lost)
      }
      return rows.filter((row) => !gone.has(row))
    }
  }
}
