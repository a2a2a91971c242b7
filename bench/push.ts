// CPU for a push and pushes a second, of our sender (with our own frames, and with node:http2) beside two libraries, in
// turns, on the same TLS server:
//   npm run bench:push -- [--seconds 2] [--rounds 3] [--gateway light|node] [--sizes 1000,100000]
// The server is a process of its own: `light` costs so little that it limits no client; `node` is plain node:http2, which
// writes each response by itself. The limits are node:tls carrying the same bytes, and h2load (C, Debian's
// nghttp2-client) where it is installed.
import { execFile, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import * as http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { makeCertificates } from '../src/simulator/server/certificates.ts'
import { createApnsCredentials } from '../src/simulator/simulator.ts'
import type { Measured, Setup } from './peers/push-clients.ts'
import { report } from './support/figures.ts'
import { startLightGateway } from './support/light-gateway.ts'
import { medianOf, ratioOf } from './support/rounds.ts'

const run = promisify(execFile)
const warmMs = 1_500

if (process.argv[2] === '--server') process.send!(await serve(process.argv[3]!, JSON.parse(process.argv[4]!)))
else await measure()

async function serve(kind: string, tls: { cert: string; key: string }): Promise<number> {
  if (kind === 'light') return startLightGateway(tls)
  const server = http2.createSecureServer({ ...tls, settings: { maxConcurrentStreams: 1_000 } })
  server.on('session', (session) => session.on('error', () => {}))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    const id = headers['apns-id']
    stream.on('end', () => {
      stream.respond({ ':status': 200, ...(id && { 'apns-id': id }) }, { endStream: Boolean(id) })
      if (!id) stream.end('{"name":"projects/app-1/messages/0:1500415314455276%31bd1c9631bd1c96"}')
    })
    stream.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function measure() {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '3' },
      gateway: { type: 'string', default: 'light' },
      sizes: { type: 'string', default: '1000,100000' }
    }
  })
  const sizes = values.sizes.split(',').map(Number)
  const folder = mkdtempSync(join(tmpdir(), 'tidings-bench-'))
  const { ca, cert, key } = await makeCertificates({ host: '127.0.0.1' })
  const { privateKey } = await createApnsCredentials()
  writeFileSync(join(folder, 'ca.pem'), ca)
  writeFileSync(join(folder, 'body'), JSON.stringify({ aps: { alert: { title: 'Hello', body: 'x'.repeat(150) } } }))
  const server = fork(import.meta.filename, ['--server', values.gateway, JSON.stringify({ cert, key })])
  const port = await new Promise<number>((resolve) => server.once('message', (message) => resolve(Number(message))))
  const origin = `https://127.0.0.1:${port}`
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }

  const client = async (name: Setup['client']): Promise<Measured> => {
    const setup: Setup = { client: name, origin, ca, key: privateKey, warmMs, runMs: Number(values.seconds) * 1000 }
    if (name === 'tidings') setup.sizes = sizes
    const script = join(import.meta.dirname, 'peers/push-clients.ts')
    const { stdout } = await run(process.execPath, [script, JSON.stringify(setup)], { env })
    return JSON.parse(stdout)
  }
  const names = ['tidings', 'personal', 'fcm', 'node:http2', 'node-apn', 'apns2', 'tls'] as const
  const found: Record<string, Measured[]> = Object.fromEntries(names.map((name) => [name, []]))
  try {
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const name of names) found[name]!.push(await client(name))
    const h2load = await boundOf(origin, 20_000 * Number(values.seconds), join(folder, 'body'))
    if (h2load) found.h2load = [h2load]
  } finally {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
  console.log(`median of ${values.rounds} rounds, gateway ${values.gateway}, Node ${process.version}`)
  for (const [name, rounds] of Object.entries(found))
    console.log(
      `${name.padEnd(10)} ${cpuOf(rounds).toFixed(1)} µs CPU for a push, ${Math.round(medianOf(rounds, ({ perSecond }) => perSecond))} pushes/s`
    )
  reportAll(found, sizes)
}

function cpuOf(rounds: Measured[]): number {
  return medianOf(rounds, ({ cpuMicros }) => cpuMicros)
}

function reportAll(found: Record<string, Measured[]>, sizes: number[]): void {
  const ours = found.tidings!
  const limit = found.h2load
    ? { name: 'h2load (C)', value: cpuOf(found.h2load) }
    : { name: 'node:tls alone', value: cpuOf(found.tls!) }
  const others = ['node-apn', 'apns2', 'node:http2', 'tls'] as const
  const points = sizes.map((size, index): [number, number] => [size, medianOf(ours, ({ bySize }) => bySize[index]!)])
  report({
    name: 'CPU for a push',
    value: cpuOf(ours),
    unit: 'µs',
    better: 'less',
    goal: 15,
    peers: Object.fromEntries(others.map((name) => [name, cpuOf(found[name]!)])),
    limit,
    growth: { of: 'pushes', unit: 'µs', points }
  })
  report({
    name: 'pushes for a second of CPU, beside node-apn',
    value: ratioOf(found['node-apn']!, ours, ({ cpuMicros }) => cpuMicros),
    unit: '×',
    better: 'more',
    goal: 8
  })
  report({ name: 'CPU for a push with its own text', value: cpuOf(found.personal!), unit: 'µs', better: 'less' })
  report({ name: 'CPU for a push through FCM', value: cpuOf(found.fcm!), unit: 'µs', better: 'less' })
}

/** Processes that have ended, as Linux counts them for their parent. */
function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}

async function boundOf(origin: string, sends: number, body: string): Promise<Measured | undefined> {
  const headers = ['apns-id: 00000000-0000-0000-0000-000000000000', `authorization: bearer ${'x'.repeat(184)}`]
  const args = ['-n', String(sends), '-c', '1', '-m', '1000', '-d', body, ...headers.flatMap((each) => ['-H', each])]
  const before = childrenCpuMs()
  const ended = await run('h2load', [...args, `${origin}/3/device/${'0'.repeat(64)}`]).catch(() => undefined)
  const [, rate] = /([\d.]+) req\/s/.exec(ended?.stdout ?? '') ?? []
  return rate
    ? { perSecond: Number(rate), cpuMicros: ((childrenCpuMs() - before) * 1000) / sends, bySize: [] }
    : undefined
}
