import type { Db, Pool } from '../db/db.ts'
import { againIfRaced } from '../db/races.ts'
import { addSetting, getSetting, holdSetting, removeSetting, shareSetting } from '../db/store.ts'

/** `due`: what was due before the resume is canceled. `all`: what is due later, too. */
export type Discard = 'due' | 'all'

/** A restored installation is paused until an operator resumes it: what waited in the backup may have been sent since. */
export interface InstallationPause {
  /** When it was restored. Projects that ran have this as the time of their pause. */
  since: string
  /** The moment of the backup. */
  backup_made_at: string
  /** Set while a job cancels what waited. The pause ends with that job. */
  discarding?: { at: string; which: Discard }
}

/** The rows that a discard cancels. */
export interface DiscardScope {
  /** The restore: older rows were in the backup, later ones were requested afterwards and stay. */
  restoredAt: Date
  /** The resume: rows that were due by then are canceled. */
  dueBy: Date
  /** Whether rows that are due later are canceled too. */
  all: boolean
}

/** A discard at work. `write` runs a transaction in which the pause holds, so that no worker sends meanwhile. */
export interface Discarding extends DiscardScope {
  signal: AbortSignal
  write<Result>(work: (tx: Db) => Promise<Result>): Promise<Result>
}

/** The reason that messages and tasks show. Triggers and journeys have the reason `discarded`. */
export const discardedSentence = 'Canceled by resume --discard, after the installation was restored from a backup.'

const name = 'paused'

const read = (text: string | undefined) => (text === undefined ? undefined : (JSON.parse(text) as InstallationPause))

export const pauseOf = async (db: Db): Promise<InstallationPause | undefined> => read(await getSetting(db, name))

/** Reads the pause and keeps others from changing it until the end of the transaction. */
export async function holdPause(tx: Db): Promise<InstallationPause | undefined> {
  await holdSetting(tx, name)
  return pauseOf(tx)
}

/** Reads the pause and keeps it from ending until the end of the transaction; others may read it so, too. */
export async function sharePause(tx: Db): Promise<InstallationPause | undefined> {
  // Waits for a resume. One that discards has replaced the row by then, which only a later statement sees.
  await shareSetting(tx, name)
  return read(await shareSetting(tx, name))
}

/** Replaces the pause of an installation that was itself restored and not resumed. */
export async function writePause(tx: Db, pause: InstallationPause): Promise<void> {
  await removeSetting(tx, name)
  await addSetting(tx, name, JSON.stringify(pause))
}

/** Returns whether there was a pause to end. */
export const endPause = async (tx: Db): Promise<boolean> => (await removeSetting(tx, name)) > 0

/** The pause has ended, so a late run of the discard must change nothing: workers send by now. */
class PauseEnded extends Error {
  override readonly name = 'PauseEnded'
}

export function discardingOf(pool: Pool, { since, discarding }: Required<InstallationPause>, signal: AbortSignal) {
  const write = <Result>(work: (tx: Db) => Promise<Result>) =>
    againIfRaced(() => {
      signal.throwIfAborted()
      return pool.transaction(async (tx) => {
        const now = read(await shareSetting(tx, name))
        if (now?.since !== since || !now.discarding) throw new PauseEnded('the installation was resumed meanwhile')
        return work(tx)
      })
    })
  return { ...scopeOf({ since, discarding }), signal, write } satisfies Discarding
}

export const scopeOf = ({ since, discarding }: Pick<Required<InstallationPause>, 'since' | 'discarding'>) => ({
  restoredAt: new Date(since),
  dueBy: new Date(discarding.at),
  all: discarding.which === 'all'
})

type ShownPause = Pick<InstallationPause, 'since' | 'backup_made_at'> & { discarding?: unknown }

/** The text that operators see. */
export const pausedSentence = ({ since, backup_made_at, discarding }: ShownPause): string =>
  `This installation was restored at ${since} as it was at ${backup_made_at} and is paused: it accepts requests, and ` +
  `sends nothing, calls no webhook and runs no job. ${
    discarding
      ? 'It is canceling what waited in the backup, and continues when that is done.'
      : 'To continue: tidings resume; to cancel what waited in the backup: tidings resume --discard'
  }`
