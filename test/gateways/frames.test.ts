// Our own HTTP/2 frames against a peer that keeps to no rule. test/gateways/transport.test.ts has the duties of every
// transport; test/peers has a server that is not Node's.
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { requestOf } from '../../src/gateways/gateway.ts'
import { noBody } from '../../src/gateways/transport/bytes.ts'
import { framed } from '../../src/gateways/transport/framing/open.ts'
import type { Ending } from '../../src/gateways/transport/transport.ts'
import { steadyMs } from '../../src/platform/time.ts'
import { frame, none, noSettings, number, ok, openTo, post, rawServer, watchFrames } from './raw-peer.ts'
import { answer, plainServer } from './senders.ts'

const long = Boolean(process.env.TIDINGS_LONG)

/** The ending of a request to a peer that sends these frames in response to whatever it reads first. */
async function endingAfter(t: TestContext, ...frames: Buffer[]): Promise<Ending> {
  const server = await rawServer(t, (socket) => {
    socket.write(noSettings)
    let bytes = 0
    socket.on('data', (chunk: Buffer) => {
      // The preface, the settings, the window: the request is behind them.
      const before = bytes
      bytes += chunk.length
      if (before <= 60 && bytes > 60) socket.write(Buffer.concat(frames))
    })
  })
  return post(await openTo(t, server), 'x', 3_000)
}

describe('requests with our own frames', () => {
  it('a body larger than a frame and than the windows arrives whole, whatever the windows are', async (t) => {
    const body = Array.from({ length: 30_000 }, (_, index) => index).join(' ')
    for (const initialWindowSize of [1, 1_000, 65_535, 2 ** 31 - 1]) {
      const length = initialWindowSize === 1 ? 60 : body.length
      const sent = body.slice(0, length)
      const server = await plainServer(t, (stream, _headers, got) => answer(stream, got === sent ? 200 : 400), {
        initialWindowSize
      })
      const connection = await openTo(t, server)
      const endings = await Promise.all(Array.from({ length: 5 }, () => post(connection, sent)))
      for (const ending of endings) assert.ok(ending.kind === 'answer' && ending.status === 200)
    }
  })

  it('headers larger than a frame are continued', async (t) => {
    const server = await plainServer(t, (stream, headers) => answer(stream, 200, { length: headers['x-a']!.length }))
    const ending = await post(await openTo(t, server), 'x', 20_000, { 'x-a': 'a'.repeat(40_000) })
    assert.ok(ending.kind === 'answer')
    assert.deepEqual(JSON.parse(ending.body), { length: 40_000 })
  })

  it('a peer whose table of headers is small, absent or large reads every request', async (t) => {
    for (const headerTableSize of [0, 64, 4_096, 65_536]) {
      const server = await plainServer(t, (stream, { authorization }) => answer(stream, 200, { authorization }), {
        headerTableSize
      })
      const connection = await openTo(t, server)
      for (let index = 0; index < 10; index += 1) {
        const authorization = `bearer ${'t'.repeat(100)}${Math.floor(index / 4)}`
        const ending = await post(connection, 'x', 20_000, { authorization })
        assert.ok(ending.kind === 'answer')
        assert.deepEqual(JSON.parse(ending.body), { authorization })
      }
    }
  })

  it('every text that Node sends in a header arrives', async (t) => {
    const value = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
      .filter((letter) => letter === '\t' || (letter >= ' ' && letter !== '\x7f'))
      .join('')
    const server = await plainServer(t, (stream) =>
      answer(stream, 200, undefined, { 'x-a': value, 'x-b': 'b'.repeat(9_000) })
    )
    const connection = await openTo(t, server)
    for (let index = 0; index < 3; index += 1) {
      const ending = await post(connection)
      assert.ok(ending.kind === 'answer')
      // Node strips nothing; a value neither begins nor ends with a blank here.
      assert.equal(ending.headers['x-a'], value)
      assert.equal(ending.headers['x-b'], 'b'.repeat(9_000))
    }
  })

  it('a request beyond the limit of the peer waits for room', async (t) => {
    let most = 0
    let open = 0
    const server = await plainServer(
      t,
      (stream) => {
        open += 1
        most = Math.max(most, open)
        setTimeout(() => {
          open -= 1
          answer(stream, 200)
        }, 5)
      },
      { maxConcurrentStreams: 3 }
    )
    const connection = await openTo(t, server)
    const endings = await Promise.all(Array.from({ length: 20 }, () => post(connection)))
    assert.ok(endings.every(({ kind }) => kind === 'answer'))
    assert.ok(most <= 3)
  })

  it('a request that finds no room before its deadline is never sent', async (t) => {
    const heads: number[] = []
    const server = await rawServer(t, (socket) => {
      socket.write(frame(4, 0, 0, [0, 3, ...number(1)]))
      watchFrames(socket, ({ type, stream }) => {
        if (type === 1) heads.push(stream)
        if (type === 1 && stream > 1) socket.write(frame(1, 0x5, stream, [0x88]))
      })
    })
    const connection = await openTo(t, server)
    const deadlineAt = steadyMs() + 200
    const ask = () =>
      new Promise<Ending>((ended) =>
        connection.request(requestOf({ ':method': 'GET', ':path': '/' }, noBody), deadlineAt, { ended })
      )
    const endings = await Promise.all(Array.from({ length: 4 }, ask))
    assert.deepEqual(
      endings.map(({ kind }) => kind),
      ['timeout', 'refused', 'refused', 'refused']
    )
    assert.equal((await post(connection)).kind, 'answer')
    assert.deepEqual(heads, [1, 3])
  })
})

