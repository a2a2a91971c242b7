// A peer that speaks HTTP/2 frame by frame and keeps to no rule, and requests to it with our own frames.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { requestOf } from '../../src/gateways/gateway.ts'
import { Bytes } from '../../src/gateways/transport/bytes.ts'
import { framed } from '../../src/gateways/transport/framing/open.ts'
import type { Ending, H2Connection } from '../../src/gateways/transport/transport.ts'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'

const certificates = makeCertificates({ host: '127.0.0.1' })
export const none = { onDraining() {}, onClosed() {}, onLimit() {} }
export const noSettings = frame(4, 0, 0)

export function frame(type: number, flags: number, stream: number, payload: Buffer | number[] = []): Buffer {
  const bytes = Buffer.from(payload)
  const head = Buffer.alloc(9)
  head.writeUIntBE(bytes.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, bytes])
}

export const number = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]

/** A TLS server that speaks HTTP/2 by name only. `speak` writes whatever it likes. */
export async function rawServer(t: TestContext, speak: (socket: TLSSocket) => void) {
  const { ca, cert, key } = await certificates
  const sockets = new Set<TLSSocket>()
  const server = createServer({ cert, key, ALPNProtocols: ['h2'] }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
    speak(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { ca, origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

export interface SeenFrame {
  type: number
  flags: number
  stream: number
  payload: Buffer
}

const prefaceBytes = 24

/** Calls `see` for each frame that the peer reads. */
export function watchFrames(socket: TLSSocket, see: (frame: SeenFrame) => void) {
  let rest = Buffer.alloc(0)
  let isGreeted = false
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    if (!isGreeted && rest.length < prefaceBytes) return
    if (!isGreeted) rest = rest.subarray(prefaceBytes)
    isGreeted = true
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3)
      see({ type: rest[3]!, flags: rest[4]!, stream: rest.readUInt32BE(5), payload: rest.subarray(9, end) })
      rest = rest.subarray(end)
    }
  })
}

export async function openTo(t: TestContext, { origin, ca }: { origin: string; ca: string }) {
  const connection = await framed.open(origin, { ca }, none, 10_000)
  t.after(() => connection.close('the test has ended'))
  return connection
}

export const post = (connection: H2Connection, body = 'x', deadlineMs = 20_000, headers: object = {}) =>
  new Promise<Ending>((resolve) =>
    connection.request(
      requestOf({ ':method': 'POST', ':path': '/', ...headers }, new Bytes(Buffer.from(body))),
      Date.now() + deadlineMs,
      { ended: resolve }
    )
  )

/** A response with status 200 and nothing else to the first request. */
export const ok = frame(1, 0x5, 1, [0x88])
