import type { Routes } from '../../platform/http/routes.ts'
import type { Watching } from '../../platform/http/streams/watching.ts'
import type { ManageAccess, ManageCaller } from '../../projects/projects.ts'
import type { Changes } from './changes.ts'

/** By this stream a page learns what it must read again, instead of reading everything again and again. */
export function changeRoutes(manage: Routes<ManageCaller, ManageAccess>, changes: Changes, watching: Watching): void {
  manage.get(
    '/projects/:project_id/changes',
    {
      operationId: 'streamProjectChanges',
      internal: true,
      summary:
        'Watch a project: an event with the kinds of things that have changed, at most once a second, until the session ends',
      access: 'viewer',
      answerType: 'text/event-stream',
      unlimited: true,
      refusals: ['rate_limited']
    },
    ({ caller, request, reply }) => {
      const stream = changes.open(caller.project!.id, watching({ caller, request, reply }))
      reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      return reply.type('text/event-stream').send(stream)
    }
  )
}
