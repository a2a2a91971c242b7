import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../platform/errors.ts'
import type { Routes } from '../../platform/http/routes.ts'
import { type ManageAccess, type ManageCaller, sessionOf } from '../../projects/projects.ts'
import type { Changes } from './changes.ts'

/** Finds out once more who calls, as at the start of a request. */
export type Admit = (request: FastifyRequest, reply: FastifyReply, access: ManageAccess) => Promise<unknown>

/** The headers of a stream are sent before it is checked again. */
const noReply = { header: () => noReply } as unknown as FastifyReply

/** By this stream a page learns what it must read again, instead of reading everything again and again. */
export function changeRoutes(manage: Routes<ManageCaller, ManageAccess>, changes: Changes, admit: Admit): void {
  manage.get(
    '/projects/:project_id/changes',
    {
      summary:
        'Watch a project: an event with the kinds of things that have changed, at most once a second, until the session ends',
      access: 'viewer',
      answerType: 'text/event-stream',
      unlimited: true,
      refusals: ['rate_limited']
    },
    ({ caller, request, reply }) => {
      const closing = new AbortController()
      reply.raw.on('close', () => closing.abort())
      const isAdmitted = () =>
        admit(request, noReply, 'viewer').then(
          () => true,
          // While the database cannot be reached, sessions cannot be checked, and nothing is read either.
          (error) => !(error instanceof Refusal)
        )
      const stream = changes.open({
        projectId: caller.project!.id,
        caller: sessionOf(request) ?? caller.actor,
        closing: closing.signal,
        isAdmitted
      })
      reply.headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      return reply.type('text/event-stream').send(stream)
    }
  )
}
