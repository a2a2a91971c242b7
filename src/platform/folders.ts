import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes a folder and those above it that are missing, closed to other users, and returns the uppermost that was made. Node can
 * do this by itself, but says ENOENT of a disk that is read-only, and does not come to an end below /proc.
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

/** Returns undefined where it exists already. */
async function makeOne(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { mode: 0o700 })
    return folder
  } catch (error) {
    if ((await stat(folder).catch(() => undefined))?.isDirectory()) return undefined
    throw error
  }
}
