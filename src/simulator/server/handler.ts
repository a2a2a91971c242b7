import { newId } from '../../platform/ids.ts'
import type { Faults } from '../faults/faults.ts'
import { faultOf } from '../faults/of-request.ts'
import { applyTransport, connectionOf, pause } from './connection.ts'
import type { Answer, Gateway, Incoming } from './gateway.ts'
import { type GatewayName, type Ledger, openHeaders } from './ledger.ts'
import type { Request, Response } from './listen.ts'

export interface Around {
  ledger: Ledger
  faults: Faults
  deviceOf: (gateway: GatewayName, token: string) => string | undefined
}

/** More than any gateway accepts, so that a body that is too large is still read to its end. */
const longestBody = 64 * 1024

/** The part of a response that the ledger keeps. */
const longestShown = 1_000

const isAccepted = (answer: Answer) => answer.status >= 200 && answer.status < 300

/** Handles a request to any gateway: read, judge, apply faults, record, respond. */
export function createHandler(gateway: Gateway, around: Around): (request: Request, response: Response) => void {
  const { faults, ledger, deviceOf } = around

  async function handle(request: Request, response: Response): Promise<void> {
    const body = await readBody(request)
    if (!body) return
    const startedMs = performance.now()
    const incoming = readIncoming(request, body)
    const whole = faults.get(gateway.name)
    const { connection } = incoming
    connection.requests += 1

    connection.open += 1
    response.once('close', () => {
      connection.open -= 1
    })

    const verdict = gateway.judge(incoming)
    const judged = verdict instanceof Promise ? await verdict : verdict
    const isPush = judged.listed !== false
    const token = isAccepted(judged.answer) ? judged.token : null
    const fault = faultOf(gateway.name, faults, incoming, { isPush, token })
    const latencyMs = whole.latencyMs + whole.jitterMs * faults.random() + (fault.delayMs ?? 0)
    // The ledger keeps the order of arrival, so the item is written before the response.
    const answer = fault.status === undefined ? judged.answer : gateway.refuse(fault, incoming)
    const silent = fault.transport !== undefined && fault.transport !== 'goaway'
    if (isPush) {
      ledger.add({
        id: newId(),
        received_at: new Date().toISOString(),
        gateway: gateway.name,
        device_id: (judged.token && deviceOf(gateway.name, judged.token)) || null,
        token: judged.token,
        ...(judged.channel !== undefined && { channel_id: judged.channel }),
        ...judged.push,
        request: {
          method: incoming.method,
          path: incoming.path,
          headers: openHeaders(incoming.headers),
          payload: judged.payload
        },
        answer: silent
          ? { status: 0, reason: fault.transport!, detail: null, gateway_message_id: null, took_ms: null, body: '' }
          : {
              status: answer.status,
              reason: answer.reason,
              detail: answer.detail ?? null,
              gateway_message_id: answer.gatewayMessageId,
              took_ms: Math.round((performance.now() - startedMs + latencyMs) * 10) / 10,
              body: (answer.body ?? '').slice(0, longestShown)
            }
      })
    }
    // No delay for `crowded`: later fewer requests would be open.
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
      // A bug of the simulator is reported to the developer who uses it.
      deliver(response, { status: 500, reason: null, detail: String(error), gatewayMessageId: null })
    })
  }
}

/** Undefined if the sender disconnected before the end. */
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

export function deliver(response: Response, answer: Answer): void {
  if (response.destroyed || response.headersSent) return
  const headers: Record<string, string> = { ...answer.headers }
  // Headers allow neither line ends nor characters outside Latin 1.
  if (answer.detail) headers['simulator-detail'] = answer.detail.replace(/[^\x20-\x7e]/g, '?').slice(0, 500)
  if (answer.body !== undefined) headers['content-type'] ??= 'application/json; charset=UTF-8'
  response.statusCode = answer.status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(answer.body ?? '')
}
