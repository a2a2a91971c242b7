import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'
import { isObject } from '../../platform/fields.ts'
import { readJson } from '../../platform/json/names.ts'
import { version } from '../../platform/version.ts'
import type { KeyConnection } from '../connection.ts'
import { eventsIn } from '../events.ts'

type Fields = Record<string, unknown>
/** The fields of a message that the bridge reads. */
interface Seen {
  id?: RequestId
  method?: string
  params?: Fields
  result?: unknown
}

/** Longer than a tool can take: 90 s to run, and 30 s to follow a trigger. */
const longestMs = 150_000

/** Forwards the messages of a client to the service, and the responses back. */
export function createBridge({ url, key }: KeyConnection, send: (message: JSONRPCMessage) => Promise<void>) {
  const underway = new Map<RequestId, AbortController>()
  /** The protocol version and client name that `initialize` agreed on. Later protocols send both with each message. */
  const agreed: { version?: string; client?: string } = {}

  async function forward(message: JSONRPCMessage): Promise<void> {
    const { id, method, params } = message as Seen
    if (method === 'notifications/cancelled') underway.get(params?.requestId as RequestId)?.abort()
    if (method === 'initialize' && isObject(params?.clientInfo)) agreed.client = String(params.clientInfo.name)
    const canceled = new AbortController()
    if (id !== undefined && method !== undefined) underway.set(id, canceled)
    try {
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: headersOf(message as Seen),
        body: JSON.stringify(message),
        // Following a redirect would send the key to another server.
        redirect: 'manual',
        signal: AbortSignal.any([canceled.signal, AbortSignal.timeout(longestMs)])
      })
      for await (const answer of messagesOf(response, id)) {
        if (method === 'initialize') keepVersion(answer)
        await send(answer)
      }
    } catch (error) {
      if (id !== undefined && method !== undefined && !canceled.signal.aborted)
        await send(errorOf(id, `No response from ${url}: ${reasonOf(error)}.`)).catch(() => {})
    } finally {
      if (id !== undefined) underway.delete(id)
    }
  }

  function keepVersion(answer: JSONRPCMessage): void {
    const { result } = answer as Seen
    if (isObject(result) && typeof result.protocolVersion === 'string') agreed.version = result.protocolVersion
  }

  function headersOf({ method, params }: Seen): Record<string, string> {
    const meta = isObject(params?._meta) ? params._meta : {}
    const claimed = meta['io.modelcontextprotocol/protocolVersion']
    const protocol = typeof claimed === 'string' ? claimed : method === 'initialize' ? undefined : agreed.version
    const name = method === 'resources/read' ? params?.uri : params?.name
    return {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'user-agent': `${inHeader(agreed.client) ?? 'tidings-mcp'} tidings-mcp/${version}`,
      ...(protocol !== undefined && { 'mcp-protocol-version': protocol }),
      ...(method !== undefined && { 'mcp-method': method }),
      ...(typeof name === 'string' && { 'mcp-name': encoded(name) })
    }
  }

  return {
    forward,
    /** Stops waiting. The service finishes what it began. */
    close(): void {
      for (const one of underway.values()) one.abort()
    }
  }
}

/** The messages of a response: one, or those of a stream. Any other response becomes an error. */
async function* messagesOf(response: Response, id: RequestId | undefined): AsyncGenerator<JSONRPCMessage> {
  const type = response.headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream') && response.body) {
    for await (const { data } of eventsIn(response.body)) if (data !== '') yield readJson(data) as JSONRPCMessage
    return
  }
  const body = parsed(await response.text())
  if (isObject(body) && body.jsonrpc === '2.0') {
    // An error about a message that the service could not read has no id; the bridge sets the id that the client waits
    // for.
    if (body.id !== null || id !== undefined) yield { ...body, id: body.id ?? id } as JSONRPCMessage
  } else if (id !== undefined && !response.ok) {
    const said = isObject(body) && typeof body.error === 'string' ? body.error : `HTTP ${response.status}`
    const advice = response.status === 401 ? ' Check --key or TIDINGS_KEY.' : ''
    yield errorOf(id, `The service refused: ${said}.${advice}`)
  }
}

function parsed(text: string): unknown {
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}

const errorOf = (id: RequestId, message: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32_000, message }
})

const reasonOf = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error ? cause.message : message
}

/** The name of a client as a product of User-Agent. */
const inHeader = (name: string | undefined) => name?.replace(/[^\w.-]+/g, '-').slice(0, 100) || undefined

/** Headers hold plain ASCII; any other text travels in the protocol's own encoding. */
const encoded = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
