import { Type } from '@sinclair/typebox'
import { defaultLimit, encodeCursor, idAfter, page, pageOf, pageQuery } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import type { Campaigns } from './campaigns.ts'
import { State, TriggerAnswer, wireTrigger } from './trigger-wire.ts'

/** Triggers as the console and the CLI watch them. */
export function triggerManagementRoutes(manage: Routes<ManageCaller, ManageAccess>, campaigns: Campaigns): void {
  manage.get(
    '/projects/:project_id/triggers',
    {
      summary: 'List triggers',
      access: 'viewer',
      query: Type.Object({
        ...pageQuery,
        campaign_id: Type.Optional(Type.String({ maxLength: 1024, description: 'Only those of this campaign.' })),
        state: Type.Optional(State)
      }),
      answer: pageOf(TriggerAnswer)
    },
    async ({ caller, query: { limit = defaultLimit, cursor, campaign_id, state } }) => {
      const filter = { campaignId: campaign_id, state }
      const rows = await campaigns.listTriggers(caller.project!.id, filter, idAfter(cursor), limit + 1)
      return page(rows, limit, (row) => encodeCursor(row.id), wireTrigger)
    }
  )

  manage.get(
    '/projects/:project_id/triggers/:trigger_id/stream',
    {
      summary: 'Watch a trigger: an event with all its counters whenever they change, until it has ended',
      access: 'viewer',
      answerType: 'text/event-stream',
      refusals: ['not_found'],
      unlimited: true
    },
    async ({ caller, params, reply }) => {
      const projectId = caller.project!.id
      const { id } = await campaigns.getTrigger(projectId, params.trigger_id!)
      const gone = new AbortController()
      reply.raw.on('close', () => gone.abort())
      const stream = campaigns.streams.open(projectId, id, gone.signal)
      reply.type('text/event-stream').header('cache-control', 'no-store').header('x-accel-buffering', 'no')
      return stream
    }
  )
}
