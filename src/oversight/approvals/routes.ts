import { Type } from '@sinclair/typebox'
import { defaultLimit, encodeCursor, idAfter, page, pageOf, pageQuery } from '../../platform/http/paging.ts'
import type { Routes } from '../../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import type { Approvals } from './approvals.ts'
import { approvalResponse } from './response.ts'
import { ApprovalAnswer, Note, State } from './schemas.ts'
import type { ApprovalRow } from './store.ts'

const path = '/projects/:project_id/approvals'
const params = { approval_id: 'The id of the approval.' }
const decision = {
  params,
  access: 'editor',
  body: Note,
  bodyKind: 'optional',
  answer: ApprovalAnswer,
  refusals: ['not_found', 'conflict', 'invalid_parameter']
} as const

/** Where people decide on actions of agents. A key opens none of these routes. */
export function approvalRoutes(manage: Routes<ManageCaller, ManageAccess>, approvals: Approvals): void {
  const shown = (caller: ManageCaller) => (row: ApprovalRow) =>
    approvalResponse(row, approvals.urlOf(caller.project!.id, row.id))

  manage.get(
    path,
    {
      summary: 'List the actions of agents that wait for a person, and those that were decided; newest first',
      access: 'viewer',
      query: Type.Object({ ...pageQuery, state: Type.Optional(State) }),
      answer: pageOf(ApprovalAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { cursor, limit = defaultLimit, state } }) => {
      const rows = await approvals.list(caller.project!.id, state, idAfter(cursor), limit + 1)
      return page(rows, limit, ({ id }) => encodeCursor(id), shown(caller))
    }
  )

  manage.get(
    `${path}/:approval_id`,
    { summary: 'Read an approval', access: 'viewer', params, answer: ApprovalAnswer, refusals: ['not_found'] },
    async ({ caller, params }) => shown(caller)(await approvals.get(caller.project!.id, params.approval_id ?? ''))
  )

  manage.post(
    `${path}/:approval_id([^:]+)::approve`,
    {
      ...decision,
      summary: 'Approve an action: it is done now, within what was shown; where that has changed, it is asked for anew',
      example: { note: 'Go ahead' }
    },
    async ({ caller, params, body }) => {
      const { project, actor } = caller
      return shown(caller)(await approvals.approve(project!.id, params.approval_id ?? '', actor, body.note ?? null))
    }
  )

  manage.post(
    `${path}/:approval_id([^:]+)::reject`,
    { ...decision, summary: 'Reject an action; the agent reads the note', example: { note: 'Not before Monday' } },
    async ({ caller, params, body }) => {
      const { project, actor } = caller
      return shown(caller)(await approvals.reject(project!.id, params.approval_id ?? '', actor, body.note ?? null))
    }
  )
}
