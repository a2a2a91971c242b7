// Pushes a second and CPU for each, of our sender (with our own frames, and with node:http2) beside two libraries, on
// the same TLS server:
//   npm run bench:push -- [--sends 20000] [--rounds 3]
// The server is plain node:http2 in a process of its own. With h2load (Debian's nghttp2-client) its ceiling is printed too.
import { execFile, fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import * as http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { makeCertificates } from '../src/simulator/server/certificates.ts'
import { createApnsCredentials } from '../src/simulator/simulator.ts'
import type { Setup } from './peers/push-clients.ts'
import { median } from './support/load.ts'

const run = promisify(execFile)

if (process.argv[2] === '--server') serve(JSON.parse(process.argv[3]!))
else await measure()

function serve(tls: { cert: string; key: string }) {
  const server = http2.createSecureServer({ ...tls, settings: { maxConcurrentStreams: 1_000 } })
  server.on('session', (session) => session.on('error', () => {}))
  server.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.on('end', () => stream.respond({ ':status': 200 }, { endStream: true }))
    stream.resume()
  })
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
}

async function measure() {
  const { values } = parseArgs({
    options: { sends: { type: 'string', default: '20000' }, rounds: { type: 'string', default: '3' } }
  })
  const sends = Number(values.sends)
  const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
  const { ca, cert, key } = await makeCertificates({ host: '127.0.0.1' })
  const { privateKey } = await createApnsCredentials()
  writeFileSync(join(folder, 'ca.pem'), ca)
  writeFileSync(join(folder, 'body'), JSON.stringify({ aps: { alert: { title: 'Hello', body: 'x'.repeat(150) } } }))
  const server = fork(import.meta.filename, ['--server', JSON.stringify({ cert, key })])
  const port = await new Promise<number>((resolve) => server.once('message', (message) => resolve(Number(message))))
  const origin = `https://127.0.0.1:${port}`

  const found = new Map<string, { perSecond: number[]; cpuMicros: number[] }>()
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const client of ['tidings', 'node:http2', 'apns2', 'node-apn'] as const) {
      const setup: Setup = { client, origin, ca, key: privateKey, sends }
      const script = join(import.meta.dirname, 'peers/push-clients.ts')
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
      const { stdout } = await run(process.execPath, [script, JSON.stringify(setup)], { env })
      const { perSecond, cpuMicros } = JSON.parse(stdout)
      const kept = found.get(client) ?? { perSecond: [], cpuMicros: [] }
      kept.perSecond.push(perSecond)
      kept.cpuMicros.push(cpuMicros)
      found.set(client, kept)
    }
  }
  console.log(`${sends} pushes, median of ${values.rounds} rounds, Node ${process.version}`)
  for (const [client, { perSecond, cpuMicros }] of found)
    console.log(
      `${client.padEnd(10)} ${Math.round(median(perSecond))} pushes/s, ${Math.round(median(cpuMicros))} µs CPU each`
    )
  console.log(`${'h2load'.padEnd(10)} ${await ceiling(origin, sends, join(folder, 'body'))}`)
  server.kill('SIGKILL')
  rmSync(folder, { recursive: true })
}

/** The ceiling of the server itself. */
async function ceiling(origin: string, sends: number, body: string): Promise<string> {
  const args = ['-n', String(sends), '-c', '1', '-m', '100', '-d', body, `${origin}/3/device/ab`]
  const ended = await run('h2load', args).catch(() => undefined)
  const [, rate] = /([\d.]+) req\/s/.exec(ended?.stdout ?? '') ?? []
  return rate ? `${Math.round(Number(rate))} requests/s: the ceiling of this server` : 'is not installed'
}
