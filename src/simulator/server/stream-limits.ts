import type { Http2Session } from 'node:http2'

/** The number of open streams of a connection: the limit of its gateway, or less by a fault. */
interface Limit {
  allowed: number
  most: number
  /** The limit that was last sent. */
  sent: number
  pending: boolean
}

const limits = new WeakMap<Http2Session, Limit>()

/** Starts with the limit of the first SETTINGS. */
export function beginLimit(session: Http2Session, allowed: number, most: number): void {
  limits.set(session, { allowed, most, sent: Math.min(allowed, most), pending: false })
}

/** Sets the limit that the gateway chooses for the connection. */
export const allowStreams = (session: Http2Session | undefined, allowed: number) => change(session, { allowed })

/** Sets the limit of a fault. */
export const capStreams = (session: Http2Session, most: number) => change(session, { most })

function change(session: Http2Session | undefined, wanted: Partial<Limit>): void {
  const limit = session && limits.get(session)
  if (limit) announce(session, Object.assign(limit, wanted))
}

/** Waits until the client confirms the last change: Node allows few unconfirmed SETTINGS, and only the newest matters. */
function announce(session: Http2Session, limit: Limit): void {
  const wanted = Math.min(limit.allowed, limit.most)
  if (limit.pending || limit.sent === wanted || session.destroyed || session.closed) return
  limit.pending = true
  limit.sent = wanted
  session.settings({ maxConcurrentStreams: wanted }, () => {
    limit.pending = false
    announce(session, limit)
  })
}
