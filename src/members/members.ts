import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../platform/db/db.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import { type How, type People, type Principal, type Role, roleIn } from '../projects/projects.ts'
import { type BrowserNeeds, createBrowsers } from './browser.ts'
import { findRoles } from './membership-store.ts'
import * as store from './store.ts'

export type Members = ReturnType<typeof createMembers>

export function createMembers(needs: BrowserNeeds) {
  const browsers = createBrowsers(needs)
  return {
    browsers,
    /** Opens a session for a member who has proved who it is, and sets the cookies of the response. */
    signIn: (memberId: string, how: How, request: FastifyRequest, reply: FastifyReply) =>
      browsers.signIn(request, reply, { memberId }, how),
    /** Whether the first member is still to be made. */
    none: async () => !(await store.hasMembers(needs.pool))
  }
}

/** What admission must know about members. */
export const peopleOf = (db: Db): People => ({
  members: (ids) => principalsOf(db, ids),
  seen: (ids, at) => store.markSeen(db, ids, at)
})

/** The members of these ids that have joined and have a role somewhere. */
export async function principalsOf(db: Db, ids: string[]): Promise<Map<string, Principal>> {
  const rows = Map.groupBy(await findRoles(db, ids), ({ id }) => id)
  return new Map(
    [...rows].map(([id, [first, ...more]]) => {
      const own = [first!, ...more]
      const roles = new Map<string, Role>(
        own.flatMap(({ project_id, role }) => (project_id ? [[project_id, role]] : []))
      )
      const role = own.find(({ project_id }) => project_id === null)?.role ?? null
      return [id, { kind: 'member', id, name: first!.name, email: first!.email, role, roles }]
    })
  )
}

/** The names of those actors of an audit log that are members, also of removed ones; others are left out. */
export async function namesOf(
  db: Db,
  actors: readonly string[]
): Promise<Map<string, { name: string; email: string }>> {
  const ids = actors.flatMap((actor) => /^member (.+)$/.exec(actor)?.[1] ?? []).filter(isUuid)
  const rows = ids.length > 0 ? await store.findNames(db, [...new Set(ids)]) : []
  return new Map(rows.map(({ id, name, email }) => [`member ${id}`, { name: name || email, email }]))
}

/** The same with the role that each has in a project now; null: none any more. */
export async function authorsOf(
  db: Db,
  projectId: ProjectId,
  actors: readonly string[]
): Promise<Map<string, { name: string; role: Role | null }>> {
  const names = await namesOf(db, actors)
  const principals = await principalsOf(
    db,
    [...names.keys()].map((actor) => actor.slice('member '.length))
  )
  return new Map(
    [...names].map(([actor, { name }]) => {
      const principal = principals.get(actor.slice('member '.length))
      return [actor, { name, role: (principal && roleIn(principal, projectId)) ?? null }]
    })
  )
}
