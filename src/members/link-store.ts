import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { hashOf, newCredential } from '../projects/projects.ts'
import type { Scope } from './membership-store.ts'

export type LinkKind = 'invitation' | 'reset'

export interface Link {
  member_id: string
  kind: LinkKind
  /** The membership that an invitation is for. */
  project_id: Scope
  expires_at: Date
}

const daySeconds = 24 * 3_600
/** People are on holiday; a link that sets a password is used at once. */
const lastsSeconds: Record<LinkKind, number> = { invitation: 7 * daySeconds, reset: daySeconds }

const insert = statement(
  'member_links.insert',
  'insert into member_links (hash, member_id, kind, project_id, expires_at, made_by) values ($1, $2, $3, $4, $5, $6)'
)
const isAdminOf = (scope: string) => `(
  exists (select 1 from memberships a where a.member_id = k.made_by and a.role = 'admin' and a.accepted_at is not null
             and (a.project_id is null or a.project_id = ${scope}))
  or exists (select 1 from tokens t where t.id = k.made_by and t.role = 'admin'
                and (t.project_id is null or t.project_id = ${scope})))`
/** For statements with a link `k`: whether its maker may still make it. A reset link needs an admin of all that the member has accepted. */
export const isStillMade = `(k.made_by is null or case k.kind
  when 'invitation' then ${isAdminOf('k.project_id')}
  else not exists (select 1 from memberships o where o.member_id = k.member_id and o.accepted_at is not null
                      and not ${isAdminOf('o.project_id')}) end)`
const find = statement(
  'member_links.find',
  `select member_id, kind, project_id, expires_at from member_links k
    where hash = $1 and expires_at > $2 and ${isStillMade}`
)
const known = statement(
  'member_links.known',
  'select hash from member_links where hash = any($1::bytea[]) and expires_at > $2'
)
const redeem = statement(
  'member_links.redeem',
  `delete from member_links k where hash = $1 and expires_at > $2 and ${isStillMade}
   returning member_id, kind, project_id, expires_at`
)
const removeOne = statement(
  'member_links.remove_one',
  'delete from member_links where member_id = $1 and kind = $2 and project_id is not distinct from $3'
)
const removeOfKind = statement(
  'member_links.remove_of_kind',
  'delete from member_links where member_id = $1 and kind = $2'
)
const removeOfProject = statement('member_links.remove_of_project', 'delete from member_links where project_id = $1')
const sweep = statement('member_links.sweep', 'delete from member_links where expires_at <= $1')

const forgetResets = statement('member_links.forget_resets', `delete from member_links where kind = 'reset'`)

/** Forgets all reset links: a restored backup brings back those that were used since. */
export const forgetResetLinks = (db: Db) => db.run(forgetResets)

/** Makes a link in place of an earlier one for the same. Only the hash of its text is stored. */
export async function makeLink(db: Db, memberId: string, kind: LinkKind, scope: Scope, madeBy: string) {
  const text = newCredential(kind)
  const expiresAt = new Date(Date.now() + lastsSeconds[kind] * 1_000)
  await db.run(removeOne, [memberId, kind, scope])
  await db.run(insert, [hashOf(text), memberId, kind, scope, expiresAt, madeBy])
  return { text, expiresAt }
}

/** Those of these hashes whose links can still be used. */
export const findLinks = (db: Db, hashes: Buffer[]) => db.query<{ hash: Buffer }>(known, [hashes, new Date()])

export const findLink = (db: Db, text: string) => db.one<Link>(find, [hashOf(text), new Date()])

/** Returns the link of a text and removes it: it works once. */
export const redeemLink = (db: Db, text: string) => db.one<Link>(redeem, [hashOf(text), new Date()])

export const removeLink = (db: Db, memberId: string, kind: LinkKind, scope: Scope) =>
  db.run(removeOne, [memberId, kind, scope])

export const removeLinks = (db: Db, memberId: string, kind: LinkKind) => db.run(removeOfKind, [memberId, kind])

export const removeLinksOfProject = (db: Db, projectId: string) => db.run(removeOfProject, [projectId])

export const sweepLinks = (db: Db, now: Date) => db.run(sweep, [now])
