import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { newId } from '../platform/ids.ts'
import { hashOf, newCredential } from './keys.ts'
import type { TokenRow } from './store.ts'

/** A working day; the use of the console prolongs it, up to a month after the sign-in. */
const usualSeconds = 12 * 3_600
export const longestSessionSeconds = 30 * 24 * 3_600
export const codeSeconds = 15 * 60

/** How a browser signed in. `link`: by a sign-in link, an invitation or a reset link. */
export type How = 'password' | 'passkey' | 'oidc' | 'link' | 'token'

/** Whom a session acts for: a token, or a member. */
export type Holder = { tokenId: string } | { memberId: string }

/** What the list of sessions shows about a browser. */
export interface Browser {
  how: How
  userAgent: string
  address: string
}

const insertSession = statement(
  'sessions.insert',
  `insert into sessions (hash, token_id, member_id, is_code, expires_at, id, how, created_at, seen_at, user_agent, address)
   values ($1, $2, $3, false, $4, $5, $6, $7, $7, $8, $9)`
)
const insertCode = statement(
  'sessions.insert_code',
  'insert into sessions (hash, token_id, is_code, expires_at) values ($1, $2, true, $3)'
)
const find = statement(
  'sessions.find',
  `select s.hash, s.id, s.member_id, s.how, s.created_at, s.expires_at,
          case when t.id is not null
               then jsonb_build_object('id', t.id, 'name', t.name, 'role', t.role, 'project_id', t.project_id) end as token
     from sessions s left join tokens t on t.id = s.token_id
    where s.hash = any($1::bytea[]) and not s.is_code and s.expires_at > $2
      and (s.created_at is null or s.created_at > $3)`
)
const codes = statement(
  'sessions.codes',
  'select hash, token_id from sessions where hash = any($1::bytea[]) and is_code and expires_at > $2'
)
const prolong = statement(
  'sessions.prolong',
  'update sessions set expires_at = $2 where hash = any($1::bytea[]) and not is_code'
)
const see = statement('sessions.seen', 'update sessions set seen_at = $2 where id = any($1::uuid[])')
const remove = statement('sessions.remove', 'delete from sessions where hash = $1 and not is_code')
const removeAll = statement('sessions.remove_all', 'delete from sessions')
const removeById = statement('sessions.remove_by_id', 'delete from sessions where id = any($1::uuid[]) and not is_code')
const removeOfMember = statement(
  'sessions.remove_of_member',
  'delete from sessions where member_id = $1 and not is_code and id is distinct from $2'
)
const removeOfToken = statement(
  'sessions.remove_of_token',
  'delete from sessions where token_id = $1 and not is_code and id is distinct from $2'
)
const redeem = statement(
  'sessions.redeem',
  'delete from sessions where hash = $1 and is_code and expires_at > $2 returning token_id'
)
const sweep = statement('sessions.sweep', 'delete from sessions where expires_at <= $1')

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000)

/** Returns the text for the cookie; only its hash is stored. */
export async function openSession(db: Db, holder: Holder, { how, userAgent, address }: Browser): Promise<string> {
  const text = newCredential('session')
  const [tokenId, memberId] = 'tokenId' in holder ? [holder.tokenId, null] : [null, holder.memberId]
  const ends = inSeconds(usualSeconds)
  const shown = [printed(userAgent, 300), printed(address, 64)]
  await db.run(insertSession, [hashOf(text), tokenId, memberId, ends, newId(), how, new Date(), ...shown])
  return text
}

/** A header may hold any byte; a text column takes no NUL, and a list should show no control characters. */
const printed = (text: string, longest: number): string =>
  text
    .replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
    .toWellFormed()
    .slice(0, longest)

/** A code that can be exchanged for a session once, within a short time. */
export async function makeSignInCode(db: Db, tokenId: string): Promise<string> {
  const text = newCredential('code')
  await db.run(insertCode, [hashOf(text), tokenId, inSeconds(codeSeconds)])
  return text
}

/** Returns the token of a code, and invalidates the code. */
export async function redeemCode(db: Db, code: string): Promise<string | undefined> {
  return (await db.one<{ token_id: string }>(redeem, [hashOf(code), new Date()]))?.token_id
}

export interface SessionRow {
  hash: Buffer
  id: string | null
  member_id: string | null
  how: How | null
  created_at: Date | null
  /** Null for a member, and if the token was revoked. */
  token: Pick<TokenRow, 'id' | 'name' | 'role' | 'project_id'> | null
}

/** The sessions that are still valid. Those that are used in their second half are prolonged. */
export async function findSessions(db: Db, hashes: Buffer[]): Promise<SessionRow[]> {
  const from = inSeconds(-longestSessionSeconds)
  const found = await db.query<SessionRow & { expires_at: Date }>(find, [hashes, new Date(), from])
  const half = inSeconds(usualSeconds / 2)
  // Not those of an identity provider: its groups must be read again the next day.
  const late = found.filter(({ expires_at, how }) => expires_at < half && how !== 'oidc').map(({ hash }) => hash)
  if (late.length > 0) await db.run(prolong, [late, inSeconds(usualSeconds)])
  return found
}

/** The codes that can still be exchanged. */
export const findCodes = (db: Db, hashes: Buffer[]) =>
  db.query<{ hash: Buffer; token_id: string }>(codes, [hashes, new Date()])

export const markSessionsSeen = (db: Db, ids: string[], at: Date) => db.run(see, [ids, at])

export const endSession = (db: Db, text: string) => db.run(remove, [hashOf(text)])

export const endSessionsById = (db: Db, ids: string[]) => db.run(removeById, [ids])

/** Ends all sessions of a token or a member; `except` is the id of one that stays. */
export const endSessionsOf = (db: Db, holder: Holder, except: string | null = null) =>
  'tokenId' in holder
    ? db.run(removeOfToken, [holder.tokenId, except])
    : db.run(removeOfMember, [holder.memberId, except])

export const sweepSessions = (db: Db, now: Date) => db.run(sweep, [now])

/** Ends all sessions and sign-in codes, for example those that were ended after a backup and came back with it. */
export const endAllSessions = (db: Db) => db.run(removeAll)
