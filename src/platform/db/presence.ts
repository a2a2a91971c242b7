import { randomInt } from 'node:crypto'
import type pg from 'pg'
import type { Db } from './db.ts'
import { statement } from './statement.ts'

/** Whether a process is alive, as the database knows it: by a connection that ends with it, also with kill -9. */
export interface Presence {
  /** What this process is known by. Nothing while it has no such connection: then nobody can tell. */
  readonly name: number | undefined
  /** Whether the process of that name is surely gone. */
  isGone(db: Db, name: number): Promise<boolean>
}

/** Of all that may lock numbers in this database, these are ours: `tidi` in ASCII. */
const family = 0x74696469
// Shared, so that two who ask at once do not take each other for the one they ask about. Ends with the transaction.
const free = statement('presence.free', `select pg_try_advisory_xact_lock_shared(${family}, $1) as free`)

const newName = () => randomInt(2 ** 31)

export const isGone = async (db: Db, name: number): Promise<boolean> =>
  (await db.one<{ free: boolean }>(free, [name]))?.free === true

/**
 * Makes the connection the sign of life of this process, and answers the name. The same name again after a break, if the
 * database has noticed that the old connection is gone: what was begun under it is still being done.
 */
export async function appear(client: pg.Client, before: number | undefined): Promise<number | undefined> {
  for (const name of before === undefined ? [newName()] : [before, newName()]) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${family}, $1) as locked`, [name])
    if (rows[0].locked) return name
  }
  return undefined
}
