// The least that a process of Node can do for a push: node:tls carries the same bytes, and nothing makes or reads them.
import { connect } from 'node:tls'
import { headBytes, preface, types, writeHead } from '../../src/gateways/transport/framing/frames.ts'
import { HeaderEncoder } from '../../src/gateways/transport/framing/hpack-encoder.ts'
import { framesOf } from '../support/light-gateway.ts'
import type { SendAll, Setup } from './push-clients.ts'

const inFlight = 1_000
const together = 40

/** The frames of a push without what a connection sends once: token and topic. Only the stream's number changes. */
function pushBytes(): { bytes: Buffer; dataAt: number } {
  const names = [':method', ':path', 'apns-id', 'apns-expiration', 'apns-collapse-id']
  const id = '0'.repeat(36)
  const values = ['POST', `/3/device/${'0'.repeat(64)}`, id, '1800000000', id]
  const body = Buffer.from(
    JSON.stringify({ aps: { alert: { title: 'Hello', body: 'x'.repeat(150) } }, message_id: id })
  )
  const request = { names, values, body: { length: 0, write() {} } }
  const bytes = Buffer.alloc(1_000)
  const end = new HeaderEncoder('127.0.0.1').encode(request, bytes, headBytes)
  writeHead(bytes, 0, end - headBytes, types.headers, 0x4, 0)
  const at = writeHead(bytes, end, body.length, types.data, 0x1, 0)
  return { bytes: bytes.subarray(0, at + body.copy(bytes, at)), dataAt: end }
}

export async function tlsAlone({ origin, ca }: Setup): Promise<SendAll> {
  const { hostname, port } = new URL(origin)
  const { bytes, dataAt } = pushBytes()
  const block = Buffer.concat(Array.from({ length: together }, () => bytes))
  let responses = 0
  let onResponses = () => {}
  const frames = framesOf((type) => {
    if (type === types.headers) responses += 1
  })
  const buffer = Buffer.allocUnsafeSlow(65_536)
  const callback = (length: number) => {
    frames.read(buffer, length)
    onResponses()
    return true
  }
  const options = { host: hostname, port: Number(port), ca, ALPNProtocols: ['h2'], onread: { buffer, callback } }
  const socket = connect(options)
  await new Promise<void>((resolve) => socket.once('secureConnect', resolve))
  const settings = Buffer.alloc(headBytes)
  writeHead(settings, 0, 0, types.settings, 0, 0)
  socket.write(Buffer.concat([preface, settings]))
  let stream = 1

  return (may) =>
    new Promise((resolve) => {
      let sent = 0
      const first = responses
      const fill = () => {
        while (sent - (responses - first) <= inFlight - together && may(sent)) {
          for (let at = 0; at < block.length; at += bytes.length) {
            block.writeUInt32BE(stream, at + 5)
            block.writeUInt32BE(stream, at + dataAt + 5)
            stream += 2
          }
          socket.write(Buffer.from(block))
          sent += together
        }
        if (responses - first === sent) resolve(sent)
      }
      onResponses = fill
      fill()
    })
}
