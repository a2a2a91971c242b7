import { Type } from '@sinclair/typebox'
import type { Pool } from '../platform/db/db.ts'
import { Refusal } from '../platform/errors.ts'
import { defaultLimit, idAfter, PageQuery, page, pageOf } from '../platform/http/paging.ts'
import { type Routes, smallForm } from '../platform/http/routes.ts'
import type { ProjectId } from '../platform/ids.ts'
import {
  codeSeconds,
  type ManageAccess,
  type ManageCaller,
  makeSignInCode,
  noSuchProject,
  type Projects
} from '../projects/projects.ts'
import { cursorOfId, known, wireToken } from './responses.ts'
import { CreatedToken, CreateToken, TokenAnswer } from './schemas.ts'

/** Management tokens, and links that sign a browser in with the rights of one. */
export function tokenRoutes(manage: Routes<ManageCaller, ManageAccess>, projects: Projects, pool: Pool): void {
  manage.post(
    '/tokens',
    {
      summary: 'Create a management token; only this response contains its text',
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
      // An admin of single projects creates tokens for those projects only.
      const own = caller.reach('admin')
      if (own !== null && (wanted === null || !own.includes(wanted)))
        throw new Refusal(
          'forbidden',
          `This ${caller.principal.kind} creates tokens for the project ${own.join(', ')} only.`
        )
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
      page(await projects.listTokens(caller.reach('admin'), idAfter(cursor), limit + 1), limit, cursorOfId, wireToken)
  )

  manage.delete(
    '/tokens/:token_id',
    { summary: 'Revoke a management token', access: 'admin', answer: Type.Object({}) },
    async ({ caller, params }) => {
      await projects.revokeToken(caller.actor, caller.reach('admin'), known(params.token_id, 'token'))
      return {}
    }
  )

  manage.post(
    '/sign-in-links',
    {
      summary:
        'Create a link that signs a browser in to the console with the rights of this token, once, within 15 minutes',
      access: 'viewer',
      answer: Type.Object({
        path: Type.String({ description: 'Below the address of the service. The code follows the #.' }),
        expires_at: Type.String()
      }),
      status: 201
    },
    async ({ caller: { principal }, reply }) => {
      if (principal.kind !== 'token')
        throw new Refusal('forbidden', 'A sign-in link carries the rights of a management token; a member signs in.')
      reply.header('cache-control', 'no-store')
      const expiresAt = new Date(Date.now() + codeSeconds * 1000)
      return { path: `/console/#code=${await makeSignInCode(pool, principal.id)}`, expires_at: expiresAt }
    }
  )
}
