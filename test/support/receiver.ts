import { createHmac, timingSafeEqual } from 'node:crypto'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'

export interface Received {
  path: string
  headers: http.IncomingHttpHeaders
  body: string
  at: number
}

export type Respond = (received: Received, response: ServerResponse) => void

export interface Receiver {
  url: string
  port: number
  ca: string
  received: Received[]
  /** The response to the next requests; 204 by default. */
  respond: Respond
  close(): Promise<void>
}

/** A customer's web server, over TLS by default, that keeps the requests it gets. */
export async function startReceiver({ secure = true, host = '127.0.0.1' } = {}): Promise<Receiver> {
  const certificates = await makeCertificates({ host: 'hook.example' })
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      const one = { path, headers, body: Buffer.concat(chunks).toString('utf8'), at: Date.now() }
      receiver.received.push(one)
      receiver.respond(one, response)
    })
  }
  const server = secure ? https.createServer(certificates, handle) : http.createServer(handle)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    ca: certificates.ca,
    received: [],
    respond: (_, response) => response.writeHead(204).end(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
  return receiver
}

/** Verifies a call as a receiver does by the text of Standard Webhooks: one of the signatures must be valid. */
export function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = createHmac('sha256', key).update(content, 'utf8').digest()
  return String(headers['webhook-signature'])
    .split(' ')
    .some((entry) => {
      const [version, text = ''] = entry.split(',')
      const given = Buffer.from(text, 'base64')
      return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
    })
}
