import type { Db } from '../db/db.ts'
import { addSetting, getSetting, removeSetting } from '../db/store.ts'

/** A restored installation is paused until an operator resumes it: what waited in the backup may have been sent since. */
export interface InstallationPause {
  /** When it was restored. Projects that ran have this as the time of their pause. */
  since: string
  /** The moment of the backup. */
  backup_made_at: string
}

const name = 'paused'

export async function pauseOf(db: Db): Promise<InstallationPause | undefined> {
  const text = await getSetting(db, name)
  return text === undefined ? undefined : (JSON.parse(text) as InstallationPause)
}

/** Replaces the pause of an installation that was itself restored and not resumed. */
export async function writePause(tx: Db, pause: InstallationPause): Promise<void> {
  await removeSetting(tx, name)
  await addSetting(tx, name, JSON.stringify(pause))
}

/** Returns whether there was a pause to end. */
export const endPause = async (tx: Db): Promise<boolean> => (await removeSetting(tx, name)) > 0

/** The text that operators see. */
export const pausedSentence = ({ since, backup_made_at }: InstallationPause): string =>
  `This installation was restored at ${since} as it was at ${backup_made_at} and is paused: it accepts requests, and ` +
  'sends nothing, calls no webhook and runs no job. To continue: tidings resume'
