import type pg from 'pg'
import type { Log } from '../../log.ts'
import { type Host, readHosts } from './hosts.ts'
import { breakOff, type Facts, watchHost } from './watch.ts'

/**
 * The servers of one address. With several hosts, one of which takes writes, it watches all of them, says which one it
 * is, and closes connections to the others.
 */
export interface Servers {
  readonly hosts: readonly Host[]
  /** The server that takes writes. Rejects at once if none does, and after a while if the servers do not respond. */
  find(): Promise<Host | undefined>
  /** Registers a connection, so that it ends when its server stops being the one that takes writes. */
  opened(host: Host, client: pg.Client): void
  /** A connection could not be opened, or a statement was refused because its server takes no writes. */
  doubt(host?: Host): void
  /** 1 for the server in use, 0 for the others. */
  inUse(): Record<string, number>
  /** How often the server in use has changed. */
  changes(): number
  close(): void
}

/** At the first look, how long to wait for the other hosts once one takes writes: a second one may be newer. */
const graceMs = 200
/** Less than the time in which a request waits for a connection. */
const findMs = 2_000

/** No server of the list takes writes. The code is that of a server which cannot be reached now, so callers retry. */
export class NoPrimary extends Error {
  readonly code = '57P03'
  /** Every server responds, and none is a primary. */
  readonly onlyStandbys: boolean

  constructor(states: Map<Host, Facts>) {
    const reasons = [...states].map(([{ name }, facts]) => `${name} ${reasonOf(facts)}`)
    super(`no server takes writes: ${reasons.join('; ')}`)
    this.onlyStandbys = [...states.values()].every(({ kind }) => kind === 'standby')
  }
}

function reasonOf(facts: Facts): string {
  if (facts.kind === 'standby') return facts.readOnly ? 'has default_transaction_read_only on' : 'is a standby'
  if (facts.kind === 'away') return `does not respond (${facts.error.message || String(Object(facts.error).code)})`
  if (facts.kind === 'primary') return `has the old timeline ${facts.timeline}`
  return 'has not responded yet'
}

/**
 * The newest primary: after a promotion its timeline is higher than that of the server it replaced, which may still be
 * reachable and believe that it is the primary. A timeline older than one this process has used does not count.
 */
export function choosePrimary(states: Map<Host, Facts>, current: Host | undefined, newest: number): Host | undefined {
  const timelineOf = (host: Host) => {
    const facts = states.get(host)
    return facts?.kind === 'primary' ? facts.timeline : -1
  }
  const best = Math.max(newest, 0, ...[...states.keys()].map(timelineOf))
  const candidates = [...states.keys()].filter((host) => timelineOf(host) === best)
  return candidates.find((host) => host === current) ?? candidates[0]
}

export function createServers(url: string | undefined, log: Pick<Log, 'info' | 'warn'>): Servers {
  const hosts = url === undefined ? [] : readHosts(url)
  return hosts.length < 2 ? oneServer(hosts) : severalServers(hosts, log)
}

function oneServer(hosts: Host[]): Servers {
  return {
    hosts,
    find: async () => hosts[0],
    opened: () => {},
    doubt: () => {},
    inUse: () => ({}),
    changes: () => 0,
    close: () => {}
  }
}

function severalServers(hosts: Host[], log: Pick<Log, 'info' | 'warn'>): Servers {
  const states = new Map<Host, Facts>(hosts.map((host) => [host, { kind: 'unknown' }]))
  const connections = new Map<pg.Client, Host>()
  const waiting = new Set<() => void>()
  let current: Host | undefined
  let last: Host | undefined
  let newest = 0
  let changes = 0
  let graceOver = false
  let grace: NodeJS.Timeout | undefined
  let watches: ReturnType<typeof watchHost>[] | undefined

  function closeWhere(isWrong: (host: Host) => boolean): void {
    for (const [client, host] of connections) if (isWrong(host)) breakOff(client)
  }

  function note(host: Host, facts: Facts): void {
    states.set(host, facts)
    // A demoted server must not keep connections. One that does not respond may only be slow, and keeps them until
    // another server takes writes.
    if (facts.kind === 'standby') closeWhere((one) => one === host)
    decide()
  }

  function decide(): void {
    const best = choosePrimary(states, current, newest)
    const unknown = [...states.values()].some(({ kind }) => kind === 'unknown')
    if (best && unknown && !graceOver) {
      grace ??= setTimeout(() => {
        graceOver = true
        decide()
      }, graceMs)
      return
    }
    current = best
    if (best) adopt(best)
    if (best || !unknown) for (const look of waiting) look()
  }

  function adopt(host: Host): void {
    const facts = states.get(host)
    if (facts?.kind === 'primary') newest = Math.max(newest, facts.timeline)
    if (host === last) return
    if (last) {
      changes += 1
      log.warn({ from: last.name, to: host.name }, 'another database server takes the writes now')
    } else log.info({ server: host.name }, 'found the database server that takes writes')
    last = host
    closeWhere((one) => one !== host)
  }

  const isCalm = () => current !== undefined

  async function find(): Promise<Host> {
    watches ??= hosts.map((host) => watchHost(host, (facts) => note(host, facts), isCalm))
    const giveUpAt = performance.now() + findMs
    for (;;) {
      if (current) return current
      const unknown = !graceOver && [...states.values()].some(({ kind }) => kind === 'unknown')
      const leftMs = giveUpAt - performance.now()
      if (!unknown || leftMs <= 0) throw new NoPrimary(states)
      await new Promise<void>((resolve) => {
        const look = () => {
          clearTimeout(timer)
          waiting.delete(look)
          resolve()
        }
        const timer = setTimeout(look, leftMs)
        waiting.add(look)
      })
    }
  }

  return {
    hosts,
    find,
    opened(host, client) {
      connections.set(client, host)
      client.once('end', () => connections.delete(client))
      // The server may have lost its role while the connection was opened.
      if (last !== host) breakOff(client)
    },
    doubt() {
      for (const watch of watches ?? []) watch.hurry()
    },
    inUse: () => Object.fromEntries(hosts.map((host) => [host.name, host === current ? 1 : 0])),
    changes: () => changes,
    close() {
      clearTimeout(grace)
      for (const watch of watches ?? []) watch.stop()
      for (const look of waiting) look()
    }
  }
}
