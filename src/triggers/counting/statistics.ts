import type { Pool } from '../../platform/db/db.ts'

/** Below this many triggers any plan is fast enough. */
const first = 100
const state = new WeakMap<Pool, { counted: number; next: number }>()

/**
 * Has PostgreSQL analyze the triggers after each tenfold of what this process has started. It would do so by itself within a
 * minute, and until then takes the table for empty: then all indexes look alike, and a plan that is kept may read every trigger
 * of the project for each one that it looks for.
 */
export async function learnTriggers(pool: Pool, started: number): Promise<void> {
  const known = state.get(pool) ?? { counted: 0, next: first }
  state.set(pool, known)
  known.counted += started
  if (known.counted < known.next) return
  while (known.next <= known.counted) known.next *= 10
  await pool.adhoc('analyze (skip_locked) triggers', [])
}
