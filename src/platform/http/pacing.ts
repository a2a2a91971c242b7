import type { Socket } from 'node:net'

/** The weight of a refusal against an admission: a client with a quarter of its requests refused is not slowed. */
const weight = 3
/** The first refusals of a connection are sent at once. */
const atOnce = 3 * weight
/** The additional wait of each further refusal, and the longest wait. */
const stepMs = 100
const longestMs = 1_000
const mostCounted = atOnce + (longestMs / stepMs) * weight

const refusals = Symbol('refusals that outnumber admissions')
type Paced = Socket & { [refusals]?: number }

/**
 * Sends refusals to a connection at once or, if it continues regardless, after a wait: each refusal is parsed, routed
 * and authenticated, so a client that hammers takes time from others.
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
