import type { Fault } from '../faults/faults.ts'
import type { Connection } from './connection.ts'
import type { GatewayName } from './ledger.ts'
import type { Push } from './reading.ts'

export interface Incoming {
  method: string
  path: string
  headers: Record<string, string | undefined>
  /** Names of headers that the request has more than once. */
  repeated: string[]
  body: Buffer
  /** Scheme and authority that the sender used. */
  origin: string
  connection: Connection
  /** Absent with HTTP/1.1. */
  streamId?: number
}

export interface Answer {
  status: number
  headers?: Record<string, string>
  body?: string
  reason: string | null
  /** The reason in words, for the developer: in the header `simulator-detail` and in the ledger. */
  detail?: string
  gatewayMessageId: string | null
}

export interface Judgement {
  answer: Answer
  token: string | null
  payload: unknown
  push: Push
  /** The broadcast channel that a push goes to, or that the activity it starts subscribes to. */
  channel?: string | undefined
  /** False for requests that are no push, such as one for an access token. */
  listed?: boolean
}

export interface Gateway {
  name: GatewayName
  /** A promise only where the verdict depends on stored channels: all other requests are judged at once. */
  judge(incoming: Incoming): Judgement | Promise<Judgement>
  /** The response of this gateway to a fault with a status. */
  refuse(fault: Fault, incoming: Incoming): Answer
  /** Called after each response: APNs adapts the stream limit. */
  answered?(connection: Connection, accepted: boolean): void
}

/** Decodes a part of a path; an invalid escape stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The response of a proxy that cannot reach its gateway. It is not JSON, and senders must cope with that. */
export const html502: Answer = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><body><h1>502 Bad Gateway</h1></body></html>',
  reason: null,
  gatewayMessageId: null
}
