import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import { Refusal } from '../../platform/errors.ts'

const insert = statement(
  'member_identities.insert',
  `insert into member_identities (issuer, subject, member_id, created_at, last_used_at) values ($1, $2, $3, $4, $4)
   on conflict (issuer, subject) do nothing`
)
const find = statement(
  'member_identities.find',
  'select member_id from member_identities where issuer = $1 and subject = $2 for update'
)
const use = statement(
  'member_identities.use',
  'update member_identities set last_used_at = $3 where issuer = $1 and subject = $2'
)
const move = statement(
  'member_identities.move',
  'update member_identities set member_id = $3 where issuer = $1 and subject = $2'
)
const remove = statement('member_identities.remove', 'delete from member_identities where member_id = any($1::uuid[])')
const issuersOf = statement(
  'member_identities.of_member',
  'select issuer from member_identities where member_id = $1 limit 1'
)

export interface Identity {
  issuer: string
  subject: string
}

/** Returns false if the identity belongs to a member already. Waits for a sign-in of the same identity at the same time. */
export const addIdentity = async (db: Db, { issuer, subject }: Identity, memberId: string, at: Date) =>
  (await db.run(insert, [issuer, subject, memberId, at])) > 0

/** The member of an identity. The row is locked, so that two sign-ins do not write roles at the same time. */
export const memberOfIdentity = async (db: Db, { issuer, subject }: Identity) =>
  (await db.one<{ member_id: string }>(find, [issuer, subject]))?.member_id

export const setIdentityMember = (db: Db, { issuer, subject }: Identity, memberId: string) =>
  db.run(move, [issuer, subject, memberId])

export const markIdentityUsed = (db: Db, { issuer, subject }: Identity, at: Date) => db.run(use, [issuer, subject, at])

export const removeIdentitiesOf = (db: Db, memberIds: string[]) => db.run(remove, [memberIds])

/** The issuer of the provider that signs a member in; undefined if none does. */
export const issuerOf = async (db: Db, memberId: string) =>
  (await db.one<{ issuer: string }>(issuersOf, [memberId]))?.issuer

/** The groups of a provider decide about the roles of its members, so nothing else may sign them in. */
export async function refuseOfProvider(db: Db, memberId: string): Promise<void> {
  if (await issuerOf(db, memberId))
    throw new Refusal(
      'conflict',
      'This member signs in with the identity provider only, and has the roles of its groups.'
    )
}
