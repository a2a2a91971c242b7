import type { FastifyReply } from 'fastify'
import type { ProjectId } from '../platform/ids.ts'
import type { Triggers } from './triggers.ts'

/** Responds with the events of a trigger. `admit` counts the stream, after the trigger was found. */
export async function sendStream(
  triggers: Triggers,
  { projectId, triggerId }: { projectId: ProjectId; triggerId: string },
  reply: FastifyReply,
  admit: () => AbortSignal
) {
  const { id } = await triggers.get(projectId, triggerId)
  const stream = triggers.streams.open(projectId, id, admit())
  reply.type('text/event-stream').header('cache-control', 'no-store').header('x-accel-buffering', 'no')
  return stream
}