describe('responses of a peer that keeps to no rule', () => {
  const kinds: [what: string, kind: Ending['kind'], frames: Buffer[]][] = [
    ['a response', 'answer', [ok]],
    ['a 103 before the response', 'answer', [frame(1, 0x4, 1, [0x08, 3, ...Buffer.from('103')]), ok]],
    ['frames of unknown kinds', 'answer', [frame(99, 255, 77, [1, 2, 3]), ok]],
    ['priorities', 'answer', [frame(2, 0, 1, [0, 0, 0, 0, 1]), ok]],
    ['a padded header with a priority', 'answer', [frame(1, 0x2d, 1, [2, 0, 0, 0, 0, 1, 0x88, 0, 0])]],
    ['a padded body', 'answer', [frame(1, 0x4, 1, [0x88]), frame(0, 0x9, 1, [3, 65, 0, 0, 0])]],
    ['trailers', 'answer', [frame(1, 0x4, 1, [0x88]), frame(0, 0, 1, [65]), frame(1, 0x5, 1, [0, 1, 97, 1, 98])]],
    ['a header in parts', 'answer', [frame(1, 0x1, 1, [0x88]), frame(9, 0, 1), frame(9, 0x4, 1, [0, 1, 97, 1, 98])]],
    ['a reset with REFUSED_STREAM', 'refused', [frame(3, 0, 1, number(7))]],
    ['a reset with CANCEL', 'lost', [frame(3, 0, 1, number(8))]],
    ['a GOAWAY that excludes it', 'refused', [frame(7, 0, 0, [...number(0), ...number(0)])]],
    ['no status', 'lost', [frame(1, 0x5, 1, [0, 1, 97, 1, 98])]],
    ['a status that is no number', 'lost', [frame(1, 0x5, 1, [0x08, 3, ...Buffer.from('abc')])]],
    ['only a 103', 'lost', [frame(1, 0x5, 1, [0x08, 3, ...Buffer.from('103')])]],
    ['a body without headers', 'lost', [frame(0, 0x1, 1, [65])]],
    ['a window of 0', 'lost', [frame(8, 0, 1, number(0))]],
    ['an overflowing window', 'lost', [frame(8, 0, 1, number(2 ** 31 - 1)), frame(8, 0, 0, number(2 ** 31 - 1))]],
    ['a pushed response', 'lost', [frame(5, 0x4, 1, [...number(2), 0x88])]],
    ['a response to no request', 'lost', [frame(1, 0x5, 9, [0x88])]],
    ['a response on stream 0', 'lost', [frame(1, 0x5, 0, [0x88])]],
    ['a response on an even stream', 'lost', [frame(1, 0x5, 2, [0x88])]],
    ['headers that cannot be decoded', 'lost', [frame(1, 0x5, 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]],
    ['more padding than there is', 'lost', [frame(1, 0xd, 1, [200, 0x88])]],
    ['padding without its length', 'lost', [frame(0, 0x8, 1)]],
    ['a continuation of nothing', 'lost', [frame(9, 0x4, 1, [0x88])]],
    ['an interrupted header', 'lost', [frame(1, 0x1, 1, [0x88]), frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])]],
    ['a frame that is too long', 'lost', [frame(0, 0, 1, Buffer.alloc(16_385))]],
    ['a PING of five bytes', 'lost', [frame(6, 0, 0, [1, 2, 3, 4, 5])]],
    ['settings of five bytes', 'lost', [frame(4, 0, 0, [1, 2, 3, 4, 5])]],
    ['a window setting that is too large', 'lost', [frame(4, 0, 0, [0, 4, 255, 255, 255, 255])]],
    ['a short GOAWAY', 'lost', [frame(7, 0, 0, [1])]],
    ['text of HTTP/1.1', 'lost', [Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')]],
    ['nothing', 'timeout', []]
  ]
  for (const [what, kind, frames] of kinds)
    it(`${what}: ${kind}`, async (t) => assert.equal((await endingAfter(t, ...frames)).kind, kind))

  it('a header without an end is refused before it fills the memory', async (t) => {
    const parts = Array.from({ length: 20_000 }, () => frame(9, 0, 1))
    const ending = await endingAfter(t, frame(1, 0x1, 1, [0x88]), ...parts)
    assert.deepEqual(ending, { kind: 'lost', message: 'a header block is too long' })
  })

  it('a peer that asks without reading the responses is cut off', async (t) => {
    const gone = Promise.withResolvers<void>()
    const server = await rawServer(t, (socket) => {
      socket.on('close', () => gone.resolve())
      socket.pause()
      socket.removeAllListeners('data')
      const pings = Buffer.concat(Array.from({ length: 5_000 }, () => frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])))
      const write = () => {
        while (!socket.destroyed && socket.write(pings)) {}
      }
      socket.on('drain', write)
      socket.write(noSettings)
      write()
    })
    const connection = await openTo(t, server)
    const ending = await post(connection, 'x', 60_000)
    assert.equal(ending.kind, 'lost')
    assert.equal(connection.state, 'closed')
    // Its socket ends too, with what it never read.
    await gone.promise
  })

  it('a peer that speaks HTTP/1.1 only, or sends no settings, is refused', async (t) => {
    const silent = await rawServer(t, () => {})
    await assert.rejects(framed.open(silent.origin, { ca: silent.ca }, none, 300), /no answer within 300 ms/)
    const rude = await rawServer(t, (socket) => socket.write(ok))
    await assert.rejects(framed.open(rude.origin, { ca: rude.ca }, none, 5_000), /settings/)
  })

  const rounds = long ? 20_000 : 300
  it(`${rounds} peers that mix valid, changed and random frames end every request and break nothing`, async (t) => {
    let seed = Number(process.env.SEED ?? Date.now() % 2_147_483_646) || 1
    t.diagnostic(`SEED=${seed}`)
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    const bytes = (count: number) => Array.from({ length: count }, () => random(256))
    const valid = [ok, ...kinds.flatMap(([, , frames]) => frames)]
    const next = () => {
      const chosen = Buffer.from(valid[random(valid.length)]!)
      if (random(3) === 0) return chosen
      if (random(4) === 0) return frame(random(11), random(256), random(6), bytes(random(40)))
      for (let changes = random(4); changes > 0; changes -= 1) chosen[random(chosen.length)] = random(256)
      return random(8) === 0 ? chosen.subarray(0, random(chosen.length)) : chosen
    }
    const server = await rawServer(t, (socket) => {
      socket.write(noSettings)
      socket.once('data', () => {
        const all = Buffer.concat(Array.from({ length: 1 + random(12) }, next))
        // Cut anywhere: a frame may come in pieces.
        const cut = random(all.length)
        socket.write(all.subarray(0, cut))
        setImmediate(() => socket.end(all.subarray(cut)))
      })
    })
    const kindsSeen = new Set<string>()
    const one = async () => {
      const connection = await framed.open(server.origin, { ca: server.ca }, none, 30_000)
      const endings = await Promise.all([post(connection, 'x', 15_000), post(connection, 'y'.repeat(70_000), 15_000)])
      for (const { kind } of endings) kindsSeen.add(kind)
      connection.close('enough')
    }
    for (let done = 0; done < rounds; done += 20) await Promise.all(Array.from({ length: 20 }, one))
    assert.ok(kindsSeen.has('answer') && kindsSeen.has('lost'))
    assert.ok(!kindsSeen.has('timeout'), 'a peer that has closed leaves no request waiting')
  })
})
