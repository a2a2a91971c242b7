/** A request whose end and meaning are beyond doubt. */
export interface PlainHead {
  method: string
  url: string
  headers: Record<string, string>
  /** Where the body begins in the chunk; it reaches to the end of the chunk. */
  bodyAt: number
}

/** Longer heads are rare, and Node knows what to refuse. */
const longestHead = 8_192
const firstLine = /(GET|POST|PUT|PATCH|DELETE) (\/[\w\-.~!$&'()*+,;=:@%/?]*) HTTP\/1\.1\r\n/y
const field = /([A-Za-z0-9-]+): ?((?:[!-~](?:[ -~]*[!-~])?)?)\r\n/y
/** Fields that change how a message is framed, or what the connection is used for. */
const framing = new Set([
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  'keep-alive',
  'proxy-connection',
  'http2-settings'
])
const length = /^(?:0|[1-9][0-9]{0,5})$/
const json = /^application\/(?:[\w.-]+\+)?json/i

/**
 * Reads a chunk that is exactly one request of the usual form, and returns undefined for every other chunk. Whatever
 * two readers could understand differently is left to Node: a field twice, line breaks without a carriage return, a
 * body whose length is not the one announced, characters beyond ASCII.
 */
export function readPlain(chunk: Buffer): PlainHead | undefined {
  const end = chunk.indexOf('\r\n\r\n')
  if (end < 0 || end > longestHead) return undefined
  const text = chunk.toString('latin1', 0, end + 2)
  firstLine.lastIndex = 0
  const line = firstLine.exec(text)
  if (!line) return undefined
  const headers = readFields(text, firstLine.lastIndex)
  if (!headers || !isPlain(headers)) return undefined
  const bodyAt = end + 4
  if (chunk.length - bodyAt !== Number(headers['content-length'] ?? 0)) return undefined
  return { method: line[1]!, url: line[2]!, headers, bodyAt }
}

function readFields(text: string, from: number): Record<string, string> | undefined {
  const headers: Record<string, string> = {}
  let at = from
  while (at < text.length) {
    field.lastIndex = at
    const found = field.exec(text)
    if (!found) return undefined
    const name = found[1]!.toLowerCase()
    // A name twice; also a name that every object has, which is rare enough to be left to Node.
    if (headers[name] !== undefined || framing.has(name)) return undefined
    headers[name] = found[2]!
    at = field.lastIndex
  }
  return headers
}

function isPlain(headers: Record<string, string>): boolean {
  const { host, connection, 'content-length': size, 'content-type': type } = headers
  return (
    host !== undefined &&
    (connection === undefined || connection === 'keep-alive' || connection === 'Keep-Alive') &&
    (size === undefined || length.test(size)) &&
    // Other types may be read as a stream.
    (type === undefined || json.test(type))
  )
}
