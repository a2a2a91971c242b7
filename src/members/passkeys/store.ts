import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { newId } from '../../platform/ids.ts'

export interface PasskeyRow {
  id: string
  member_id: string
  credential_id: string
  rp_id: string
  public_key: Buffer
  /** The name of the account inside the authenticator. */
  user_handle: string
  /** As text: a bigint. */
  counter: string
  transports: string[]
  name: string
  created_at: Date
  last_used_at: Date | null
}

const columns =
  'id, member_id, credential_id, rp_id, public_key, user_handle, counter, transports, name, created_at, last_used_at'
const insert = statement(
  'passkeys.insert',
  `insert into passkeys (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, null)
   on conflict (credential_id) do nothing`
)
const ofMember = statement(
  'passkeys.of_member',
  `select ${columns} from passkeys where member_id = $1 order by created_at, id limit $2`
)
const find = statement('passkeys.find', `select ${columns} from passkeys where credential_id = $1`)
const use = statement(
  'passkeys.use',
  // Zero: the authenticator does not count. Otherwise the counter must rise, also between two nodes at once.
  `update passkeys set counter = $2, last_used_at = $3
    where credential_id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`
)
const rename = statement(
  'passkeys.rename',
  `update passkeys set name = $3 where member_id = $1 and id = $2 returning ${columns}`
)
const remove = statement('passkeys.remove', 'delete from passkeys where member_id = $1 and id = $2 returning name')
const removeAll = statement('passkeys.remove_all', 'delete from passkeys where member_id = any($1::uuid[])')
const spend = statement(
  'used_challenges.insert',
  'insert into used_challenges (hash, expires_at) values ($1, $2) on conflict (hash) do nothing'
)
const sweep = statement('used_challenges.sweep', 'delete from used_challenges where expires_at <= $1')

/** The most passkeys of one member. */
export const mostPasskeys = 20

export type NewPasskey = Omit<PasskeyRow, 'id' | 'counter' | 'created_at' | 'last_used_at'> & { counter: number }

/** Returns undefined if a passkey of the same credential exists already. */
export async function insertPasskey(db: Db, passkey: NewPasskey): Promise<PasskeyRow | undefined> {
  const row = { ...passkey, id: newId(), counter: String(passkey.counter), created_at: new Date(), last_used_at: null }
  const { id, member_id, credential_id, rp_id, public_key, user_handle, counter, transports, name, created_at } = row
  const written = await db.run(insert, [
    id,
    member_id,
    credential_id,
    rp_id,
    public_key,
    user_handle,
    counter,
    transports,
    name,
    created_at
  ])
  return written > 0 ? row : undefined
}

export const passkeysOf = (db: Db, memberId: string) => db.query<PasskeyRow>(ofMember, [memberId, mostPasskeys])

export const findPasskey = (db: Db, credentialId: string) => db.one<PasskeyRow>(find, [credentialId])

/** Records a use. False: the counter did not rise, so a copy of the authenticator may exist. */
export const recordUse = async (db: Db, credentialId: string, counter: number): Promise<boolean> =>
  (await db.run(use, [credentialId, counter, new Date()])) > 0

/** Returns the name of the removed passkey. */
export const removePasskey = async (db: Db, memberId: string, id: string) =>
  (await db.one<{ name: string }>(remove, [memberId, id]))?.name

export const renamePasskey = (db: Db, memberId: string, id: string, name: string) =>
  db.one<PasskeyRow>(rename, [memberId, id, name])

export const removePasskeysOf = (db: Db, memberIds: string[]) => db.run(removeAll, [memberIds])

/** Whether this is the first use of a challenge. */
export const spendChallenge = async (db: Db, hash: Buffer, end: Date): Promise<boolean> =>
  (await db.run(spend, [hash, end])) > 0

export const sweepChallenges = (db: Db, now: Date) => db.run(sweep, [now])
