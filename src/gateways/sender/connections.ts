import { steadyMs } from '../../platform/time.ts'
import type { H2Connection, H2Transport, TlsOptions } from '../transport/transport.ts'
import type { SenderSettings } from './settings.ts'

/** One connection, with the facts that its responses show. */
export interface Link {
  readonly connection: H2Connection
  answers: number
  /** The number of responses in a row that were failures of the gateway itself. */
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
  /** Called for each admitted socket after it was closed, or could not be opened. */
  release: () => void
  /** Whether any push waits to be sent or waits for its response. */
  busy: () => boolean
  /** Called after a change that may let waiting pushes go. */
  onChange: () => void
}

const firstBackoffMs = 100
const longestBackoffMs = 30_000
/** Apple treats quick connecting as an attack: this much time passes at least between two new connections. */
const betweenMs = 1_000
/** A second connection is opened if the first was full for this long, and not only for an instant. */
const starvedMs = 500
const quietMs = 60_000
const idlePingMs = 60_000
/** A gateway consists of many machines: if one of them only fails, the next connection may lead to another. */
const mostFailures = 50

/** The connections to one gateway for one credential: one at first, more when all are full, replaced when they close. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #links = new Set<Link>()
  /** Links that accept no new requests and still wait for responses. */
  readonly #leaving = new Set<Link>()
  #opening = 0
  #closed = false
  #failures = 0
  #failingSince = 0
  #failure = ''
  #nextAt = 0
  #openedAt = 0
  #starvedSince = 0
  #starved = false
  #quietSince = 0

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#links.size
  }

  get opening(): boolean {
    return this.#opening > 0
  }

  /** The number of connections that hold a socket, including those that are being opened or closed. */
  get sockets(): number {
    return this.#links.size + this.#opening + this.#leaving.size
  }

  capacity(): number {
    let total = 0
    for (const { connection } of this.#links) total += connection.limit
    return total
  }

  /** Opens a connection if there is none. */
  want(): void {
    if (this.#links.size === 0 && steadyMs() >= this.#nextAt) this.#add()
  }

  /** The connection with the fewest requests that can take one more. */
  pick(): Link | undefined {
    let best: Link | undefined
    for (const link of this.#links) {
      const { connection } = link
      if (connection.state !== 'ready' || connection.open >= connection.limit) continue
      if (!best || connection.open < best.connection.open) best = link
    }
    if (!best && this.#links.size > 0) this.#starved = true
    return best
  }

  answered(link: Link, status: number, now: number): void {
    link.answers += 1
    link.failures = status >= 500 ? link.failures + 1 : 0
    if (link.failures >= mostFailures && now - this.#openedAt >= this.#options.settings.replaceMs)
      link.connection.drain()
    link.heardAt = now
    this.#failures = 0
    this.#failingSince = 0
    this.#nextAt = 0
  }

  /**
   * The reason why there is no connection, if there has been none for a while, and the time of the next attempt.
   * Undefined during an attempt: the gateway may be back, and a pool that sent nothing for an hour would not have
   * noticed.
   */
  unreachable(now: number): { message: string; nextAt: number } | undefined {
    if (this.#links.size + this.#opening > 0 || !this.#failingSince) return undefined
    if (now - this.#failingSince < this.#options.settings.unreachableMs) return undefined
    return { message: this.#failure, nextAt: this.#nextAt }
  }

  tick(now: number): void {
    for (const link of this.#links) this.#watch(link, now)
    for (const link of this.#leaving) this.#watch(link, now)
    this.#resize(now)
  }

  drainAll(): void {
    this.#closed = true
    for (const link of [...this.#links]) link.connection.drain()
  }

  closeAll(reason: string): void {
    this.#closed = true
    for (const { connection } of [...this.#links, ...this.#leaving]) connection.close(reason)
  }

  #fail(message: string): void {
    const now = steadyMs()
    this.#failures += 1
    this.#failingSince ||= now
    this.#failure = message
    const most = Math.min(longestBackoffMs, firstBackoffMs * 2 ** (this.#failures - 1))
    this.#nextAt = now + most * (0.5 + Math.random() / 2)
  }

  #add() {
    const { transport, origin, tls, settings, admit, release, busy, onChange } = this.#options
    if (this.#closed || this.#opening > 0) return
    if (!admit()) return this.#fail('this process has too many connections open')
    this.#opening += 1
    this.#openedAt = steadyMs()
    let link: Link | undefined
    const events = {
      onDraining: () => {
        if (link) this.#leave(link)
        if (busy()) this.want()
        onChange()
      },
      onClosed: () => {
        if (link) this.#leave(link)
        if (link && this.#leaving.delete(link)) release()
        onChange()
      },
      onLimit: onChange
    }
    transport.open(origin, tls, events, settings.connectTimeoutMs).then(
      (connection) => {
        this.#opening -= 1
        if (connection.state === 'closed') {
          release()
          return this.#fail('the gateway closes connections at once')
        }
        link = { connection, answers: 0, failures: 0, heardAt: steadyMs(), pingAt: 0 }
        this.#links.add(link)
        if (this.#closed) connection.drain()
        else if (connection.state === 'draining') this.#leave(link)
        onChange()
      },
      (error: Error) => {
        this.#opening -= 1
        release()
        this.#fail(error.message)
        onChange()
      }
    )
  }

  #leave(link: Link): void {
    if (!this.#links.delete(link)) return
    this.#leaving.add(link)
    // The connection closed before it carried a response, so the next attempt must wait.
    if (link.answers === 0) this.#fail('the gateway closes connections without an answer')
  }

  #watch(link: Link, now: number): void {
    const { connection } = link
    const { pingTimeoutMs, pingAfterMs } = this.#options.settings
    if (link.pingAt > 0) {
      if (now - link.pingAt > pingTimeoutMs) connection.close('the gateway did not answer a PING')
      return
    }
    const silentMs = now - link.heardAt
    if (silentMs < (connection.open > 0 ? pingAfterMs : idlePingMs)) return
    link.pingAt = now
    connection.ping(() => {
      link.pingAt = 0
      link.heardAt = steadyMs()
    })
  }

  /** Opens a connection if all were full for a while, and closes one if most were idle for a minute. */
  #resize(now: number): void {
    this.#starvedSince = this.#starved ? this.#starvedSince || now : 0
    this.#starved = false
    if (this.#starvedSince && now - this.#starvedSince >= starvedMs && now - this.#openedAt >= betweenMs) {
      if (this.#links.size < this.#options.settings.maxConnections) this.#add()
      this.#starvedSince = 0
    }
    const quiet = this.#links.size > 1 && this.#inUse() < 0.3 * this.capacity()
    this.#quietSince = quiet ? this.#quietSince || now : 0
    if (this.#quietSince && now - this.#quietSince > quietMs) {
      for (const link of [...this.#links].slice(-1)) link.connection.drain()
      this.#quietSince = 0
    }
  }

  #inUse(): number {
    let total = 0
    for (const { connection } of this.#links) total += connection.open
    return total
  }
}
