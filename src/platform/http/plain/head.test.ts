import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readPlain } from './head.ts'

const request = (line: string, fields: string[] = ['Host: a'], body = ''): Buffer =>
  Buffer.from(`${[line, ...fields].join('\r\n')}\r\n\r\n${body}`, 'latin1')
const post = (fields: string[], body = '{"a":1}') =>
  request('POST /api/v1/users HTTP/1.1', ['Host: a', ...fields], body)

describe('0080: a chunk is read as a request only if every reader understands it alike', () => {
  it('reads one request of the usual form, with names in small letters and values without the space around them', () => {
    const chunk = post(['Content-Type: application/json', 'X-Odd:b  c', 'Content-Length: 7'])
    const { bodyAt, ...head } = readPlain(chunk)!
    assert.deepEqual(head, {
      method: 'POST',
      url: '/api/v1/users',
      headers: { host: 'a', 'content-type': 'application/json', 'x-odd': 'b  c', 'content-length': '7' }
    })
    assert.equal(chunk.toString('utf8', bodyAt), '{"a":1}')
    assert.equal(readPlain(request('GET /a%2Fb?c=d&e HTTP/1.1'))?.url, '/a%2Fb?c=d&e')
    assert.equal(readPlain(request('GET / HTTP/1.1', ['Host: a', 'Accept:']))?.headers.accept, '')
  })

  const left: Record<string, Buffer> = {
    'half a head': Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n'),
    'a body that is not whole': post(['Content-Length: 8']),
    'a body with more behind it': post(['Content-Length: 6']),
    'a body without a length': post([]),
    'two requests': Buffer.concat([request('GET / HTTP/1.1'), request('GET / HTTP/1.1')]),
    'two lengths': post(['Content-Length: 7', 'Content-Length: 7']),
    'a length with a sign': post(['Content-Length: +7']),
    'a length with a zero before it': post(['Content-Length: 07']),
    'a length in hexadecimal': post(['Content-Length: 0x7']),
    'a list of lengths': post(['Content-Length: 7, 7']),
    'a length and an encoding': post(['Content-Length: 7', 'Transfer-Encoding: chunked']),
    'an encoding alone': post(['Transfer-Encoding: chunked'], '7\r\n{"a":1}\r\n0\r\n\r\n'),
    'an encoding in odd letters': post(['Content-Length: 7', 'tRANSFER-eNCODING: identity']),
    'a space before the colon': post(['Content-Length : 7']),
    'a space before a name': post([' X: y', 'Content-Length: 7']),
    'a folded line': post(['X: y', '\tz', 'Content-Length: 7']),
    'a line feed alone': Buffer.from('GET / HTTP/1.1\nHost: a\n\r\n\r\n'),
    'a line feed in a value': post(['X: y\nContent-Length: 7']),
    'a carriage return in a value': post(['X: y\rz', 'Content-Length: 7']),
    'a NUL in a value': post(['X: y\0z', 'Content-Length: 7']),
    'a character beyond ASCII': post(['X: \xe4', 'Content-Length: 7']),
    'an empty name': post([': y', 'Content-Length: 7']),
    'no host': request('GET / HTTP/1.1', []),
    'two hosts': request('GET / HTTP/1.1', ['Host: a', 'Host: b']),
    'a name that objects have': request('GET / HTTP/1.1', ['Host: a', 'constructor: b']),
    'HTTP/1.0': request('GET / HTTP/1.0'),
    'another version': request('GET / HTTP/1.2'),
    'a method in small letters': request('get / HTTP/1.1'),
    'another method': request('OPTIONS / HTTP/1.1'),
    HEAD: request('HEAD / HTTP/1.1'),
    'an absolute URL': request('GET http://a/ HTTP/1.1'),
    'a fragment': request('GET /#b HTTP/1.1'),
    'two spaces': request('GET  / HTTP/1.1'),
    'an empty line before it': Buffer.from('\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n'),
    'the end of the connection': request('GET / HTTP/1.1', ['Host: a', 'Connection: close']),
    'another protocol': request('GET / HTTP/1.1', ['Host: a', 'Connection: Upgrade', 'Upgrade: h2c']),
    'an expectation': post(['Expect: 100-continue', 'Content-Length: 7']),
    'a compressed body': post(['Content-Encoding: gzip', 'Content-Length: 7']),
    'lines of JSON': post(['Content-Type: application/x-ndjson', 'Content-Length: 7']),
    'a head of more than 8 KiB': request('GET / HTTP/1.1', ['Host: a', `X: ${'y'.repeat(9_000)}`])
  }
  for (const [what, chunk] of Object.entries(left)) {
    it(`leaves to Node: ${what}`, () => assert.equal(readPlain(chunk), undefined))
  }
})
