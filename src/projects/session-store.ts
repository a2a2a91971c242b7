import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { hashOf, newCredential } from './keys.ts'
import type { TokenRow } from './store.ts'

/** A working day; the use of the console prolongs it. */
export const sessionSeconds = 12 * 3_600
export const codeSeconds = 15 * 60

const insert = statement(
  'sessions.insert',
  'insert into sessions (hash, token_id, is_code, expires_at) values ($1, $2, $3, $4)'
)
const find = statement(
  'sessions.find',
  `select s.hash, t.id, t.project_id, t.role, t.name, t.prefix, t.created_at, t.last_used_at, s.expires_at
     from sessions s join tokens t on t.id = s.token_id
    where s.hash = any($1::bytea[]) and not s.is_code and s.expires_at > $2`
)
const codes = statement(
  'sessions.codes',
  'select hash, token_id from sessions where hash = any($1::bytea[]) and is_code and expires_at > $2'
)
const prolong = statement(
  'sessions.prolong',
  'update sessions set expires_at = $2 where hash = any($1::bytea[]) and not is_code'
)
const remove = statement('sessions.remove', 'delete from sessions where hash = $1 and not is_code')
const redeem = statement(
  'sessions.redeem',
  'delete from sessions where hash = $1 and is_code and expires_at > $2 returning token_id'
)
const sweep = statement('sessions.sweep', 'delete from sessions where expires_at <= $1')

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000)

async function make(db: Db, tokenId: string, isCode: boolean, seconds: number): Promise<string> {
  const text = newCredential(isCode ? 'code' : 'session')
  await db.run(insert, [hashOf(text), tokenId, isCode, inSeconds(seconds)])
  return text
}

/** Returns the text for the cookie; only its hash is stored. */
export const openSession = (db: Db, tokenId: string) => make(db, tokenId, false, sessionSeconds)

/** A code that can be exchanged for a session once, within a short time. */
export const makeSignInCode = (db: Db, tokenId: string) => make(db, tokenId, true, codeSeconds)

/** Returns the token of a code, and invalidates the code. */
export async function redeemCode(db: Db, code: string): Promise<string | undefined> {
  return (await db.one<{ token_id: string }>(redeem, [hashOf(code), new Date()]))?.token_id
}

/** The tokens of those sessions that are still valid. Sessions that are used in their second half are prolonged. */
export async function findSessions(db: Db, hashes: Buffer[]): Promise<(TokenRow & { hash: Buffer })[]> {
  const found = await db.query<TokenRow & { hash: Buffer; expires_at: Date }>(find, [hashes, new Date()])
  const half = inSeconds(sessionSeconds / 2)
  const late = found.filter(({ expires_at }) => expires_at < half).map(({ hash }) => hash)
  if (late.length > 0) await db.run(prolong, [late, inSeconds(sessionSeconds)])
  return found.map(({ expires_at: _, ...token }) => token)
}

/** The codes that can still be exchanged. */
export const findCodes = (db: Db, hashes: Buffer[]) =>
  db.query<{ hash: Buffer; token_id: string }>(codes, [hashes, new Date()])

export const endSession = (db: Db, text: string) => db.run(remove, [hashOf(text)])

export const sweepSessions = (db: Db, now: Date) => db.run(sweep, [now])
