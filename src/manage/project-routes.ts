import { type Static, Type } from '@sinclair/typebox'
import type { Db } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { Overlap, overlapOf } from '../platform/http/overlap.ts'
import { decodeCursor, defaultLimit, encodeCursor, PageQuery, page, pageOf, timeOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { Identity, ManageAccess, ManageCaller, Project, Projects } from '../projects/projects.ts'
import { checkRules, readRules } from './project-rules.ts'
import { wireProject } from './responses.ts'
import { ChangeProject, CreateProject, IdentitySecretAnswer, knownFields, ProjectAnswer } from './schemas.ts'

export function projectRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { projects, identity }: { projects: Projects; identity: Identity }
): void {
  manage.post(
    '/projects',
    {
      summary: 'Create a project',
      refusals: ['conflict'],
      access: 'installation',
      body: CreateProject,
      answer: ProjectAnswer,
      status: 201,
      example: { name: 'Shop' }
    },
    async ({ caller, body }) => wireProject(await projects.create(caller.actor, knownFields(body)))
  )

  manage.get(
    '/projects',
    {
      summary: 'List the projects that the caller can see',
      access: 'viewer',
      query: PageQuery,
      answer: pageOf(ProjectAnswer)
    },
    async ({ caller, query: { cursor, limit = defaultLimit } }) => {
      const rows = await projects.list(
        caller.reach('viewer'),
        cursor === undefined ? undefined : projectAfter(cursor),
        limit + 1
      )
      return page(rows, limit, ({ createdAt, id }) => encodeCursor(createdAt.toISOString(), id), wireProject)
    }
  )

  manage.get(
    '/projects/:project_id',
    { summary: 'Read a project', access: 'viewer', answer: ProjectAnswer },
    ({ caller }) => wireProject(caller.project!)
  )

  manage.patch(
    '/projects/:project_id',
    {
      summary: 'Change a project. Its plan and limits need a token for the whole installation',
      access: 'admin',
      body: ChangeProject,
      answer: ProjectAnswer,
      refusals: ['invalid_parameter', 'conflict'],
      example: { message_limits: [{ count: 3, within: '24h' }], quiet_hours: { from: '22:00', to: '08:00' } }
    },
    async ({ caller, body }) => {
      const { message_limits, quiet_hours, ...changes } = knownFields(body)
      if (caller.reach('admin') !== null) refuseOwnLimits(changes)
      const given = {
        ...(message_limits !== undefined && { message_limits }),
        ...(quiet_hours !== undefined && { quiet_hours })
      }
      const changed = { ...changes, ...readRules(given) }
      const check = (tx: Db, project: Project) => checkRules(tx, project, changed)
      return wireProject(await projects.update(caller.actor, caller.project!.id, changed, check))
    }
  )

  manage.delete(
    '/projects/:project_id',
    { summary: 'Delete a project with everything in it', access: 'installation', answer: Type.Object({}) },
    async ({ caller }) => {
      await projects.remove(caller.actor, caller.project!.id)
      return {}
    }
  )

  manage.post(
    '/projects/:project_id/identity-secret::rotate',
    {
      summary:
        'Make the secret with which your backend signs the tokens of users; it is only in this answer, and the previous one works until the overlap ends',
      access: 'admin',
      body: Type.Object({ overlap: Overlap }),
      bodyKind: 'optional',
      answer: IdentitySecretAnswer,
      status: 201,
      refusals: ['invalid_parameter'],
      example: { overlap: '24h' }
    },
    ({ caller, body }) => identity.rotate(caller.actor, caller.project!.id, overlapOf(body.overlap))
  )

  for (const verb of ['pause', 'resume'] as const)
    manage.post(
      `/projects/:project_id([^:]+)::${verb}`,
      {
        summary:
          verb === 'pause'
            ? 'Pause a project: nothing is sent, and new messages wait'
            : 'Resume a project: waiting messages are sent',
        access: 'editor',
        answer: ProjectAnswer
      },
      async ({ caller }) => wireProject(await projects[verb](caller.actor, caller.project!.id))
    )
}

/** Only administrators of the installation decide the share of a project in it (decision 0028). */
function refuseOwnLimits({ plan, limits }: Static<typeof ChangeProject>): void {
  const named = [...(plan === undefined ? [] : ['plan']), ...Object.keys(limits ?? {}).map((name) => `limits.${name}`)]
  if (named.length === 0) return
  const message = 'only a token for the whole installation, with the role admin, changes it'
  throw new Refusal(
    'forbidden',
    `Plan and limits of a project are changed with a token for the whole installation: ${named.join(', ')}. Nothing was changed.`,
    named.map((path) => ({ path, message }))
  )
}

function projectAfter(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), id!]
}
