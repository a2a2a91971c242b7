import { gzipSync } from 'node:zlib'
import type { Chance } from './chance.ts'
import type { WireRequest } from './wire.ts'
import type { Headers } from './world.ts'

export interface Plain {
  method: string
  path: string
  headers: Headers
  body: Buffer | undefined
}

const types = [
  'text/plain',
  'application/xml',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json;;;=',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
  'x/y',
  'application/x-ndjson',
  'text/csv',
  '__proto__'
]
const odd: [name: string, values: string[]][] = [
  ['content-type', types],
  ['content-encoding', ['gzip', 'deflate', 'br', 'gzip, gzip', 'identity', 'x']],
  ['accept', ['', '*/*', 'text/html', 'text/event-stream', 'application/json;q=0', 'x'.repeat(2_000)]],
  ['accept-encoding', ['gzip', 'br;q=1.0, *;q=0', '\x7f'.replace('\x7f', 'x')]],
  ['accept-language', ['de-DE', '*', 'x'.repeat(500), '__proto__']],
  ['expect', ['100-continue', 'x']],
  ['connection', ['close', 'keep-alive', 'upgrade', 'x, y']],
  ['upgrade', ['websocket', 'h2c']],
  ['range', ['bytes=0-1', 'bytes=-', 'bytes=9999999-']],
  ['if-none-match', ['*', '"x"', 'W/"', '"'.repeat(300)]],
  ['if-modified-since', ['x', 'Thu, 01 Jan 1970 00:00:00 GMT']],
  ['last-event-id', ['0', '-1', 'x', '9'.repeat(40), '01890000-0000-7000-8000-000000000000']],
  ['x-request-id', ['x', 'x'.repeat(1_000), "'; drop table users; --"]],
  ['x-forwarded-for', ['1.2.3.4', '::1, x', 'x'.repeat(500)]],
  ['x-forwarded-proto', ['https', 'x']],
  ['x-forwarded-host', ['evil.example', '"<b>']],
  ['x-http-method-override', ['DELETE']],
  ['traceparent', ['00-x', `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]],
  ['idempotency-key', ['', 'x', 'x'.repeat(300), '__proto__', 'é'.normalize('NFD').replace(/[^ -~]/g, '')]],
  ['x-service-idempotency-key', ['', 'x', 'x'.repeat(300)]],
  ['a2a-version', ['1.0', '0.3', '', '1', 'x', '99999999999']],
  ['a2a-extensions', ['x', 'https://x.example/y,'.repeat(20)]],
  ['mcp-protocol-version', ['2026-07-28', '2025-11-25', 'x']],
  ['mcp-method', ['tools/call', 'x']],
  ['mcp-name', ['create-user', 'x']],
  ['mcp-session-id', ['x']],
  ['origin', ['null', 'https://evil.example', 'x', 'http://localhost']],
  ['sec-fetch-site', ['cross-site', 'x']],
  ['cookie', ['a=b', 'tidings_session=x', ';;;', `a=${'x'.repeat(3_000)}`]],
  ['host', ['', 'a"<b>', 'evil.example:99999', '[::1']],
  ['x-service-project-id', ['', '__proto__', 'x'.repeat(500)]],
  ['access-control-request-method', ['DELETE', 'x']],
  ['content-language', ['\u00e9']]
]

const head = ({ method, path, headers }: Plain, more: string[] = []): string =>
  [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...more,
    '',
    ''
  ].join('\r\n')
const latin = (text: string) => Buffer.from(text, 'latin1')

/** A complete request, sometimes with headers that no client needs. */
export function addHeaders(plain: Plain, chance: Chance): WireRequest {
  const headers = { ...plain.headers }
  const more: string[] = []
  let { body } = plain
  for (let times = chance.percent(25) ? 1 + chance.below(3) : 0; times > 0; times -= 1) {
    const [name, values] = chance.pick(odd)
    if (chance.percent(15)) more.push(`${name}: ${chance.pick(values)}`)
    else headers[name] = chance.pick(values)
  }
  if (body && headers['content-encoding'] === 'gzip' && chance.percent(50)) body = gzipSync(body)
  const chunked = body && chance.percent(5)
  if (chunked) headers['transfer-encoding'] = 'chunked'
  else if (body) headers['content-length'] = String(body.length)
  const sent = body && (chunked ? chunksOf(body) : body)
  // Not read as a request by every server: bytes beyond ASCII or blanks in the path, or headers above 16 KB.
  const text = head({ ...plain, headers }, more)
  const unsure = /[^!-~]/.test(plain.path) || text.length > 15_000 || 'upgrade' in headers
  return {
    bytes: sent ? Buffer.concat([latin(text), sent]) : latin(text),
    head: plain.method === 'HEAD',
    broken: unsure
  }
}

function chunksOf(body: Buffer): Buffer {
  const half = Math.ceil(body.length / 2)
  const chunk = (bytes: Buffer) =>
    bytes.length === 0
      ? Buffer.alloc(0)
      : Buffer.concat([latin(`${bytes.length.toString(16)}\r\n`), bytes, latin('\r\n')])
  return Buffer.concat([chunk(body.subarray(0, half)), chunk(body.subarray(half)), latin('0\r\n\r\n')])
}

/** Bytes that are no complete request, or no HTTP. */
export function broken(plain: Plain, chance: Chance): WireRequest {
  const { body = Buffer.from('{}'), headers } = plain
  const withLength = (length: string) => [
    latin(head({ ...plain, headers: { ...headers, 'content-length': length } })),
    body
  ]
  const withChunks = (chunks: string) => [
    latin(head({ ...plain, headers: { ...headers, 'transfer-encoding': 'chunked' } }) + chunks)
  ]
  const whole = latin(head(plain))
  const made = chance.branch<Buffer[]>(
    [2, () => withLength(String(body.length + 10))],
    [2, () => withLength(String(Math.max(0, body.length - 1)))],
    [1, () => withLength('-1')],
    [1, () => withLength('9'.repeat(30))],
    [1, () => [latin(head(plain, [`content-length: ${body.length}`, 'content-length: 0'])), body]],
    [1, () => [latin(head(plain, [`content-length: ${body.length}`, 'transfer-encoding: chunked'])), body]],
    [2, () => withChunks('zz\r\n{}\r\n0\r\n\r\n')],
    [2, () => withChunks('fffffffffffffffff\r\n{}')],
    [2, () => withChunks('2\r\n{}')],
    [1, () => withChunks('2;x=y\r\n{}\r\n0\r\ntrailer: x\r\n\r\n')],
    [1, () => [latin(head(plain, ['transfer-encoding: gzip, chunked'])), body]],
    [2, () => [whole.subarray(0, chance.below(whole.length))]],
    [2, () => [latin(head({ ...plain, method: chance.pick(['FOO', 'get', '', 'G ET', 'CONNECT', 'PRI', '\0']) }))]],
    [
      2,
      () => [latin(head({ ...plain, path: `${plain.path}${chance.pick([' x', '\t', '\0', '#x', '\xff', '\r\n x'])}` }))]
    ],
    [1, () => [latin(head({ ...plain, path: chance.pick(['*', 'http://x/y', '//', '', 'x', '/'.repeat(5_000)]) }))]],
    [
      1,
      () => [latin(head(plain).replace('HTTP/1.1', chance.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9', 'x'])))]
    ],
    [2, () => [latin(head(plain, [chance.pick([': x', 'a b: c', 'x', ' folded', 'a\0: b', 'é: x', 'x: \x01'])]))]],
    [1, () => [latin(head(plain, [`x: ${'y'.repeat(20_000)}`]))]],
    [
      1,
      () => [
        latin(
          head(
            plain,
            Array.from({ length: 3_000 }, (_, n) => `x-${n}: y`)
          )
        )
      ]
    ],
    [1, () => [latin(head(plain).replace('host: localhost\r\n', ''))]],
    [1, () => [Buffer.concat([whole, whole, whole])]],
    [1, () => [Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])]],
    [1, () => [Buffer.from(Array.from({ length: 200 }, () => chance.below(256)))]]
  )
  return { bytes: Buffer.concat(made), head: plain.method === 'HEAD', broken: true }
}
