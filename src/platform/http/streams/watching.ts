import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal, Unavailable } from '../../errors.ts'
import type { ProjectId } from '../../ids.ts'

/** How soon a stream ends after its session. */
const checkMs = 5_000

/** The most open streams of one session or token in a project, of one project, and of this node. */
export interface Most {
  caller: number
  project: number
  node: number
}

interface Call {
  caller: { actor: string; session?: { id: string | null }; project: { id: ProjectId } | undefined }
  request: FastifyRequest
  reply: FastifyReply
}

/**
 * Admits a call to a stream, and returns the signal on which the stream ends: its connection or its session has ended. The
 * signal may be aborted from the start.
 */
export type Watching = (call: Call) => AbortSignal

/** Finds out once more who calls, as at the start of a request. */
type Admit = (request: FastifyRequest, reply: FastifyReply, access: 'viewer') => Promise<unknown>

/** The headers of a stream are sent before it is checked again. */
const noReply = { header: () => noReply } as unknown as FastifyReply

/** Limits open streams, so that one caller cannot take the places of others, and ends them with their sessions. */
export function createWatching(admit: Admit, most: Most): Watching {
  const counts = new Map<string, number>()
  const count = (name: string, by: 1 | -1): void => {
    const now = (counts.get(name) ?? 0) + by
    if (now > 0) counts.set(name, now)
    else counts.delete(name)
  }
  const isAdmitted = (request: FastifyRequest) =>
    admit(request, noReply, 'viewer').then(
      () => true,
      // While the database cannot be reached, sessions cannot be checked, and nothing is read either.
      (error) => !(error instanceof Refusal) || error.code === 'rate_limited'
    )

  return ({ caller: { actor, session, project }, request, reply }) => {
    // Its response has emitted that it closed, and does so once: the place would never be free again.
    if (reply.raw.destroyed) return AbortSignal.abort()
    const of = project!.id
    // Not the text of the cookie: a caller with a token may send any.
    const names = { caller: `${of} ${session?.id ?? actor}`, project: `project ${of}`, node: 'node' }
    const isFull = (limit: keyof Most) => (counts.get(names[limit]) ?? 0) >= most[limit]
    // The caller can close some of its own; the other limits concern the node.
    if (isFull('caller')) throw new Refusal('rate_limited', 'You follow this project too often at the same time.')
    if (isFull('project') || isFull('node')) throw new Unavailable('Too many streams are open.')
    for (const name of Object.values(names)) count(name, 1)
    const closing = new AbortController()
    const timer = setInterval(async () => {
      if (!(await isAdmitted(request))) closing.abort()
    }, checkMs)
    closing.signal.addEventListener('abort', () => {
      clearInterval(timer)
      for (const name of Object.values(names)) count(name, -1)
    })
    reply.raw.on('close', () => closing.abort())
    return closing.signal
  }
}
