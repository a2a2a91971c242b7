import { connect, createServer } from 'node:net'
import { compareClocks, type Finding, fail, ok, warn } from './check.ts'

const limitMs = 3_000
const name = 'Port'

/** The response of a service. */
interface Responded {
  tidings: boolean
  ready: boolean
  /** A problem of a service that is ready. */
  warning: string | undefined
  findings: Finding[]
}

/**
 * Checks whether the service could listen, or already does; `baseUrl` is its address at the last start. `idle`: the data
 * folder, if its service certainly does not run.
 */
export async function checkPort(
  host: string,
  port: number,
  baseUrl: string | undefined,
  idle: string | undefined
): Promise<Finding[]> {
  const near = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `http://${near.includes(':') ? `[${near}]` : near}:${port}`
  const elsewhere = baseUrl === undefined || baseUrl === url ? [] : stateOf(await request(baseUrl), baseUrl)
  if (port === 0) return [ok(name, 'each start chooses a free one (PORT is 0)'), ...elsewhere]
  const shown = `${host}:${port}`
  if (await isInUse(near, port)) {
    const responded = await request(url)
    if (responded?.tidings && idle !== undefined)
      return [
        fail(
          name,
          `${shown} is used by another Tidings: that of ${idle} does not run, and could not start. Stop the other, or set PORT to another port.`
        )
      ]
    if (responded?.tidings) return [ok(name, `${shown} is used by Tidings`), ...stateOf(responded, url)]
    return [fail(name, `${shown} is used by another program. Stop it, or set PORT to another port.`), ...elsewhere]
  }
  const refused = await tryToListen(host, port)
  const state = refused === undefined ? ok(name, `${shown} is free`) : fail(name, `${shown} cannot be used: ${refused}`)
  return [state, ...elsewhere]
}

function stateOf(responded: Responded | undefined, url: string | undefined): Finding[] {
  if (!responded?.tidings) return []
  const { ready, warning } = responded
  if (ready && warning !== undefined) return [fail('Service', `${url} is ready. ${warning}`), ...responded.findings]
  const state = ready
    ? ok('Service', `${url} is ready`)
    : warn(
        'Service',
        `${url} responds but is not ready: its database is not available, or it is stopping. See its log.`
      )
  return [state, ...responded.findings]
}

function isInUse(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: limitMs })
  socket.on('connect', () => resolve(true))
  socket.on('timeout', () => resolve(false))
  socket.on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

async function request(url: string): Promise<Responded | undefined> {
  const beforeMs = Date.now()
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(limitMs), redirect: 'manual' })
    const body = (await response.json().catch(() => ({}))) as { status?: unknown; code?: unknown; warning?: unknown }
    const ready = body.status === 'ready'
    const tidings = response.headers.has('x-request-id') && (ready || body.code === 'unavailable')
    const date = Date.parse(response.headers.get('date') ?? '')
    // The header counts whole seconds, and may be a second old.
    const clock = compareClocks(`the service at ${url}`, date + 500, beforeMs, 1_500 + Date.now() - beforeMs)
    const warning = typeof body.warning === 'string' ? body.warning : undefined
    return { tidings, ready, warning, findings: Number.isNaN(date) ? [] : [clock] }
  } catch {
    return undefined
  }
}

/** Listens for a moment on a port that no process uses, which shows any other obstacle. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(reasons[code ?? ''] ?? `${message}.`))
  server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  return promise
}

const reasons: Record<string, string> = {
  EACCES: 'this user has no right to it. Set PORT to 1024 or above.',
  EADDRINUSE: 'another program uses it. Stop it, or set PORT to another port.',
  EADDRNOTAVAIL: 'this machine does not have the address. Set HOST to one of its own.',
  ENOTFOUND: 'the name cannot be resolved. Set HOST to an address of this machine.'
}
