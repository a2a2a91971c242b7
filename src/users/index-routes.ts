import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import type { Routes } from '../platform/http/routes.ts'
import { type ManageAccess, type ManageCaller, recordAudit } from '../projects/projects.ts'
import { aboutUsers } from './listing-store.ts'
import { IndexedProperty } from './schemas.ts'
import type { Users } from './users.ts'

/** Which properties a project finds its users by without a scan. */
export function indexedPropertyRoutes(manage: Routes<ManageCaller, ManageAccess>, users: Users, pool: Pool): void {
  const path = '/projects/:project_id/indexed-properties'
  const params = { name: 'The name of the property, percent-encoded.' }
  const audit = (caller: ManageCaller, action: string, name: string) =>
    recordAudit(pool, caller.project!.id, { actor: caller.actor, action, target: name })

  manage.get(
    path,
    {
      summary: 'List the indexed properties of users',
      access: 'viewer',
      answer: Type.Object({ items: Type.Array(IndexedProperty) })
    },
    async ({ caller }) => {
      const projectId = caller.project!.id
      const items = await users.indexed(projectId)
      const about = items.some(({ state }) => state === 'building') ? await aboutUsers(pool, projectId) : 0
      return {
        items: items.map(({ name, state, visited, created_at }) => ({
          name,
          state,
          ...(state === 'building' && partOf(visited, about)),
          created_at
        }))
      }
    }
  )

  // Right after an import the planner knows of fewer users than were visited.
  const partOf = (visited: number, about: number) => (about > visited ? { visited, about } : { visited })

  manage.put(
    `${path}/:name`,
    {
      operationId: 'indexProjectProperty',
      summary: 'Index a property of users, of which a project has at most 10',
      access: 'admin',
      params,
      refusals: ['conflict', 'invalid_properties'],
      answer: Type.Object({ name: Type.String() })
    },
    async ({ caller, params }) => {
      const name = params.name!
      if (await users.index(caller.project!.id, name)) await audit(caller, 'indexed_property.create', name)
      return { name }
    }
  )

  manage.delete(
    `${path}/:name`,
    {
      operationId: 'unindexProjectProperty',
      summary: 'Stop indexing a property of users',
      access: 'admin',
      params,
      answer: Type.Object({})
    },
    async ({ caller, params }) => {
      const name = params.name!
      // PostgreSQL takes no NUL in a text, so no property of this name can be indexed.
      if (name.includes('\0')) return {}
      if (await users.unindex(caller.project!.id, name)) await audit(caller, 'indexed_property.delete', name)
      return {}
    }
  )
}
