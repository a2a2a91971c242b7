import { Readable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { pageOf, pageQuery } from '../platform/http/paging.ts'
import { type Routes, streamBody } from '../platform/http/routes.ts'
import { type ManageAccess, type ManageCaller, recordAudit } from '../projects/projects.ts'
import { importUsers } from './import.ts'
import { exportUsers, listUsers } from './listing.ts'
import { ImportResult, User } from './schemas.ts'
import type { StoredUser } from './store.ts'
import type { Users } from './users.ts'

const wireUser = (user: StoredUser) => ({
  id: user.id,
  project_user_id: user.projectUserId,
  properties: user.properties,
  created_at: user.createdAt,
  updated_at: user.updatedAt
})

/** Endpoints for the console and the CLI beyond the contract: lists, search, import and export. */
export function userManagementRoutes(manage: Routes<ManageCaller, ManageAccess>, users: Users, pool: Pool): void {
  const path = '/projects/:project_id/users'

  manage.get(
    path,
    {
      summary: 'List or search users',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        search: Type.Optional(
          Type.String({
            maxLength: 512,
            description:
              'Part of the project_user_id, or the whole service id. A page may hold fewer entries than its limit; go on while next_cursor is set.'
          })
        )
      }),
      answer: pageOf(User)
    },
    async ({ caller, query }) => {
      const found = await listUsers(pool, caller.project!.id, query)
      return { items: found.users.map(wireUser), next_cursor: found.nextCursor }
    }
  )

  manage.get(
    `${path}/:project_user_id`,
    { summary: 'Read a user', access: 'viewer', answer: User },
    async ({ caller, params }) => wireUser(await users.get(caller.project!.id, params.project_user_id))
  )

  manage.get(
    `${path}::export`,
    {
      summary: 'Stream all users, one JSON object a line',
      access: 'admin',
      answerType: 'application/x-ndjson',
      unlimited: true
    },
    async ({ caller, reply }) => {
      const projectId = caller.project!.id
      await recordAudit(pool, projectId, { actor: caller.actor, action: 'users.export', target: projectId })
      reply.type('application/x-ndjson')
      return Readable.from(exportUsers(pool, projectId), { objectMode: false })
    }
  )

  manage.post(
    `${path}::import`,
    {
      summary: 'Create or change users from a stream, one JSON object a line',
      access: 'editor',
      body: Type.String(),
      bodyKind: 'stream',
      example: '{"project_user_id":"ana","properties":{"plan":"premium"}}\n',
      answer: ImportResult,
      unlimited: true
    },
    async ({ caller, request }) => {
      const projectId = caller.project!.id
      const outcome = await importUsers(users, projectId, streamBody(request))
      const { imported, failed } = outcome
      await recordAudit(pool, projectId, {
        actor: caller.actor,
        action: 'users.import',
        target: projectId,
        details: { imported, failed }
      })
      return outcome
    }
  )
}
