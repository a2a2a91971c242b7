import { statfsSync } from 'node:fs'

const mebibyte = 1024 * 1024
/** PostgreSQL writes its log of changes in files of 16 MiB, and needs one more to recover. */
const neededMiB = 32

/** A sentence if the disk that holds the folder has too little space for PostgreSQL; undefined if it cannot be known. */
export function tooFull(folder: string): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize >= neededMiB * mebibyte) return undefined
    const leftMiB = Math.floor((bavail * bsize) / mebibyte)
    return `The disk that holds ${folder} has ${leftMiB} MiB left: free some, because writes get 503 without space.`
  } catch {
    return undefined
  }
}
