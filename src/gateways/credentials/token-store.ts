import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { sealedColumn } from '../../platform/secrets/sealed.ts'

export interface TokenRow {
  /** Sealed; empty if no token was made yet. */
  token: string
  issued_at: Date
  refresh_at: Date
  expires_at: Date
}

const columns = 'token, issued_at, refresh_at, expires_at'

// Returns the time of the database, also if there is no token.
const find = statement(
  'provider_tokens.find',
  `select ${columns}, clock_timestamp() as read_at from (values (1)) as one left join provider_tokens on name = $1`
)
// A little longer than a call to Google may take. The claim of a dead process expires after this time.
const claim = statement(
  'provider_tokens.claim',
  `insert into provider_tokens (name, token, issued_at, refresh_at, expires_at, held_by, held_until)
   values ($1, '', $3, $3, $3, $2, now() + interval '12 seconds')
   on conflict (name) do update set held_by = excluded.held_by, held_until = excluded.held_until
    where provider_tokens.held_until <= now()
   returning ${columns}, clock_timestamp() as read_at`
)
const write = statement(
  'provider_tokens.write',
  `update provider_tokens set token = $3, issued_at = $4, refresh_at = $5, expires_at = $6, held_until = now()
    where name = $1 and held_by = $2`
)
const release = statement(
  'provider_tokens.release',
  `update provider_tokens set held_until = now() + $3::int * interval '1 millisecond' where name = $1 and held_by = $2`
)
const sweep = statement(
  'provider_tokens.sweep',
  'delete from provider_tokens where expires_at < $1 and held_until < now()'
)

/** A row, with the time of the database's clock at which it was read. */
export type TokenRead = { [Name in keyof TokenRow]: TokenRow[Name] | null } & { read_at: Date }

export const findToken = async (db: Db, name: string) => (await db.one<TokenRead>(find, [name]))!

/** Claims the token for renewal and returns its row; undefined while another process has claimed it. */
export const claimToken = (db: Db, name: string, holder: string, at: Date) =>
  db.one<TokenRow & { read_at: Date }>(claim, [name, holder, at])

/** False: the claim has expired, and another process has taken over. */
export const writeToken = async (db: Db, name: string, holder: string, row: TokenRow) =>
  (await db.run(write, [name, holder, row.token, row.issued_at, row.refresh_at, row.expires_at])) > 0

/** Releases the claim; no process claims the token again before `pauseMs` is over. */
export const releaseToken = (db: Db, name: string, holder: string, pauseMs: number) =>
  db.run(release, [name, holder, pauseMs])

export const sweepTokens = (db: Db, before: Date) => db.run(sweep, [before])

sealedColumn({ table: 'provider_tokens', column: 'token', by: ['name'], context: ({ name }) => contextOfToken(name!) })

export const contextOfToken = (name: string): string => `provider_tokens/${name}`
