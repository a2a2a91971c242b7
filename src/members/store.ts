import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Role } from '../projects/projects.ts'
import { isStillMade } from './link-store.ts'

export interface MemberRow {
  id: string
  email: string
  name: string
  /** Null: invited, and has never signed in. */
  joined_at: Date | null
  has_password: boolean
}

const columns = 'id, email, name, joined_at, password is not null as has_password'

// An address that was a member before gets its id back: the same person.
const insertMember = statement(
  'members.insert',
  `insert into members (id, email, email_key, name, created_at) values ($1, $2, $3, $4, $5)
   on conflict (email_key) do update set removed_at = null
   returning ${columns}`
)
const findById = statement('members.find', `select ${columns} from members where id = $1 and removed_at is null`)
const lockById = statement(
  'members.lock',
  `select ${columns} from members where id = $1 and removed_at is null for update`
)
const findByKey = statement(
  'members.by_email',
  `select ${columns}, password from members where email_key = $1 and removed_at is null`
)
const joinMember = statement(
  'members.join',
  'update members set name = $2, joined_at = $3, seen_at = $3 where id = $1 and joined_at is null'
)
const renameMember = statement('members.rename', 'update members set name = $2 where id = $1')
const setPasswordOf = statement('members.set_password', 'update members set password = $2 where id = $1')
const replacePasswordOf = statement(
  'members.replace_password',
  'update members set password = $3 where id = $1 and password = $2'
)
const readPassword = statement('members.password', 'select password from members where id = $1')
const see = statement('members.seen', 'update members set seen_at = $2 where id = any($1::uuid[])')
const anyJoined = statement('members.any_joined', 'select 1 from members where joined_at is not null limit 1')
const names = statement('members.names', 'select id, name, email from members where id = any($1::uuid[])')
const retire = statement(
  'members.retire',
  `update members set removed_at = $2, joined_at = null, password = null
    where id = any($1::uuid[]) and not exists (select 1 from memberships s where s.member_id = members.id)
   returning id`
)
const sweep = statement('members.sweep', 'delete from members where removed_at < $1')

/** Adds a member who has not joined yet, or returns the one with this address. */
export const addMember = async (db: Db, id: string, email: { shown: string; key: string }, at: Date) =>
  (await db.one<MemberRow>(insertMember, [id, email.shown, email.key, '', at]))!

export const findMember = (db: Db, id: string) => db.one<MemberRow>(findById, [id])

/** The same, and blocks other changes of this member until the transaction ends. */
export const lockMember = (db: Db, id: string) => db.one<MemberRow>(lockById, [id])

export const findByEmail = (db: Db, key: string) => db.one<MemberRow & { password: string | null }>(findByKey, [key])

/** Returns false if the member has joined before. */
export const join = async (db: Db, id: string, name: string, at: Date) => (await db.run(joinMember, [id, name, at])) > 0

export const rename = (db: Db, id: string, name: string) => db.run(renameMember, [id, name])

export const setPassword = (db: Db, id: string, hash: string | null) => db.run(setPasswordOf, [id, hash])

/** Replaces a hash by another one of the same password, unless the password was changed meanwhile. */
export const replacePassword = (db: Db, id: string, old: string, hash: string) =>
  db.run(replacePasswordOf, [id, old, hash])

export const passwordOf = async (db: Db, id: string) =>
  (await db.one<{ password: string | null }>(readPassword, [id]))?.password ?? null

export const markSeen = (db: Db, ids: string[], at: Date) => db.run(see, [ids, at])

/** Whether any member has joined. */
export const hasMembers = async (db: Db) => (await db.one(anyJoined)) !== undefined

export const findNames = (db: Db, ids: string[]) => db.query<Pick<MemberRow, 'id' | 'name' | 'email'>>(names, [ids])

/** Ends the accounts of those that have no membership left, and returns their ids. */
export const retireMembers = async (db: Db, ids: string[], at: Date): Promise<string[]> =>
  (await db.query<{ id: string }>(retire, [ids, at])).map(({ id }) => id)

export const sweepMembers = (db: Db, removedBefore: Date) => db.run(sweep, [removedBefore])

const listRows = statement(
  'memberships.list',
  `select m.id, m.email, m.name, m.seen_at, m.password is not null as has_password, s.role, s.project_id, s.source,
          s.created_at, s.accepted_at, l.expires_at as invited_until
     from memberships s join members m on m.id = s.member_id
     left join lateral (
       select max(k.expires_at) as expires_at from member_links k
        where k.member_id = s.member_id and k.kind = 'invitation' and k.project_id is not distinct from s.project_id
          and ${isStillMade}
     ) l on true
    where ($1::text[] is null or s.project_id = any($1::text[]))
      and ($2::text is null or s.project_id = $2) and ($3::uuid is null or m.id = $3)
      and ($4::uuid is null or (m.id, coalesce(s.project_id, '')) > ($4, $5))
    order by m.id, coalesce(s.project_id, '') limit $6`
)

export interface ListedMember {
  id: string
  email: string
  name: string
  seen_at: Date | null
  has_password: boolean
  role: Role
  project_id: ProjectId | null
  source: string
  created_at: Date
  accepted_at: Date | null
  invited_until: Date | null
}

export interface MemberFilter {
  /** The projects that the caller may see; null: all, and the whole installation. */
  reach: ProjectId[] | null
  projectId?: string | undefined
  memberId?: string | undefined
}

/** Memberships with their members, oldest members first. */
export const listMembers = (
  db: Db,
  { reach, projectId, memberId }: MemberFilter,
  after: [string, string] | undefined,
  limit: number
) =>
  db.query<ListedMember>(listRows, [
    reach,
    projectId ?? null,
    memberId ?? null,
    after?.[0] ?? null,
    after?.[1] ?? null,
    limit
  ])
