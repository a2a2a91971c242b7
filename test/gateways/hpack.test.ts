import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestOf } from '../../src/gateways/gateway.ts'
import { noBody } from '../../src/gateways/transport/bytes.ts'
import { HeaderDecoder, HeaderFault } from '../../src/gateways/transport/framing/hpack-decoder.ts'
import { HeaderEncoder } from '../../src/gateways/transport/framing/hpack-encoder.ts'
import { decodeHuffman } from '../../src/gateways/transport/framing/huffman.ts'
import { huffmanCodes } from '../../src/gateways/transport/framing/tables.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

function decoderOf(longest = 64 * 1024) {
  const decoder = new HeaderDecoder(longest)
  return (text: string) => {
    const block = hex(text)
    return decoder.decode(block, 0, block.length)
  }
}

/** One encoder and one decoder, as at the two ends of a connection. */
function pair(authority = 'api.example') {
  const encoder = new HeaderEncoder(authority)
  const decoder = new HeaderDecoder(64 * 1024)
  const send = (headers: Record<string, string>) => {
    const request = requestOf(headers, noBody)
    const into = Buffer.alloc(encoder.measure(request))
    const end = encoder.encode(request, into, 0)
    return { bytes: end, read: decoder.decode(into, 0, end) }
  }
  return { encoder, send }
}

