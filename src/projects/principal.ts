import type { ProjectId } from '../platform/ids.ts'
import type { Role } from './keys.ts'
import type { TokenRow } from './store.ts'

/** Who uses the management surface, with its roles: a token (a program) or a member (a person). */
export interface Principal {
  kind: 'token' | 'member'
  id: string
  name: string
  /** The address of a member; absent for a token. */
  email?: string
  /** The role in the whole installation; null: roles in single projects only. */
  role: Role | null
  /** The roles in single projects, beside the one in the whole installation. */
  roles: ReadonlyMap<string, Role>
}

const rank: Record<Role, number> = { viewer: 0, editor: 1, admin: 2 }

export const atLeast = (role: Role, least: Role): boolean => rank[role] >= rank[least]

const higher = (a: Role | null | undefined, b: Role | null | undefined): Role | undefined =>
  a && b ? (atLeast(a, b) ? a : b) : (a ?? b ?? undefined)

/** How audit logs name it. */
export const actorOf = ({ kind, id }: Pick<Principal, 'kind' | 'id'>): string => `${kind} ${id}`

/** The role in one project: its own one, or that in the whole installation if it is higher. */
export const roleIn = ({ role, roles }: Principal, projectId: string): Role | undefined =>
  higher(role, roles.get(projectId))

/** The highest of all roles. */
export const highestRole = ({ role, roles }: Principal): Role | undefined =>
  [...roles.values()].reduce<Role | undefined>(higher, role ?? undefined)

/** The projects in which it has at least this role; null: the whole installation. */
export function reachOf({ role, roles }: Principal, least: Role): ProjectId[] | null {
  if (role && atLeast(role, least)) return null
  return [...roles].filter(([, own]) => atLeast(own, least)).map(([projectId]) => projectId as ProjectId)
}

export const principalOf = ({
  id,
  name,
  role,
  project_id
}: Pick<TokenRow, 'id' | 'name' | 'role' | 'project_id'>): Principal => ({
  kind: 'token',
  id,
  name,
  role: project_id === null ? role : null,
  roles: new Map(project_id === null ? [] : [[project_id, role]])
})
