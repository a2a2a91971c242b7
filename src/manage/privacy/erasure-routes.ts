import { Type } from '@sinclair/typebox'
import { defaultLimit, encodeCursor, idAfter, page, pageOf, pageQuery } from '../../platform/http/paging.ts'
import type { Routes } from '../../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import type { Erasures } from './erasing.ts'
import { ErasureAnswer, ErasureBody, VerifyAnswer, VerifyBody } from './schemas.ts'

const path = '/projects/:project_id/erasures'

/** Erasures of users, with receipts. */
export function erasureRoutes(manage: Routes<ManageCaller, ManageAccess>, erasures: Erasures): void {
  manage.post(
    path,
    {
      operationId: 'eraseUser',
      summary: 'Erase a user and every copy of its data, and return a receipt',
      access: 'admin',
      body: ErasureBody,
      example: { project_user_id: 'ana' },
      answer: ErasureAnswer,
      refusals: ['invalid_project_user_id'],
      unlimited: true
    },
    ({ caller, body }) => erasures.erase(caller.project!.id, caller.actor, body.project_user_id)
  )

  manage.get(
    path,
    {
      operationId: 'listErasures',
      summary: 'List receipts of erasures, newest first',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        project_user_id: Type.Optional(Type.String({ description: 'Only receipts about this user.' }))
      }),
      answer: pageOf(ErasureAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { cursor, limit = defaultLimit, project_user_id } }) => {
      const rows = await erasures.list(caller.project!.id, idAfter(cursor), limit + 1, project_user_id)
      return page(
        rows,
        limit,
        ({ erasure_id }) => encodeCursor(erasure_id),
        (row) => row
      )
    }
  )

  manage.get(
    `${path}/:erasure_id`,
    {
      operationId: 'getErasure',
      summary: 'Read the receipt of an erasure',
      access: 'viewer',
      params: { erasure_id: 'The id of the erasure.' },
      answer: ErasureAnswer,
      refusals: ['not_found']
    },
    ({ caller, params }) => erasures.get(caller.project!.id, params.erasure_id ?? '')
  )

  manage.post(
    `${path}::verify`,
    {
      operationId: 'verifyErasure',
      summary: 'Check that a receipt is genuine, and whether it is about a user',
      access: 'viewer',
      body: VerifyBody,
      answer: VerifyAnswer
    },
    ({ caller, body }) => erasures.verify(caller.project!.id, body.receipt, body.project_user_id)
  )
}
