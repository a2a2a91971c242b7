import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { defaultLimit, idAfter, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { Nodes } from '../platform/nodes/nodes.ts'
import { type Identity, listAudit, type ManageAccess, type ManageCaller, type Projects } from '../projects/projects.ts'
import { type KnownSkills, keyRoutes } from './key-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { cursorOfId } from './responses.ts'
import { AuditAnswer, NodeAnswer } from './schemas.ts'
import { tokenRoutes } from './token-routes.ts'

/** /manage/v1: projects, keys, tokens and the audit log. Users, campaigns and the rest add their own routes. */
export function manageRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  {
    projects,
    identity,
    pool,
    nodes,
    skills
  }: { projects: Projects; identity: Identity; pool: Pool; nodes: Nodes; skills: KnownSkills }
): void {
  projectRoutes(manage, { projects, identity, pool })
  keyRoutes(manage, projects, skills)

  manage.get(
    '/projects/:project_id/audit',
    {
      summary: 'List the changes in a project, with who made them',
      access: 'admin',
      query: PageQuery,
      answer: pageOf(AuditAnswer)
    },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(await listAudit(pool, caller.project!.id, idAfter(cursor), limit + 1), limit, cursorOfId, (row) => row)
  )

  tokenRoutes(manage, projects, pool)

  manage.get(
    '/nodes',
    {
      summary: 'List the nodes on this database; with hosts and pids for editors and admins of the whole installation',
      access: 'viewer',
      answer: Type.Object({ items: Type.Array(NodeAnswer) })
    },
    ({ caller }) => {
      const all = nodes.list()
      const inside = caller.reach('editor') === null
      return { items: inside ? all : all.map(({ host: _, pid: __, ...node }) => node) }
    }
  )
}
