import type { FastifyReply } from 'fastify'

/** Aborts when the caller hangs up. A response that closed before emits nothing any more, so it is asked first. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.destroyed) gone.abort()
  else raw.once('close', () => gone.abort())
  return gone.signal
}
