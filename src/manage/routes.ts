import { Type } from '@sinclair/typebox'
import { pauseOf } from '../platform/backup/paused.ts'
import type { Pool } from '../platform/db/db.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { Nodes } from '../platform/nodes/nodes.ts'
import type { Identity, ManageAccess, ManageCaller, NamesOf, Projects } from '../projects/projects.ts'
import { auditRoutes } from './audit-routes.ts'
import { type KnownSkills, keyRoutes } from './key-routes.ts'
import { projectRoutes } from './project-routes.ts'
import { InstallationPauseAnswer, NodeAnswer } from './schemas.ts'
import { tokenRoutes } from './token-routes.ts'

/** /manage/v1: projects, keys, tokens and the audit log. Users, campaigns and the rest add their own routes. */
export function manageRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  {
    projects,
    identity,
    pool,
    nodes,
    names,
    skills
  }: { projects: Projects; identity: Identity; pool: Pool; nodes: Nodes; names: NamesOf; skills: KnownSkills }
): void {
  projectRoutes(manage, { projects, identity })
  keyRoutes(manage, projects, skills)

  auditRoutes(manage, pool, names)

  tokenRoutes(manage, projects, pool)

  manage.get(
    '/nodes',
    {
      summary: 'List the nodes on this database; with hosts and pids for editors and admins of the whole installation',
      access: 'viewer',
      answer: Type.Object({
        items: Type.Array(NodeAnswer),
        paused: Type.Union([InstallationPauseAnswer, Type.Null()])
      })
    },
    async ({ caller }) => {
      const all = nodes.list()
      const inside = caller.reach('editor') === null
      const items = inside ? all : all.map(({ host: _, pid: __, ...node }) => node)
      const pause = await pauseOf(pool)
      return { items, paused: pause ? { ...pause, discarding: pause.discarding?.which ?? null } : null }
    }
  )
}
