import { readFile, stat } from 'node:fs/promises'
import { exit, Failure } from '../exit.ts'
import { reason } from '../output.ts'

const largest = 1_000_000

/** Reads a key or a service account. */
export async function readSmallFile(file: string): Promise<string> {
  const failed = (why: string) => new Failure(exit.failure, 'file', `${file} cannot be read: ${why}.`)
  const found = await stat(file).catch((error) => {
    throw failed(reason(error))
  })
  if (found.isDirectory()) throw failed('it is a folder')
  if (found.size > largest) throw failed('it is too large to be a credential')
  const bytes = await readFile(file).catch((error) => {
    throw failed(reason(error))
  })
  return bytes.toString('utf8')
}

/** Reads `@file`, which keeps a secret out of the list of processes. */
export const textOrFile = async (value: string): Promise<string> =>
  value.startsWith('@') ? (await readSmallFile(value.slice(1))).trim() : value
