import { Type } from '@sinclair/typebox'
import { refusing } from '../../platform/fields.ts'
import { defaultLimit, encodeCursor, idAfter, page, pageOf, pageQuery } from '../../platform/http/paging.ts'
import type { Routes } from '../../platform/http/routes.ts'
import { isUuid } from '../../platform/ids.ts'
import type { ManageAccess, ManageCaller, NamesOf } from '../../projects/projects.ts'
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
export function approvalRoutes(
  manage: Routes<ManageCaller, ManageAccess>,
  approvals: Approvals,
  namesOf: NamesOf
): void {
  const named = async ({ project }: ManageCaller, rows: ApprovalRow[]) => {
    const { nameOf } = await namesOf(
      project!.id,
      rows.map((row) => row.decided_by)
    )
    return (row: ApprovalRow) => ({
      ...approvalResponse(row, approvals.urlOf(project!.id, row.id)),
      decided_by_name: nameOf(row.decided_by)
    })
  }
  const shown = async (caller: ManageCaller, row: ApprovalRow) => (await named(caller, [row]))(row)

  manage.get(
    path,
    {
      summary: 'List the actions of agents that wait for a person, and those that were decided; newest first',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        state: Type.Optional(State),
        task_id: Type.Optional(Type.String({ description: 'Only approvals that this task asked for.' }))
      }),
      answer: pageOf(ApprovalAnswer),
      refusals: ['invalid_parameter']
    },
    async ({ caller, query: { cursor, limit = defaultLimit, state, task_id } }) => {
      const filter = { state, taskId: taskOf(task_id) }
      const rows = await approvals.list(caller.project!.id, filter, idAfter(cursor), limit + 1)
      return page(rows, limit, ({ id }) => encodeCursor(id), await named(caller, rows))
    }
  )

  manage.get(
    `${path}/:approval_id`,
    { summary: 'Read an approval', access: 'viewer', params, answer: ApprovalAnswer, refusals: ['not_found'] },
    async ({ caller, params }) => shown(caller, await approvals.get(caller.project!.id, params.approval_id ?? ''))
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
      return shown(caller, await approvals.approve(project!.id, params.approval_id ?? '', actor, body.note ?? null))
    }
  )

  manage.post(
    `${path}/:approval_id([^:]+)::reject`,
    { ...decision, summary: 'Reject an action; the agent reads the note', example: { note: 'Not before Monday' } },
    async ({ caller, params, body }) => {
      const { project, actor } = caller
      return shown(caller, await approvals.reject(project!.id, params.approval_id ?? '', actor, body.note ?? null))
    }
  )
}

function taskOf(id: string | undefined): string | undefined {
  if (id !== undefined && !isUuid(id)) throw refusing('invalid_parameter')('task_id', 'must be the id of a task')
  return id
}
