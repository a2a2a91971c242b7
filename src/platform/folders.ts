import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and its missing parents, closed to other users, and returns the topmost folder that it made. Node's
 * own function reports ENOENT for a read-only disk, and never returns below /proc.
 */
export async function makeFolders(folder: string): Promise<string | undefined> {
  try {
    return await makeOne(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) throw error
    const first = await makeFolders(dirname(folder))
    const made = await makeOne(folder)
    return first ?? made
  }
}

/** Returns undefined if it already exists. */
async function makeOne(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return folder
  } catch (error) {
    if ((await stat(folder).catch(() => undefined))?.isDirectory()) return undefined
    throw error
  }
}
