import { connect, createServer } from 'node:net'
import { compareClocks, type Finding, fail, ok, warn } from './check.ts'

const limitMs = 3_000
const name = 'Port'

/** What answers at an address, if anything does. */
interface Answered {
  tidings: boolean
  ready: boolean
  /** What is wrong though it can serve. */
  warning: string | undefined
  findings: Finding[]
}

/** Whether the service could listen, or does already; `baseUrl` is where it did when it last started. */
export async function checkPort(host: string, port: number, baseUrl: string | undefined): Promise<Finding[]> {
  const near = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const url = `http://${near.includes(':') ? `[${near}]` : near}:${port}`
  const elsewhere = baseUrl === undefined || baseUrl === url ? [] : stateOf(await ask(baseUrl), baseUrl)
  if (port === 0) return [ok(name, 'a free one is picked at each start (PORT is 0)'), ...elsewhere]
  const shown = `${host}:${port}`
  if (await isHeld(near, port)) {
    const answered = await ask(url)
    if (answered?.tidings) return [ok(name, `${shown} is held by Tidings`), ...stateOf(answered, url)]
    return [fail(name, `${shown} is taken by another program. Stop it, or set PORT to another port.`), ...elsewhere]
  }
  const refused = await tryToListen(host, port)
  const state = refused === undefined ? ok(name, `${shown} is free`) : fail(name, `${shown} cannot be used: ${refused}`)
  return [state, ...elsewhere]
}

function stateOf(answered: Answered | undefined, url: string | undefined): Finding[] {
  if (!answered?.tidings) return []
  const { ready, warning } = answered
  if (ready && warning !== undefined) return [fail('Service', `${url} is ready. ${warning}`), ...answered.findings]
  const state = ready
    ? ok('Service', `${url} is ready`)
    : warn('Service', `${url} answers but is not ready: its database is away, or it is stopping. Its log says more.`)
  return [state, ...answered.findings]
}

function isHeld(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: limitMs })
  socket.on('connect', () => resolve(true))
  socket.on('timeout', () => resolve(false))
  socket.on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

async function ask(url: string): Promise<Answered | undefined> {
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

/** For a moment, and only where nothing listens: what else may stand in the way is known by trying. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.on('error', ({ code, message }: NodeJS.ErrnoException) => resolve(reasons[code ?? ''] ?? `${message}.`))
  server.listen({ host, port }, () => server.close(() => resolve(undefined)))
  return promise
}

const reasons: Record<string, string> = {
  EACCES: 'this user may not use it. Set PORT to 1024 or above.',
  EADDRINUSE: 'another program has it. Stop it, or set PORT to another port.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one of its own.',
  ENOTFOUND: 'the name is not known. Set HOST to an address of this machine.'
}
