import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Db } from './db.ts'
import { isPresent, presenceFamily } from './store.ts'

/**
 * Whether a process is alive, as the database knows it: by a connection that ends with the process, also after kill -9.
 */
export interface Presence {
  /**
   * The name of this process. Undefined while it has no such connection: then other processes cannot know its state.
   */
  readonly name: number | undefined
  /**
   * Whether the process of that name has died: absent, and still absent after a moment. False until this process itself
   * has been connected for some seconds, because before that it cannot know.
   */
  isGone(db: Db, name: number): Promise<boolean>
}

/** A process that lost only this connection is back within milliseconds; a process that stays away is dead. */
const patienceMs = 500
/** The most absent names that are remembered; beyond this the waiting starts again. */
const maxMissed = 1_000

const newName = () => randomInt(2 ** 31)

/** Makes `isGone`. All callers that ask about one process share one waiting time. */
export function createLookout(): Presence['isGone'] {
  const missedSinceMs = new Map<number, number>()
  return async (db, name) => {
    if (!(await isPresent(db, name))) {
      const nowMs = performance.now()
      const sinceMs = missedSinceMs.get(name) ?? nowMs
      if (missedSinceMs.size >= maxMissed) missedSinceMs.clear()
      missedSinceMs.set(name, sinceMs)
      const leftMs = sinceMs + patienceMs - nowMs
      if (leftMs <= 0) return true
      await sleep(leftMs)
      if (!(await isPresent(db, name))) return true
    }
    missedSinceMs.delete(name)
    return false
  }
}

/**
 * Makes the connection the sign of life of this process, and returns its name. After a break the name stays the same if
 * the database has closed the old connection, because work that began under the name continues.
 */
export async function appear(client: pg.Client, before: number | undefined): Promise<number | undefined> {
  for (const name of before === undefined ? [newName()] : [before, newName()]) {
    const { rows } = await client.query(`select pg_try_advisory_lock(${presenceFamily}, $1) as locked`, [name])
    if (rows[0].locked) return name
  }
  return undefined
}
