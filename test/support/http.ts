import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON; throws if it is not JSON. */
  readonly json: Json
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects, and fails if they are missing.
export type Json = any

export interface Asked {
  json?: unknown
  body?: string | Buffer
  headers?: Record<string, string | string[] | undefined>
}

const agent = new Agent({ keepAlive: true, maxSockets: 200 })

/** One HTTP request whose path is sent unchanged: nothing normalises or escapes it. */
export function ask(
  baseUrl: string,
  method: string,
  path: string,
  { json, body, headers = {} }: Asked = {}
): Promise<Reply> {
  const { hostname, port } = new URL(baseUrl)
  const sent = json === undefined ? body : JSON.stringify(json)
  const all = { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers }
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path, headers: given, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          get json() {
            return JSON.parse(text)
          }
        })
      })
    })
    outgoing.setTimeout(60_000, () => outgoing.destroy(new Error(`${method} ${path} had no answer for 60 s`)))
    outgoing.on('error', reject)
    if (sent !== undefined && !('content-length' in given) && !('transfer-encoding' in given))
      outgoing.setHeader('content-length', Buffer.byteLength(sent))
    outgoing.end(sent)
  })
}

/** Sends bytes that no HTTP client would send, and returns everything that arrives before the end of the connection. */
export function askRaw(baseUrl: string, bytes: string | Buffer, endAfterMs = 0): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes)
      if (endAfterMs > 0) setTimeout(() => socket.end(), endAfterMs)
    })
    let text = ''
    socket.setTimeout(20_000, () => socket.destroy(new Error('no answer for 20 s')))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    socket.on('close', () => resolve(text))
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(text) : reject(error)
    )
  })
}
