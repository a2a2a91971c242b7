import { newId } from '../platform/ids.ts'
import { faultOf } from './fault-of-request.ts'
import type { Fault, Faults } from './faults.ts'
import { type GatewayName, type Ledger, openHeaders } from './ledger.ts'
import { applyTransport, type Connection, connectionOf, deliver, pause } from './server/connection.ts'
import type { Request, Response } from './server/listen.ts'
import type { Push } from './server/reading.ts'

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

export interface Around {
  ledger: Ledger
  faults: Faults
  deviceOf: (gateway: GatewayName, token: string) => string | undefined
}

/** More than any gateway takes, so that "too large" can be told from "endless". */
const longestBody = 64 * 1024

const isAccepted = (answer: Answer) => answer.status >= 200 && answer.status < 300

/** The one way of a request through any of the gateways. */
export function createHandler(gateway: Gateway, around: Around): (request: Request, response: Response) => void {
  const { faults, ledger, deviceOf } = around

  async function handle(request: Request, response: Response): Promise<void> {
    const body = await readBody(request)
    if (!body) return
    const incoming = readIncoming(request, body)
    const whole = faults.get(gateway.name)
    const { connection } = incoming
    connection.requests += 1

    connection.open += 1
    response.once('close', () => {
      connection.open -= 1
    })

    const judged = gateway.judge(incoming)
    const isPush = judged.listed !== false
    const token = isAccepted(judged.answer) ? judged.token : null
    const fault = faultOf(gateway.name, faults, incoming, { isPush, token })
    const latencyMs = whole.latencyMs + whole.jitterMs * faults.random() + (fault.delayMs ?? 0)
    // The order of arrival is what the ledger keeps: an item is written before its answer leaves.
    const answer = fault.status === undefined ? judged.answer : gateway.refuse(fault, incoming)
    const silent = fault.transport !== undefined && fault.transport !== 'goaway'
    if (isPush) {
      ledger.add({
        id: newId(),
        received_at: new Date().toISOString(),
        gateway: gateway.name,
        device_id: (judged.token && deviceOf(gateway.name, judged.token)) || null,
        token: judged.token,
        ...judged.push,
        request: {
          method: incoming.method,
          path: incoming.path,
          headers: openHeaders(incoming.headers),
          payload: judged.payload
        },
        answer: silent
          ? { status: 0, reason: fault.transport!, detail: null, gateway_message_id: null }
          : {
              status: answer.status,
              reason: answer.reason,
              detail: answer.detail ?? null,
              gateway_message_id: answer.gatewayMessageId
            }
      })
    }
    // Too many at a time is told at once: later they would not be so many.
    if (latencyMs > 0 && fault.transport !== 'crowded') await pause(latencyMs)
    applyTransport(fault, request, connection)
    if (silent) return
    gateway.answered?.(connection, isAccepted(answer))
    deliver(response, answer)
  }

  return (request, response) => {
    request.on('error', () => {})
    response.on('error', () => {})
    handle(request, response).catch((error: unknown) => {
      // A simulator with a bug says so, to whoever is debugging against it.
      deliver(response, { status: 500, reason: null, detail: String(error), gatewayMessageId: null })
    })
  }
}

/** Undefined if the sender went away before the end. */
async function readBody(request: Request): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size <= longestBody) chunks.push(chunk)
    }
  } catch {
    return undefined
  }
  return size > longestBody ? Buffer.alloc(longestBody + 1) : Buffer.concat(chunks)
}

function readIncoming(request: Request, body: Buffer): Incoming {
  const seen = new Set<string>()
  const repeated: string[] = []
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]!.toLowerCase()
    if (seen.has(name)) repeated.push(name)
    seen.add(name)
  }
  const headers: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(request.headers)) headers[name] = value?.toString()
  const connection = connectionOf(request)
  return {
    method: request.method ?? '',
    path: request.url ?? '/',
    headers,
    repeated,
    body,
    origin: `${connection.secure ? 'https' : 'http'}://${headers[':authority'] ?? headers.host ?? ''}`,
    connection,
    ...(request.stream?.id !== undefined && { streamId: request.stream.id })
  }
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
