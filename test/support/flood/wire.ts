import { connect, type Socket } from 'node:net'

export interface WireReply {
  status: number
  /** Names in lower case. */
  headers: Map<string, string>
  text: string
  closes: boolean
}

/** Bytes for a server, and how their response is read. */
export interface WireRequest {
  bytes: Buffer
  /** HEAD: the response has no body, whatever its length says. */
  head: boolean
  /** Not a complete request or not HTTP: the server may wait for more or close the connection. */
  broken: boolean
}

const silenceMs = 30_000
/** A server that waits for the rest of a broken request gets no more than this. */
const brokenMs = 250
const streamMs = 40

/**
 * One connection that sends any bytes, which no HTTP library would do. Returns undefined if the connection ended
 * without a response.
 */
export function wireClient(port: number) {
  let socket: Socket | undefined
  let served = 0

  function forget(): void {
    socket?.destroy()
    socket = undefined
    served = 0
  }

  function once(request: WireRequest): Promise<WireReply | undefined> {
    // The server may have closed the connection while it was not in use: a write to it would never be reported.
    if (socket?.destroyed || socket?.readableEnded) forget()
    socket ??= connect({ port, host: '127.0.0.1', noDelay: true })
    const here = socket
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = []
      let size = 0
      let needed = 0
      const seen = (): Buffer => {
        if (chunks.length > 1) chunks = [Buffer.concat(chunks, size)]
        return chunks[0]!
      }
      const finish = (reply: WireReply | undefined, error?: Error) => {
        clearTimeout(timer)
        here.removeAllListeners()
        here.on('error', () => {})
        if (!reply || reply.closes || request.broken) forget()
        served += 1
        if (error) reject(error)
        else resolve(reply)
      }
      const silent = () =>
        request.broken ? finish(undefined) : finish(undefined, new Error(`no response within ${silenceMs / 1000} s`))
      let timer = setTimeout(silent, request.broken ? brokenMs : silenceMs)
      // A stream that has ended by itself is a response too.
      let streamed: (() => WireReply) | undefined
      here.on('error', () => finish(streamed?.()))
      here.on('close', () => finish(streamed?.()))
      // The listener of the socket itself, which would close it, was removed after the first response.
      here.on('end', () => finish(streamed?.()))
      here.on('data', (chunk) => {
        chunks.push(chunk)
        size += chunk.length
        if (size < needed) return
        const reply = replyIn(seen(), request.head)
        if (typeof reply === 'number') needed = reply
        else if (reply === 'stream') {
          clearTimeout(timer)
          streamed = () => ({ ...finalHead(seen())!.head, text: seen().toString('utf8'), closes: true })
          timer = setTimeout(() => finish(streamed!()), streamMs)
        } else finish(reply)
      })
      here.write(request.bytes)
    })
  }

  return {
    /** A kept connection may end at the moment of its reuse, as with any server: then the request is repeated. */
    async ask(request: WireRequest): Promise<WireReply | undefined> {
      const reused = served > 0
      const reply = await once(request)
      return reply || !reused || request.broken ? reply : once(request)
    },
    close: forget
  }
}

interface Head {
  status: number
  headers: Map<string, string>
  length: number
}

function headOf(seen: Buffer): Head | undefined {
  const end = seen.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = seen.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    })
  )
  return { status, headers, length: end + 4 }
}

/** The head of the response, and the bytes that begin with it: 100 Continue and the like stand before it. */
function finalHead(bytes: Buffer): { head: Head; rest: Buffer } | undefined {
  let rest = bytes
  for (let head = headOf(rest); head; head = headOf(rest)) {
    if (head.status < 100 || head.status >= 200) return { head, rest }
    rest = rest.subarray(head.length)
  }
  return undefined
}

/** The whole response, or how many bytes it needs at least; `stream` for one that has no end. */
function replyIn(bytes: Buffer, bodiless: boolean): WireReply | 'stream' | number {
  const more = bytes.length + 1
  const found = finalHead(bytes)
  if (!found) return more
  const { status, headers, length } = found.head
  const closes = headers.get('connection') === 'close'
  if (bodiless || status === 204 || status === 304) return { status, headers, text: '', closes }
  if (headers.get('content-type')?.startsWith('text/event-stream')) return 'stream'
  const body = found.rest.subarray(length)
  if (headers.has('content-length')) {
    const size = Number(headers.get('content-length'))
    return body.length < size
      ? more - 1 + size - body.length
      : { status, headers, text: body.toString('utf8', 0, size), closes }
  }
  if (headers.get('transfer-encoding') !== 'chunked') return { status, headers, text: body.toString('utf8'), closes }
  return body.subarray(-5).equals(Buffer.from('0\r\n\r\n'))
    ? { status, headers, text: body.toString('utf8'), closes }
    : more
}
