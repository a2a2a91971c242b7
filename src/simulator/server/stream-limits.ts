import type { Http2Session } from 'node:http2'

/** How many streams a connection may have open: as many as its gateway allows, or fewer where a fault says so. */
interface Limit {
  allowed: number
  most: number
  /** What the client heard last. */
  told: number
  pending: boolean
}

const limits = new WeakMap<Http2Session, Limit>()

/** With what the first SETTINGS said. */
export function beginLimit(session: Http2Session, allowed: number, most: number): void {
  limits.set(session, { allowed, most, told: Math.min(allowed, most), pending: false })
}

/** By what the gateway thinks of the connection. */
export const allowStreams = (session: Http2Session | undefined, allowed: number) => change(session, { allowed })

/** By a fault. */
export const capStreams = (session: Http2Session, most: number) => change(session, { most })

function change(session: Http2Session | undefined, wanted: Partial<Limit>): void {
  const limit = session && limits.get(session)
  if (limit) announce(session, Object.assign(limit, wanted))
}

/** Changes wait for the client to confirm the last one: Node allows few unconfirmed SETTINGS, and only the newest limit matters. */
function announce(session: Http2Session, limit: Limit): void {
  const wanted = Math.min(limit.allowed, limit.most)
  if (limit.pending || limit.told === wanted || session.destroyed || session.closed) return
  limit.pending = true
  limit.told = wanted
  session.settings({ maxConcurrentStreams: wanted }, () => {
    limit.pending = false
    announce(session, limit)
  })
}
