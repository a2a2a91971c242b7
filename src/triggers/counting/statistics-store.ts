import type { Pool } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'

// The number of rows as of the last analysis, -1 before the first.
const known = statement(
  'triggers.known_rows',
  `select reltuples as rows from pg_class where oid = 'triggers'::regclass`
)

/** Below this many triggers any plan is fast enough. */
const first = 100
const state = new WeakMap<Pool, { started: number; next: number }>()

/**
 * Has PostgreSQL analyze the triggers, if this process alone has started more of them than it knows of: it looks after each
 * tenfold. The server would do so by itself within a minute, and until then takes the table for empty: then all indexes look
 * alike, and a plan that is kept may read every trigger of the project for each one that it looks for. Returns whether it did.
 */
export async function learnTriggers(pool: Pool, started: number): Promise<boolean> {
  const own = state.get(pool) ?? { started: 0, next: first }
  state.set(pool, own)
  own.started += started
  if (own.started < own.next) return false
  while (own.next <= own.started) own.next *= 10
  const table = await pool.one<{ rows: number }>(known)
  if (!table || table.rows >= own.started) return false
  await pool.adhoc('analyze (skip_locked) triggers', [])
  return true
}
