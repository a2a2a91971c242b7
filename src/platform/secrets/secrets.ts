import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, link, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../db/db.ts'
import { addSetting, getSetting } from '../db/store.ts'
import { OperatorError } from '../errors.ts'
import { makeFolders } from '../folders.ts'

/**
 * Returns the given key, or the one in the data folder, which the first start makes. `wasSetUp`: whether this is a
 * later start.
 */
export async function masterKey(
  given: Buffer | undefined,
  dataDir: string,
  wasSetUp: () => Promise<boolean>
): Promise<Buffer> {
  if (given) return given
  const file = join(dataDir, 'master.key')
  // A new key would open nothing, and its file would stand in place of the right one.
  if (!existsSync(file) && (await wasSetUp()))
    throw new OperatorError(
      `This database was set up with a master key, and ${file} is not there. Copy it from the node that set the database ` +
        `up, or from a backup, or set MASTER_KEY. If it is lost for good: \`tidings secrets forget --help\`.`,
      78
    )
  try {
    await makeFolders(dataDir)
    await makeOnce(file, `${randomBytes(32).toString('base64')}\n`)
  } catch (error) {
    throw cannotUse(file, error)
  }
  const key = await readKeyFile(file)
  await chmod(file, 0o600).catch(() => {})
  return key
}

/** 32 bytes in base64, as master.key holds them. */
export async function readKeyFile(
  file: string,
  otherwise = 'Restore it from a backup, or set MASTER_KEY'
): Promise<Buffer> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw cannotUse(file, error)
  })
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== 32 || !/^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim()))
    throw new OperatorError(`${file} does not hold a key (32 bytes in base64). ${otherwise}.`, 78)
  return key
}

/** A link is created atomically and never replaces a file: simultaneous starts agree on one key. */
async function makeOnce(file: string, text: string): Promise<void> {
  if (existsSync(file)) return
  const draft = `${file}.${randomUUID()}`
  await writeFile(draft, text, { mode: 0o600, flush: true })
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await unlink(draft)
}

const cannotUse = (file: string, error: unknown) =>
  new OperatorError(`The master key ${file} cannot be used: ${(error as Error).message}`, 78)

/** AES-256-GCM. `context` is bound to the text: a secret copied to another row does not open there. */
export function seal(key: Buffer, context: string, plain: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}`
}

/** Throws if the key, the context or a single bit differs. */
export function open(key: Buffer, context: string, sealed: string): string {
  const bytes = Buffer.from(sealed.replace(/^v1\./, ''), 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(12, 28))
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
}

/** The setting with a text that only the right key opens. */
export const checkName = 'master_key_check'

/** Whether the key belongs to this database. Undefined if the database has no key yet, or not even tables. */
export async function opensSecrets(db: Db, key: Buffer): Promise<boolean | undefined> {
  const sealed = await sealedCheck(db)
  if (sealed === undefined) return undefined
  try {
    open(key, checkName, sealed)
    return true
  } catch {
    return false
  }
}

/** Whether this database already has secrets sealed with a master key. */
export const hasSecrets = async (db: Db): Promise<boolean> => (await sealedCheck(db)) !== undefined

/** Also undefined if the database has no tables yet. */
const sealedCheck = (db: Db): Promise<string | undefined> =>
  getSetting(db, checkName).catch((error: NodeJS.ErrnoException) => {
    if (error.code === '42P01') return undefined
    throw error
  })

/** Refuses a key other than the one that sealed this database's secrets. */
export async function checkMasterKey(db: Db, key: Buffer): Promise<void> {
  await addSetting(db, checkName, seal(key, checkName, checkName))
  if (!(await opensSecrets(db, key)))
    throw new OperatorError(
      'MASTER_KEY is not the key this database was set up with. Nodes on one database must share it: copy MASTER_KEY, or ' +
        'the file master.key of the DATA_DIR of the first node. If it was changed (`tidings secrets rotate`), use the new one.',
      78
    )
}
