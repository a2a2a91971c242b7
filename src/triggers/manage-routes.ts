import { pageOf } from '../platform/http/paging.ts'
import type { Routes } from '../platform/http/routes.ts'
import type { ManageAccess, ManageCaller } from '../projects/projects.ts'
import { listPage, TriggerQuery } from './list.ts'
import { TriggerAnswer, TriggerSizeAnswer } from './schemas.ts'
import type { Triggers } from './triggers.ts'

/** Routes by which the console and the CLI watch triggers. */
export function triggerManagementRoutes(manage: Routes<ManageCaller, ManageAccess>, triggers: Triggers): void {
  manage.get(
    '/projects/:project_id/triggers',
    {
      summary: 'List triggers',
      access: 'viewer',
      query: TriggerQuery,
      answer: pageOf(TriggerAnswer),
      refusals: ['invalid_parameter']
    },
    ({ caller, query }) => listPage(triggers, caller.project!.id, query)
  )

  manage.get(
    '/projects/:project_id/triggers/:trigger_id/size',
    {
      summary: 'Count the audience of a trigger, for up to three seconds: counts.targeted grows while it is sent',
      access: 'viewer',
      answer: TriggerSizeAnswer,
      refusals: ['not_found']
    },
    ({ caller, params }) => triggers.size(caller.project!.id, params.trigger_id!)
  )

  manage.get(
    '/projects/:project_id/triggers/:trigger_id/stream',
    {
      summary: 'Watch a trigger: an event with all counters whenever they change, until it has ended',
      access: 'viewer',
      answerType: 'text/event-stream',
      refusals: ['not_found'],
      unlimited: true
    },
    async ({ caller, params, reply }) => {
      const projectId = caller.project!.id
      const { id } = await triggers.get(projectId, params.trigger_id!)
      const closing = new AbortController()
      reply.raw.on('close', () => closing.abort())
      const stream = triggers.streams.open(projectId, id, closing.signal)
      reply.type('text/event-stream').header('cache-control', 'no-store').header('x-accel-buffering', 'no')
      return stream
    }
  )
}
