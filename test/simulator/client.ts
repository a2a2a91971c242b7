import { once } from 'node:events'
import * as http2 from 'node:http2'
import type { TestContext } from 'node:test'
import { importPKCS8, SignJWT } from 'jose'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/simulator/simulator.ts'

export interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  json: () => Record<string, unknown>
}

export type Headers = Record<string, string | string[] | undefined>

/** Plain node:http2, so that code independent of the simulators judges them. */
export function request(
  session: http2.ClientHttp2Session,
  path: string,
  headers: Headers = {},
  body: string | Buffer = '',
  method = 'POST'
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const stream = session.request({ ':method': method, ':path': path, ...given }, { endStream: false })
    const chunks: Buffer[] = []
    let answer: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {}
    stream.on('response', (got) => {
      answer = got
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => {
      const text = Buffer.concat(chunks).toString()
      if (!answer[':status']) return reject(new Error(`closed without an answer, code ${stream.rstCode}`))
      resolve({ status: answer[':status'], headers: answer, body: text, json: () => JSON.parse(text) })
    })
    stream.end(body)
  })
}

export async function simulator(t: TestContext, options: SimulatorOptions = {}): Promise<Simulator> {
  const started = await startSimulator(options)
  t.after(() => started.close())
  return started
}

/** Waits for the first SETTINGS: until then a client does not know how many streams it may open. */
export async function connect(t: TestContext, url: string, ca?: string): Promise<http2.ClientHttp2Session> {
  const session = http2.connect(url, ca ? { ca } : {})
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

export const seconds = () => Math.floor(Date.now() / 1000)

/** A provider token, signed by a library that is not ours. */
export async function providerToken(
  { credentials: { apns } }: Pick<Simulator, 'credentials'>,
  change: { kid?: string | undefined; iss?: string; iat?: number; alg?: string; key?: string } = {}
): Promise<string> {
  const header = { alg: 'ES256', kid: apns.keyId, ...change }
  return new SignJWT({ iss: change.iss ?? apns.teamId, iat: change.iat ?? seconds() })
    .setProtectedHeader({ alg: 'ES256', ...(header.kid && { kid: header.kid }) })
    .sign(await importPKCS8(change.key ?? apns.privateKey, 'ES256'))
}

export const alert = JSON.stringify({ aps: { alert: { title: 'Hello', body: 'World' } } })
export const hexToken = 'ab'.repeat(32)

export async function apnsHeaders(sim: Simulator, change: Headers = {}): Promise<Headers> {
  return {
    authorization: `bearer ${await providerToken(sim)}`,
    'apns-topic': 'com.example.app',
    'apns-push-type': 'alert',
    'apns-priority': '10',
    ...change
  }
}
