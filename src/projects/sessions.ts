import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { hashOf, newCredential } from './keys.ts'
import type { TokenRow } from './store.ts'

/** A working day, and longer while the console is used. */
export const sessionSeconds = 12 * 3_600
const codeSeconds = 15 * 60

const insert = statement(
  'sessions.insert',
  'insert into sessions (hash, token_id, is_code, expires_at) values ($1, $2, $3, $4)'
)
const find = statement(
  'sessions.find',
  `select t.id, t.project_id, t.role, t.name, t.prefix, t.created_at, t.last_used_at, s.expires_at
     from sessions s join tokens t on t.id = s.token_id
    where s.hash = $1 and not s.is_code and s.expires_at > $2`
)
const prolong = statement('sessions.prolong', 'update sessions set expires_at = $2 where hash = $1 and not is_code')
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

/** Answers the text for the cookie; only its hash is kept. */
export const openSession = (db: Db, tokenId: string) => make(db, tokenId, false, sessionSeconds)

/** A code that can be exchanged for a session once, soon. */
export const makeSignInCode = (db: Db, tokenId: string) => make(db, tokenId, true, codeSeconds)

/** The token that a code stands for. It is used up. */
export async function redeemCode(db: Db, code: string): Promise<string | undefined> {
  return (await db.one<{ token_id: string }>(redeem, [hashOf(code), new Date()]))?.token_id
}

/** The token of a session that still lasts. One that is used in its second half is prolonged. */
export async function findSession(db: Db, text: string): Promise<TokenRow | undefined> {
  const found = await db.one<TokenRow & { expires_at: Date }>(find, [hashOf(text), new Date()])
  if (!found) return undefined
  const { expires_at, ...token } = found
  if (expires_at < inSeconds(sessionSeconds / 2)) await db.run(prolong, [hashOf(text), inSeconds(sessionSeconds)])
  return token
}

export const endSession = (db: Db, text: string) => db.run(remove, [hashOf(text)])

export const sweepSessions = (db: Db, now: Date) => db.run(sweep, [now])
