// APNs in a process of its own, for bench/campaigns.ts: `light` accepts and counts at the least cost; `counter` does so by
// node:http2 and notes when watched pushes arrive; `simulator` is the one of `tidings simulate`, which checks what Apple checks.
import { createPrivateKey, sign } from 'node:crypto'
import * as http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { makeCertificates } from '../../src/simulator/server/certificates.ts'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { startLightGateway } from './light-gateway.ts'

/** The report of the gateway: pushes so far, the time of the first, and the times of watched ones. */
export interface Arrivals {
  counted: number
  firstAt: number
  watched: [token: string, at: number][]
}

export interface ApnsGateway {
  origin: string
  ca: string
  providerToken: string
}

/** The arrival of pushes to tokens with this prefix is recorded. */
export const watchedToken = 'feed'

if (import.meta.main) {
  let counted = 0
  let firstAt = 0
  let watched: Arrivals['watched'] = []
  const arrived = (token: string) => {
    counted += 1
    if (firstAt === 0) firstAt = Date.now()
    if (token.startsWith(watchedToken)) watched.push([token, performance.timeOrigin + performance.now()])
  }
  const kinds = { light, counter, simulator }
  const gateway = await kinds[process.argv[2] as keyof typeof kinds](arrived)
  process.on('message', () => {
    process.send!({ counted, firstAt, watched } satisfies Arrivals)
    counted = 0
    firstAt = 0
    watched = []
  })
  process.send!(gateway)
}

async function light(arrived: (token: string) => void): Promise<ApnsGateway> {
  const { ca, cert, key } = await makeCertificates({ host: '127.0.0.1' })
  const port = await startLightGateway({ cert, key }, (path) => arrived(path.slice('/3/device/'.length)))
  return { origin: `https://127.0.0.1:${port}`, ca, providerToken: 'x'.repeat(184) }
}

async function counter(arrived: (token: string) => void): Promise<ApnsGateway> {
  const { ca, cert, key } = await makeCertificates({ host: '127.0.0.1' })
  const server = http2.createSecureServer({ cert, key, settings: { maxConcurrentStreams: 1_000 } })
  server.on('session', (session) => session.on('error', () => {}))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    stream.on('end', () => {
      arrived(headers[':path']!.slice('/3/device/'.length))
      stream.respond({ ':status': 200, 'apns-id': headers['apns-id'] }, { endStream: true })
    })
    stream.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { origin: `https://127.0.0.1:${port}`, ca, providerToken: 'x'.repeat(184) }
}

async function simulator(arrived: (token: string) => void): Promise<ApnsGateway> {
  const { apns, ca, ledger, credentials } = await startSimulator({
    fcm: false,
    webpush: false,
    apns: { streams: 1_000 }
  })
  ledger.subscribe(({ token }) => arrived(token ?? ''))
  const { keyId, teamId, privateKey } = credentials.apns
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = `${part({ alg: 'ES256', kid: keyId })}.${part({ iss: teamId, iat: Math.floor(Date.now() / 1000) })}`
  const key = createPrivateKey(privateKey)
  const signature = sign('sha256', Buffer.from(claims), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return { origin: apns!.url, ca, providerToken: `${claims}.${signature}` }
}