describe('reading header blocks (RFC 7541)', () => {
  it('C.6: responses with Huffman codes, a table of 256 bytes and evictions', () => {
    const read = decoderOf()
    const shared = { 'cache-control': 'private', location: 'https://www.example.com' }
    const first = `3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e
      919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`.replaceAll(/\s/g, '')
    const date = 'Mon, 21 Oct 2013 20:13:21 GMT'
    assert.deepEqual(read(first), { ':status': '302', ...shared, date })
    assert.deepEqual(read('4883 640e ffc1 c0bf'), { ':status': '307', ...shared, date })
    const third = `88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
      e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`
    assert.deepEqual(read(third.replaceAll(/\s/g, '')), {
      ':status': '200',
      ...shared,
      date: 'Mon, 21 Oct 2013 20:13:22 GMT',
      'content-encoding': 'gzip',
      'set-cookie': 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'
    })
  })

  it('5.2: every byte has a code, the code is complete, and padding is the beginning of the longest one', () => {
    const sum = huffmanCodes.reduce((total, { bits }) => total + 2 ** -bits, 0)
    assert.equal(sum, 1)
    for (const { symbol, bits, code } of huffmanCodes) {
      const text = (code.toString(2).padStart(bits, '0') + '1'.repeat(7)).slice(0, Math.ceil(bits / 8) * 8)
      const bytes = Buffer.from(text.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
      const read = decodeHuffman(bytes, 0, bytes.length)
      assert.equal(read, symbol === 256 ? undefined : String.fromCharCode(symbol))
    }
    assert.equal(decodeHuffman(hex('ff'), 0, 1), undefined, 'eight bits of padding')
    assert.equal(decodeHuffman(hex('00'), 0, 1), undefined, 'padding that is not ones')
  })

  it('a repeated field becomes a list, and one of HTTP/2 itself may not be repeated', () => {
    assert.deepEqual(decoderOf()('88 0003 78 2d61 0131 0003 782d 61 0132'), { ':status': '200', 'x-a': '1, 2' })
    assert.throws(() => decoderOf()('88 89'), HeaderFault)
  })

  const broken: [what: string, block: string][] = [
    ['field 0', '80'],
    ['a field that the table does not have', 'be'],
    ['a text that is longer than the block', '88 0001 61 7f'],
    ['a name without a value', '88 0001 61'],
    ['a number without an end', 'ff ff ff ff ff ff ff ff 01'],
    ['a number that is too large', '88 00 7f ff ff ff ff 0f'],
    ['a table that is larger than agreed', '3f e2 1f'],
    ['a table size after a field', '88 20'],
    ['the end of a string within a string', '88 0001 61 84 ffff ffff']
  ]
  for (const [what, block] of broken)
    it(`${what} is a fault`, () => assert.throws(() => decoderOf()(block), HeaderFault))

  it('skimming tells a plain 200 from every other block', () => {
    const decoder = new HeaderDecoder(64 * 1024)
    const skims = (text: string) => {
      const block = hex(text)
      return decoder.skim(block, 0, block.length)
    }
    const read = (text: string) => decoder.decode(hex(text), 0, hex(text).length)
    const id = `0007 61706e732d6964 03 616263`
    for (const plain of ['88', `88 ${id}`, '88 0f 10 02 3132', '88 10 01 61 81 1f']) {
      assert.ok(skims(plain), plain)
      assert.equal(read(plain)[':status'], '200')
    }
    const others = [
      '',
      '8d',
      id,
      `20 88`,
      '88 be',
      '88 89',
      '88 80',
      '88 ff00',
      '88 20',
      '88 4001 61 01 62',
      '88 0007 3a737461747573 03 323030',
      '88 0f ff01 01 61',
      '88 08 03 343034',
      '88 00',
      '88 0001',
      '88 0001 61',
      '88 0001 61 05 62',
      '88 0001 61 7f 00',
      '88 007f 00 61 01 62'
    ]
    for (const other of others) assert.equal(skims(other), false, other)
    // A field of the table counts once it is there, unless it is one of HTTP/2 itself.
    read('88 4001 61 01 62')
    assert.ok(skims('88 be'))
    read('4803 343034')
    assert.equal(skims('88 be'), false)
    assert.ok(skims('88 bf'))
  })

  it('every block that skimming calls a plain 200 decodes to one, and leaves the tables as they are', () => {
    let seed = 11
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    let skimmed = 0
    for (let round = 0; round < 20_000; round += 1) {
      const decoder = new HeaderDecoder(64 * 1024)
      const first = hex('88 4001 61 01 62')
      decoder.decode(first, 0, first.length)
      const block = Buffer.from([0x88, ...Array.from({ length: random(12) }, () => random(random(2) ? 256 : 4))])
      if (!decoder.skim(block, 0, block.length)) continue
      skimmed += 1
      try {
        assert.equal(decoder.decode(block, 0, block.length)[':status'], '200')
      } catch (error) {
        // A value that is not in the Huffman code is not read, and harms nothing.
        assert.match(String(error), /Huffman/)
      }
    }
    assert.ok(skimmed > 100, `${skimmed}`)
  })

  it('one byte that stands for a large field, many times, is refused before it fills the memory', () => {
    const value = 'x'.repeat(200)
    const large = `40 01 61 7f 49 ${Buffer.from(value).toString('hex')}`
    const read = decoderOf()
    assert.equal(read(large).a, value)
    assert.throws(() => read('be'.repeat(60_000)), /too long/)
  })
})

describe('writing header blocks', () => {
  const headers = (change: object = {}) => ({
    ':method': 'POST',
    ':path': '/3/device/ab',
    authorization: `bearer ${'t'.repeat(200)}`,
    'apns-topic': 'com.example.app',
    'apns-priority': '10',
    ...change
  })
  const expected = (sent: object) => ({ ':scheme': 'https', ':authority': 'api.example', ...sent })

  it('a value that comes twice takes one byte from the third request on', () => {
    const { send } = pair()
    const sizes: number[] = []
    for (let number = 0; number < 4; number += 1) {
      const sent = headers({ ':path': `/3/device/${number}` })
      const { bytes, read } = send(sent)
      assert.deepEqual(read, expected(sent))
      sizes.push(bytes)
    }
    assert.ok(sizes[0]! > 250 && sizes[1]! > 250)
    // Scheme, authority, method, token, topic, priority: one byte each; the path: its bytes and two more.
    assert.deepEqual(sizes.slice(2), [6 + 13, 6 + 13])
  })

  it('any order of values is read as it was written, with tables of any size', () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    const { encoder, send } = pair()
    for (let round = 0; round < 3_000; round += 1) {
      if (random(100) === 0) encoder.limit([0, 50, 200, 4_096, 65_536][random(5)]!)
      const sent: Record<string, string> = { ':method': 'POST', ':path': `/${random(3)}` }
      for (let count = random(12); count > 0; count -= 1)
        sent[`x-${random(20)}`] = `${random(4)}`.repeat(1 + random(random(50) === 0 ? 3_000 : 60))
      assert.deepEqual(send(sent).read, expected(sent))
    }
  })

  it('a header that cannot be sent is refused, and the next request is sent', () => {
    const { encoder, send } = pair()
    for (const wrong of [
      { 'x-a': 'a\nb' },
      { 'x-a': '中' },
      { 'x-a': '\0' },
      { 'X-A': 'a' },
      { 'x a': 'a' },
      { '': 'a' }
    ])
      assert.throws(() => encoder.measure(requestOf(headers(wrong), noBody)), TypeError)
    assert.deepEqual(send(headers()).read, expected(headers()))
    assert.deepEqual(send(headers({ 'x-a': 'é\t~' })).read, expected(headers({ 'x-a': 'é\t~' })))
  })
})
