import { steadyMs } from '../../platform/time.ts'
import type { H2Connection, H2Transport, TlsOptions } from '../transport/transport.ts'
import type { SenderSettings } from './settings.ts'

/** One connection and what we heard of it. */
export interface Link {
  readonly connection: H2Connection
  answers: number
  /** How many answers in a row were failures of the gateway itself. */
  failures: number
  heardAt: number
  pingAt: number
}

export interface ConnectionsOptions {
  transport: H2Transport
  origin: string
  tls: TlsOptions
  settings: SenderSettings
  /** Whether the process may have one more socket. */
  admit: () => boolean
  /** Whether there is anything to send or to wait for. */
  busy: () => boolean
  /** Something has changed that may let waiting pushes go. */
  onChange: () => void
}

export type Connections = ReturnType<typeof createConnections>

const firstBackoffMs = 100
const longestBackoffMs = 30_000
/** Apple takes quick connecting for an attack: a further connection is opened this much after the last at the earliest. */
const betweenMs = 1_000
/** A second connection helps when the first was full for a while, not for an instant. */
const starvedMs = 500
const quietMs = 60_000
const idlePingMs = 60_000
/** A gateway is many machines: when one of them does nothing but fail, the next connection may lead to another. */
const mostFailures = 50

/** The connections to one gateway for one credential: one at first, more when all are full, replaced when they go away. */
export function createConnections(options: ConnectionsOptions) {
  const { transport, origin, tls, settings, admit, busy, onChange } = options
  const links = new Set<Link>()
  /** Those that take nothing new and still owe answers. */
  const leaving = new Set<Link>()
  let opening = 0
  let closed = false
  let failures = 0
  let failingSince = 0
  let failure = ''
  let nextAt = 0
  let openedAt = 0
  let starvedSince = 0
  let starved = false
  let quietSince = 0

  function fail(message: string) {
    const now = steadyMs()
    failures += 1
    failingSince ||= now
    failure = message
    const most = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1))
    nextAt = now + most * (0.5 + Math.random() / 2)
  }

  function add() {
    if (closed || opening > 0) return
    if (!admit()) return fail('this process has too many connections open')
    opening += 1
    openedAt = steadyMs()
    let link: Link | undefined
    const leave = () => {
      if (!link || !links.delete(link)) return
      leaving.add(link)
      // Closed before it was of any use: the next must not follow at once.
      if (link.answers === 0) fail('the gateway closes connections without an answer')
    }
    const events = {
      onDraining() {
        leave()
        if (busy()) want()
        onChange()
      },
      onClosed() {
        leave()
        if (link) leaving.delete(link)
        onChange()
      },
      onLimit: onChange
    }
    transport.open(origin, tls, events, settings.connectTimeoutMs).then(
      (connection) => {
        opening -= 1
        if (connection.state === 'closed') return fail('the gateway closes connections at once')
        link = { connection, answers: 0, failures: 0, heardAt: steadyMs(), pingAt: 0 }
        links.add(link)
        if (closed) connection.drain()
        else if (connection.state === 'draining') leave()
        onChange()
      },
      (error: Error) => {
        opening -= 1
        fail(error.message)
        onChange()
      }
    )
  }

  /** Sees to it that there is a connection, or soon will be. */
  function want() {
    if (links.size === 0 && steadyMs() >= nextAt) add()
  }

  function watch(link: Link, now: number) {
    const { connection } = link
    if (link.pingAt > 0) {
      if (now - link.pingAt > settings.pingTimeoutMs) connection.close('the gateway did not answer a PING')
      return
    }
    const silentMs = now - link.heardAt
    if (silentMs < (connection.open > 0 ? settings.pingAfterMs : idlePingMs)) return
    link.pingAt = now
    connection.ping(() => {
      link.pingAt = 0
      link.heardAt = steadyMs()
    })
  }

  /** More when all were full for a while, fewer when most of them had nothing to do for a minute. */
  function resize(now: number) {
    starvedSince = starved ? starvedSince || now : 0
    starved = false
    if (starvedSince && now - starvedSince >= starvedMs && now - openedAt >= betweenMs) {
      if (links.size < settings.maxConnections) add()
      starvedSince = 0
    }
    const quiet = links.size > 1 && inUse() < 0.3 * capacity()
    quietSince = quiet ? quietSince || now : 0
    if (quietSince && now - quietSince > quietMs) {
      for (const link of [...links].slice(-1)) link.connection.drain()
      quietSince = 0
    }
  }

  const sum = (read: (connection: H2Connection) => number) => {
    let total = 0
    for (const { connection } of links) total += read(connection)
    return total
  }
  const capacity = () => sum(({ limit }) => limit)
  const inUse = () => sum(({ open }) => open)

  return {
    want,
    capacity,
    /** The one with the fewest requests that takes one more. */
    pick(): Link | undefined {
      let best: Link | undefined
      for (const link of links) {
        const { connection } = link
        if (connection.state !== 'ready' || connection.open >= connection.limit) continue
        if (!best || connection.open < best.connection.open) best = link
      }
      if (!best && links.size > 0) starved = true
      return best
    },
    answered(link: Link, status: number, now: number) {
      link.answers += 1
      link.failures = status >= 500 ? link.failures + 1 : 0
      if (link.failures >= mostFailures && now - openedAt >= settings.replaceMs) link.connection.drain()
      link.heardAt = now
      failures = 0
      failingSince = 0
      nextAt = 0
    },
    get size() {
      return links.size
    },
    /** All that hold a socket: also those that are being opened or going away. */
    get sockets() {
      return links.size + opening + leaving.size
    },
    /**
     * Why there is no connection, once that has been so for a while; and when the next attempt may be made. Not while
     * one is being made: the gateway may be back, and who has nothing to send for an hour would not have noticed.
     */
    unreachable(now: number): { message: string; nextAt: number } | undefined {
      if (links.size + opening > 0 || !failingSince || now - failingSince < settings.unreachableMs) return undefined
      return { message: failure, nextAt }
    },
    tick(now: number) {
      for (const link of links) watch(link, now)
      for (const link of leaving) watch(link, now)
      resize(now)
    },
    drainAll() {
      closed = true
      for (const link of [...links]) link.connection.drain()
    },
    closeAll(reason: string) {
      closed = true
      for (const { connection } of [...links, ...leaving]) connection.close(reason)
    }
  }
}
