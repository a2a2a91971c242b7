import type { Fault } from '../faults/faults.ts'
import type { Connection } from './connection.ts'
import type { GatewayName } from './ledger.ts'
import type { Push } from './reading.ts'

export interface Incoming {
  method: string
  path: string
  headers: Record<string, string | undefined>
  /** Names of headers that came more than once. */
  repeated: string[]
  body: Buffer
  /** Scheme and authority that the sender believes to talk to. */
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
  /** For the developer: why, in words. It travels in the header `simulator-detail` and stands in the ledger. */
  detail?: string
  gatewayMessageId: string | null
}

export interface Judgement {
  answer: Answer
  token: string | null
  payload: unknown
  push: Push
  /** False for what is no push, such as a request for an access token: it is not written down. */
  listed?: boolean
}

export interface Gateway {
  name: GatewayName
  judge(incoming: Incoming): Judgement
  /** A refusal that was asked for, in the words of this gateway. */
  refuse(fault: Fault, incoming: Incoming): Answer
  /** Called after each answer: APNs changes the stream limit by it. */
  answered?(connection: Connection, accepted: boolean): void
}

/** A part of a path as it was meant. What cannot be decoded stays as it came. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** What a proxy in front of a gateway says when the gateway does not answer it: not JSON, and senders must cope. */
export const html502: Answer = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><body><h1>502 Bad Gateway</h1></body></html>',
  reason: null,
  gatewayMessageId: null
}
