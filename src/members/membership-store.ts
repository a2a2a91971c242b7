import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Role } from '../projects/projects.ts'

/** A project, or null for the whole installation. */
export type Scope = ProjectId | null

/** Where a role comes from. Roles of a provider of identities are written again at each sign-in. */
export type Source = 'invitation' | 'oidc'

export interface Membership {
  project_id: Scope
  role: Role
  source: Source
  accepted_at: Date | null
}

const columns = 'project_id, role, source, accepted_at'

const roles = statement(
  'memberships.roles',
  `select m.id, m.name, m.email, s.project_id, s.role from members m join memberships s on s.member_id = m.id
    where m.id = any($1::uuid[]) and m.joined_at is not null and s.accepted_at is not null`
)
const ofMember = statement('memberships.of_member', `select ${columns} from memberships where member_id = $1`)
const put = statement(
  'memberships.put',
  `insert into memberships (member_id, project_id, role, source, created_at, accepted_at) values ($1, $2, $3, $4, $5, $6)
   on conflict (member_id, project_id) do update
      set role = excluded.role, source = excluded.source,
          accepted_at = coalesce(memberships.accepted_at, excluded.accepted_at)`
)
const accept = statement(
  'memberships.accept',
  `update memberships set accepted_at = $3
    where member_id = $1 and project_id is not distinct from $2 and accepted_at is null`
)
const change = statement(
  'memberships.change_role',
  'update memberships set role = $3 where member_id = $1 and project_id is not distinct from $2'
)
const remove = statement(
  'memberships.remove',
  'delete from memberships where member_id = $1 and project_id is not distinct from $2'
)
// Ordered, so that two changes at once lock the rows in the same order.
const lockAdmins = statement(
  'memberships.lock_admins',
  `select member_id from memberships
    where project_id is null and role = 'admin' and accepted_at is not null order by member_id for update`
)
const removeOfProject = statement(
  'memberships.remove_of_project',
  `delete from memberships where project_id = $1 and member_id in (
     select member_id from memberships where project_id = $1 order by member_id limit $2) returning member_id, accepted_at is not null as accepted`
)

/** The roles that count, of members who have joined: one row for each role. */
export const findRoles = (db: Db, ids: string[]) =>
  db.query<{ id: string; name: string; email: string; project_id: Scope; role: Role }>(roles, [ids])

export const membershipsOf = (db: Db, memberId: string) => db.query<Membership>(ofMember, [memberId])

/** Adds a membership, or changes its role and source. An accepted one stays accepted. */
export const putMembership = (
  db: Db,
  memberId: string,
  { project_id, role, source, accepted_at }: Membership,
  at: Date
) => db.run(put, [memberId, project_id, role, source, at, accepted_at])

/** Returns false if there is no open invitation of this scope. */
export const acceptMembership = async (db: Db, memberId: string, scope: Scope, at: Date) =>
  (await db.run(accept, [memberId, scope, at])) > 0

export const changeRole = async (db: Db, memberId: string, scope: Scope, role: Role) =>
  (await db.run(change, [memberId, scope, role])) > 0

export const removeMembership = async (db: Db, memberId: string, scope: Scope) =>
  (await db.run(remove, [memberId, scope])) > 0

/** The admins of the whole installation, held until the end of the transaction: the last one must stay. */
export const lockInstallationAdmins = async (db: Db): Promise<string[]> =>
  (await db.query<{ member_id: string }>(lockAdmins)).map(({ member_id }) => member_id)

/** Deletes a batch of the memberships of a project, and returns their members. */
export const removeOfProjectBatch = (db: Db, projectId: ProjectId, most: number) =>
  db.query<{ member_id: string; accepted: boolean }>(removeOfProject, [projectId, most])
