import type { Socket } from 'node:net'

/** The weight of a refusal against an admission: a client that has a quarter of its requests refused is not slowed. */
const weight = 3
/** The first refusals of a connection come at once. */
const atOnce = 3 * weight
/** How much longer each further one waits than the one before, and how long at most. */
const stepMs = 100
const longestMs = 1_000
const mostCounted = atOnce + (longestMs / stepMs) * weight

const refusals = Symbol('refusals that outnumber admissions')
type Paced = Socket & { [refusals]?: number }

/**
 * Tells a connection that it is refused, at once or, where it goes on regardless, after a while: each refusal is parsed,
 * routed and authenticated, so hammering takes the time of others.
 */
export function refuseInPace(socket: Paced, refuse: () => void): void {
  const count = Math.min(mostCounted, (socket[refusals] ?? 0) + weight)
  socket[refusals] = count
  if (count <= atOnce) refuse()
  else setTimeout(refuse, ((count - atOnce) / weight) * stepMs)
}

/** A request of the connection was admitted. */
export function admitted(socket: Paced): void {
  if (socket[refusals]) socket[refusals] -= 1
}
