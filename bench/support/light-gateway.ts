import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { HeaderBlocks, type HeaderEvents } from '../../src/gateways/transport/framing/blocks.ts'
import {
  defaultWindow,
  type FrameEvents,
  FrameReader,
  flags,
  headBytes,
  preface,
  settings,
  types,
  writeHead
} from '../../src/gateways/transport/framing/frames.ts'

// A gateway that costs as little as Node allows, so that a benchmark measures the sender and not the gateway. It reads
// frames with our own code, checks nothing, and writes the responses to everything that arrived together at once.

const streams = 1_000
const window = 2 ** 30
const setting = (name: number, value: number) => [0, name, value >>> 24, value >>> 16, value >>> 8, value]
const greeting = Buffer.from([...setting(settings.streams, streams), ...setting(settings.window, window)])
const status200 = 0x88
const apnsId = Buffer.from('\x00\x07apns-id\x24', 'latin1')
const contentType = Buffer.from('\x00\x0ccontent-type\x1fapplication/json; charset=UTF-8', 'latin1')
const fcmBody = Buffer.from('{"name":"projects/app-1/messages/0:1500415314455276%31bd1c9631bd1c96"}')

/** `arrived` gets the path of each request. Resolves with the port. */
export async function startLightGateway(
  tls: { cert: string; key: string },
  arrived: (path: string) => void = () => {}
): Promise<number> {
  const server = createServer({ ...tls, ALPNProtocols: ['h2'] }, (socket) => serve(socket, arrived))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Calls `onFrame` for each frame of what it reads. */
export const framesOf = (onFrame: FrameEvents['onFrame']) => new FrameReader({ onFrame })

function serve(socket: TLSSocket, arrived: (path: string) => void): void {
  socket.setNoDelay(true)
  const out = Buffer.allocUnsafe(1 << 20)
  let at = 0
  let taken = 0
  /** The ids of APNs requests whose body is not complete; '' for others. */
  const ids = new Map<number, string>()
  const frame = (type: number, flag: number, stream: number, payload: Uint8Array) => {
    at = writeHead(out, at, payload.length, type, flag, stream)
    out.set(payload, at)
    at += payload.length
  }
  const respond = (stream: number, id: string) => {
    const head = at
    at += headBytes
    out[at++] = status200
    at += (id ? apnsId : contentType).copy(out, at)
    if (id) at += out.write(id, at, 'latin1')
    writeHead(out, head, at - head - headBytes, types.headers, flags.endHeaders | (id ? flags.endStream : 0), stream)
    if (!id) frame(types.data, flags.endStream, stream, fcmBody)
  }
  const end = (stream: number) => {
    respond(stream, ids.get(stream)!)
    ids.delete(stream)
  }
  const onHeaders: HeaderEvents['onHeaders'] = (stream, headers, isLast) => {
    arrived(headers[':path']!)
    ids.set(stream, headers['apns-id'] ?? '')
    if (isLast) end(stream)
  }
  const blocks = new HeaderBlocks({ onHeaders })
  const onFrame: FrameEvents['onFrame'] = (type, flag, stream, from, start, last) => {
    if (type === types.headers) blocks.begin(flag, stream, from, start, last, false)
    else if (type === types.continuation) blocks.continue(flag, from, start, last)
    else if (type === types.data) {
      taken += last - start
      if (flag & flags.endStream) end(stream)
    } else if (type === types.settings && !(flag & flags.ack)) frame(types.settings, flags.ack, 0, Buffer.alloc(0))
    else if (type === types.ping && !(flag & flags.ack)) frame(types.ping, flags.ack, 0, from.subarray(start, last))
  }
  const reader = framesOf(onFrame)
  const flush = () => {
    if (taken > window / 4) {
      const update = Buffer.alloc(4)
      update.writeUInt32BE(taken)
      frame(types.windowUpdate, 0, 0, update)
      taken = 0
    }
    if (at > 0) socket.write(Buffer.from(out.subarray(0, at)))
    at = 0
  }
  frame(types.settings, 0, 0, greeting)
  const room = Buffer.alloc(4)
  room.writeUInt32BE(window - defaultWindow)
  frame(types.windowUpdate, 0, 0, room)
  let greeted = 0
  socket.on('data', (chunk: Buffer) => {
    // The preface may come in parts.
    const skipped = Math.min(preface.length - greeted, chunk.length)
    greeted += skipped
    reader.read(chunk.subarray(skipped), chunk.length - skipped)
    flush()
  })
  socket.on('error', () => socket.destroy())
}
