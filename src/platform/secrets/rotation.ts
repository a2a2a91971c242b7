import { existsSync } from 'node:fs'
import { chmod, copyFile, open as openFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Db, Pool } from '../db/db.ts'
import { OperatorError } from '../errors.ts'
import { resealAll } from './sealed.ts'
import { checkMasterKey, opensSecrets, readKeyFile } from './secrets.ts'

/**
 * Changing the master key changes a database and a file, which share no transaction. The new key is therefore on disk,
 * as master.key.new, before the database changes, and replaces master.key afterwards. A start that finds both asks the
 * database which of them it is sealed with: a kill at any moment loses nothing.
 */
export const keyFiles = (dataDir: string) => ({
  current: join(dataDir, 'master.key'),
  next: join(dataDir, 'master.key.new'),
  /** The old key, for backups of the database from before the change. */
  previous: join(dataDir, 'master.key.old')
})

/** Finishes a change of the key that was interrupted after the database had changed. Returns whether there was one. */
export async function finishRotation(db: Db, dataDir: string): Promise<boolean> {
  const { current, next } = keyFiles(dataDir)
  if (!existsSync(next)) return false
  // The change is not committed, or not yet: the old key is right, and a running change still needs the file.
  if (existsSync(current) && (await opensSecrets(db, await readKeyFile(current))) !== false) return false
  const fresh = await readKeyFile(next).catch(() => undefined)
  if (!fresh || !(await opensSecrets(db, fresh))) return false
  await replaceKeyFile(dataDir)
  return true
}

export interface Rotation {
  pool: Pool
  dataDir: string
  oldKey: Buffer
  newKey: Buffer
  /** Whether the key is stored in the data folder, and not in MASTER_KEY. */
  inFile: boolean
  /** Whether the operator already has the new key; otherwise it is written to a file first. */
  keptElsewhere: boolean
}

/** Call it under the migration lock, so that no node starts meanwhile. */
export async function rotateMasterKey(rotation: Rotation): Promise<Record<string, number>> {
  const { pool, dataDir, oldKey, newKey, inFile, keptElsewhere } = rotation
  if (oldKey.equals(newKey)) throw new OperatorError('The new key is the old one. Nothing was changed.')
  await checkMasterKey(pool, oldKey)
  const written = inFile || !keptElsewhere
  if (written) await writeNextKey(dataDir, newKey)
  const counts = await pool
    .transaction((tx) => resealAll(tx, oldKey, newKey))
    .catch(async (error) => {
      // The response may have been lost: the file is deleted only if the database shows that nothing changed.
      const unchanged = await opensSecrets(pool, oldKey).catch(() => undefined)
      if (unchanged && written) await rm(keyFiles(dataDir).next, { force: true })
      throw error
    })
  if (inFile) {
    await replaceKeyFile(dataDir).catch((error: Error) => {
      const { current, next } = keyFiles(dataDir)
      throw new OperatorError(
        `The secrets are sealed with the new key, but ${next} could not take the place of ${current} (${error.message}). ` +
          'The next start does it, or do it yourself.'
      )
    })
  }
  return counts
}

async function writeNextKey(dataDir: string, key: Buffer): Promise<void> {
  const { next } = keyFiles(dataDir)
  try {
    await rm(next, { force: true })
    const file = await openFile(next, 'wx', 0o600)
    try {
      await file.writeFile(`${key.toString('base64')}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await syncFolder(next)
  } catch (error) {
    throw new OperatorError(
      `The new key cannot be written to ${next}: ${(error as Error).message}. Nothing was changed.`,
      78
    )
  }
}

async function replaceKeyFile(dataDir: string): Promise<void> {
  const { current, next, previous } = keyFiles(dataDir)
  if (existsSync(current)) {
    await copyFile(current, previous)
    await chmod(previous, 0o600)
  }
  await rename(next, current)
  await syncFolder(current)
}

/** A renamed file survives a power cut only if its folder was synced too. */
async function syncFolder(file: string): Promise<void> {
  const folder = await openFile(dirname(file), 'r')
  await folder.sync().catch(() => {}) // Not every filesystem can.
  await folder.close()
}
