// The work and the memory that a hostile peer can cost our own frames.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Ending } from '../../src/gateways/transport/transport.ts'
import { frame, noSettings, number, ok, openTo, post, rawServer, type SeenFrame, watchFrames } from './raw-peer.ts'

const setting = (name: number, value: number) => [0, name, ...number(value)]
const window = (value: number) => frame(4, 0, 0, setting(4, value))
const room = (bytes: number) => frame(8, 0, 0, number(bytes))

const isHead = ({ type }: SeenFrame) => type === 1
const isData = ({ type }: SeenFrame) => type === 0
const bytesIn = (frames: SeenFrame[]) => frames.reduce((total, { payload }) => total + payload.length, 0)

describe('windows that a peer changes a thousand times', () => {
  const updates: [what: string, before: Buffer, requests: number, sentBefore: number, flood: Buffer[], more: number][] =
    [
      ['in settings', window(0), 10, 0, Array.from({ length: 1_000 }, (_, index) => window(index + 1)), 10_000],
      ['by updates', noSettings, 20, 65_535, Array.from({ length: 1_000 }, () => room(1)), 1_000]
    ]
  for (const [what, before, requests, sentBefore, flood, more] of updates)
    it(`${what} send what waits in few frames, not in one for each change`, async (t) => {
      const sent = Promise.withResolvers<SeenFrame[]>()
      const server = await rawServer(t, (socket) => {
        socket.write(before)
        const seen: SeenFrame[] = []
        let changed = 0
        watchFrames(socket, (each) => {
          seen.push(each)
          const data = seen.filter(isData)
          if (changed === 0 && seen.filter(isHead).length === requests && bytesIn(data) === sentBefore) {
            changed = data.length
            seen.splice(0)
            socket.write(Buffer.concat(flood))
          } else if (bytesIn(seen.filter(isData)) === more) sent.resolve(seen.filter(isData))
        })
      })
      const connection = await openTo(t, server)
      for (let index = 0; index < requests; index += 1) void post(connection, 'y'.repeat(4_000))
      const { length } = await sent.promise
      // All changes fit into one TLS record, which may arrive in a few parts.
      assert.ok(length <= 10 * requests, `${length} frames`)
    })

  it('let a body that waited go before a later request', async (t) => {
    const ended: number[] = []
    const done = Promise.withResolvers<void>()
    const server = await rawServer(t, (socket) => {
      socket.write(noSettings)
      let bytes = 0
      watchFrames(socket, (each) => {
        if (!isData(each)) return
        bytes += each.payload.length
        if (each.flags & 1) ended.push(each.stream)
        // The window of the connection is full, and stream 33 waits with the rest of its body.
        if (bytes === 65_535) socket.write(Buffer.concat([room(2_465), frame(1, 0x5, 1, [0x88])]))
        if (ended.includes(33)) done.resolve()
      })
    })
    const connection = await openTo(t, server)
    const first = post(connection, 'y'.repeat(4_000))
    for (let index = 1; index < 17; index += 1) void post(connection, 'y'.repeat(4_000))
    await first
    void post(connection, 'later')
    await done.promise
    assert.ok(!ended.includes(35))
  })
})

describe('a peer that says again and again that it goes', () => {
  const goaway = frame(7, 0, 0, [...number(2 ** 31 - 1), ...number(2)])

  it('has one timer that cuts the connection', async (t) => {
    const armed = t.mock.method(globalThis, 'setTimeout')
    const server = await rawServer(t, (socket) => {
      socket.write(noSettings)
      watchFrames(socket, (each) => {
        if (isData(each)) socket.write(Buffer.concat([...Array.from({ length: 10 }, () => goaway), ok]))
      })
    })
    assert.equal((await post(await openTo(t, server))).kind, 'answer')
    assert.equal(armed.mock.calls.filter(({ arguments: [, ms] }) => ms === 1_000).length, 1)
  })

  it('is cut off after the sixteenth time', async (t) => {
    const server = await rawServer(t, (socket) => {
      socket.write(noSettings)
      watchFrames(socket, (each) => {
        if (isData(each)) socket.write(Buffer.concat(Array.from({ length: 1_000 }, () => goaway)))
      })
    })
    const connection = await openTo(t, server)
    assert.deepEqual(await post(connection), { kind: 'lost', message: 'too many GOAWAYs' })
    assert.equal(connection.state, 'closed')
  })
})

describe('responses that a peer never ends', () => {
  const most = 8 * 1024 * 1024
  const head = (stream: number) => frame(1, 0x4, stream, [0x88])
  const bigBody = (stream: number) => Buffer.concat([head(stream), frame(0, 0, stream, Buffer.alloc(16_000, 'x'))])
  /** `a` with 4,000 letters, which goes into the table, and then a byte for each time that it is repeated. */
  const literal = [0x40, 1, 0x61, 0x7f, 0xa1, 0x1e, ...Buffer.alloc(4_000, 'x')]
  const bigHead = (stream: number) =>
    frame(1, 0x4, stream, [0x88, ...(stream === 1 ? literal : [0xbe]), ...Buffer.alloc(14, 0xbe)])

  const bytesOf = (ending: Ending) =>
    ending.kind === 'answer' ? ending.body.length + String(ending.headers.a ?? '').length : 0

  const kinds: [what: string, requests: number, begin: (stream: number) => Buffer][] = [
    ['bodies', 600, bigBody],
    ['headers', 200, bigHead]
  ]
  for (const [what, requests, begin] of kinds)
    it(`end with their connection when their ${what} take more than 8 MiB`, async (t) => {
      const server = await rawServer(t, (socket) => {
        socket.write(noSettings)
        let heads = 0
        watchFrames(socket, (each) => {
          if (isHead(each)) heads += 1
          if (!isHead(each) || heads < requests) return
          for (let index = 0; index < requests; index += 1) socket.write(begin(1 + 2 * index))
        })
      })
      const connection = await openTo(t, server)
      const endings = await Promise.all(Array.from({ length: requests }, () => post(connection)))
      assert.equal(connection.state, 'closed')
      const kept = endings.reduce((total, ending) => total + bytesOf(ending), 0)
      // The response that takes too much counts too.
      assert.ok(kept > most / 2 && kept <= most + 64 * 1024, `${kept} bytes`)
      const lost = endings.filter(({ kind }) => kind !== 'answer')
      assert.ok(lost.length > 0)
      for (const ending of lost)
        assert.deepEqual(ending, { kind: 'lost', message: 'too many responses without an end' })
    })

  it('leave their room to others when they end after all', async (t) => {
    const server = await rawServer(t, (socket) => {
      socket.write(noSettings)
      watchFrames(socket, (each) => {
        if (isData(each)) socket.write(Buffer.concat([bigBody(each.stream), frame(0, 0x1, each.stream)]))
      })
    })
    const connection = await openTo(t, server)
    for (let round = 0; round < 3; round += 1) {
      const endings = await Promise.all(Array.from({ length: 300 }, () => post(connection)))
      for (const ending of endings) assert.equal(bytesOf(ending), 16_000)
    }
  })
})
