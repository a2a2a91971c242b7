import { type Static, Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import {
  decodeCursor,
  defaultLimit,
  encodeCursor,
  idAfter,
  PageQuery,
  page,
  pageOf,
  timeOf
} from '../platform/http/paging.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import { isUuid, type ProjectId } from '../platform/ids.ts'
import type { Nodes } from '../platform/nodes/nodes.ts'
import {
  codeSeconds,
  listAudit,
  type ManageAccess,
  type ManageCaller,
  makeSignInCode,
  noSuchProject,
  type Projects
} from '../projects/projects.ts'
import { cursorOfId, wireKey, wireNewKey, wireProject, wireToken } from './responses.ts'
import { expiryOf, rotationRoutes } from './rotation.ts'
import {
  AuditAnswer,
  ChangeProject,
  CreatedKey,
  CreatedToken,
  CreateKey,
  CreateProject,
  CreateToken,
  KeyAnswer,
  knownFields,
  NodeAnswer,
  ProjectAnswer,
  TokenAnswer
} from './schemas.ts'

/** /manage/v1: projects, keys, tokens and the audit log. Users, campaigns and the rest add their own routes. */
export function manageRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  { projects, pool, nodes }: { projects: Projects; pool: Pool; nodes: Nodes }
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
      summary: 'List the projects the token can see',
      access: 'viewer',
      query: PageQuery,
      answer: pageOf(ProjectAnswer)
    },
    async ({ caller, query: { cursor, limit = defaultLimit } }) => {
      const rows = await projects.list(
        caller.token.project_id,
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
      example: { limits: { requests_per_second: 5000 } }
    },
    async ({ caller, body }) => {
      const changes = knownFields(body)
      if (caller.token.project_id !== null) refuseOwnLimits(changes)
      return wireProject(await projects.update(caller.actor, caller.project!.id, changes))
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

  for (const verb of ['pause', 'resume'] as const)
    manage.post(
      `/projects/:project_id([^:]+)::${verb}`,
      {
        summary:
          verb === 'pause'
            ? 'Pause a project: what is accepted from now on waits, and nothing is given to a gateway'
            : 'Resume a project: all that waited goes on',
        access: 'editor',
        answer: ProjectAnswer
      },
      async ({ caller }) => wireProject(await projects[verb](caller.actor, caller.project!.id))
    )

  manage.post(
    '/projects/:project_id/keys',
    {
      summary: 'Create a key; its text is only in this answer',
      access: 'admin',
      body: CreateKey,
      maxBody: smallForm,
      answer: CreatedKey,
      status: 201,
      example: { kind: 'secret', name: 'backend' }
    },
    async ({ caller, body }) => {
      const expiresAt = expiryOf(body.expires_at)
      return wireNewKey(await projects.createKey(caller.actor, caller.project!.id, body.kind, body.name, { expiresAt }))
    }
  )

  manage.get(
    '/projects/:project_id/keys',
    { summary: 'List keys, without their texts', access: 'admin', query: PageQuery, answer: pageOf(KeyAnswer) },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(await projects.listKeys(caller.project!.id, idAfter(cursor), limit + 1), limit, cursorOfId, wireKey)
  )

  manage.delete(
    '/projects/:project_id/keys/:key_id',
    { summary: 'Revoke a key', access: 'admin', answer: Type.Object({}) },
    async ({ caller, params }) => {
      await projects.revokeKey(caller.actor, caller.project!.id, known(params.key_id, 'key'))
      return {}
    }
  )

  rotationRoutes(manage, projects)

  manage.get(
    '/projects/:project_id/audit',
    { summary: 'Who changed what', access: 'admin', query: PageQuery, answer: pageOf(AuditAnswer) },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(await listAudit(pool, caller.project!.id, idAfter(cursor), limit + 1), limit, cursorOfId, (row) => row)
  )

  manage.post(
    '/tokens',
    {
      summary: 'Create a management token; its text is only in this answer',
      refusals: ['not_found'],
      access: 'admin',
      body: CreateToken,
      maxBody: smallForm,
      answer: CreatedToken,
      status: 201,
      example: { name: 'deploy', role: 'editor', project_id: 'demo' }
    },
    async ({ caller, body }) => {
      const wanted = (body.project_id ?? null) as ProjectId | null
      // A token bound to a project hands out tokens for that project and no more.
      if (caller.token.project_id !== null && caller.token.project_id !== wanted)
        throw new Refusal('forbidden', `This token creates tokens for the project ${caller.token.project_id} only.`)
      if (wanted !== null && !(await projects.find(wanted))) throw noSuchProject(wanted)
      const { id, name, role, project_id, token, prefix, created_at } = await projects.createToken(
        caller.actor,
        wanted,
        body.role,
        body.name
      )
      return { id, name, role, project_id, token, prefix, created_at }
    }
  )

  manage.get(
    '/tokens',
    {
      summary: 'List management tokens, without their texts',
      access: 'admin',
      query: PageQuery,
      answer: pageOf(TokenAnswer)
    },
    async ({ caller, query: { cursor, limit = defaultLimit } }) =>
      page(await projects.listTokens(caller.token.project_id, idAfter(cursor), limit + 1), limit, cursorOfId, wireToken)
  )

  manage.delete(
    '/tokens/:token_id',
    { summary: 'Revoke a management token', access: 'admin', answer: Type.Object({}) },
    async ({ caller, params }) => {
      await projects.revokeToken(caller.actor, caller.token.project_id, known(params.token_id, 'token'))
      return {}
    }
  )

  manage.post(
    '/sign-in-links',
    {
      summary:
        'Make a link that signs a browser in to the console with the rights of this token, once, within 15 minutes',
      access: 'viewer',
      answer: Type.Object({
        path: Type.String({ description: 'Below the address of the service. The code stands behind the #.' }),
        expires_at: Type.String()
      }),
      status: 201
    },
    async ({ caller: { token }, reply }) => {
      reply.header('cache-control', 'no-store')
      const expiresAt = new Date(Date.now() + codeSeconds * 1000)
      return { path: `/console/#code=${await makeSignInCode(pool, token.id)}`, expires_at: expiresAt }
    }
  )

  manage.get(
    '/nodes',
    {
      summary:
        'The processes at work on this database; hosts and pids for editors and admins of the whole installation',
      access: 'viewer',
      answer: Type.Object({ items: Type.Array(NodeAnswer) })
    },
    ({ caller: { token } }) => {
      const all = nodes.list()
      const inside = token.project_id === null && token.role !== 'viewer'
      return { items: inside ? all : all.map(({ host: _, pid: __, ...node }) => node) }
    }
  )
}

/** What a project may take of the installation is decided by the installation's administrators (decision 0028). */
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

/** An id that cannot exist is not found, like one that does not. */
function known(id: string | undefined, what: string): string {
  if (id === undefined || !isUuid(id)) throw new Refusal('not_found', `There is no such ${what}.`)
  return id
}

function projectAfter(cursor: string): [Date, string] {
  const [at, id] = decodeCursor(cursor, 2)
  return [timeOf(at!), id!]
}
