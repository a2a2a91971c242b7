import { steadyMs } from '../../platform/time.ts'
import type { H2Connection, H2Transport, TlsOptions } from '../transport/transport.ts'
import type { SenderSettings } from './settings.ts'

/** One connection, with the facts that its responses give. */
export interface Link {
  readonly connection: H2Connection
  answers: number
  /** Responses in a row that were failures of the gateway itself. */
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
  /** A change may let waiting pushes go. */
  onChange: () => void
}

const firstBackoffMs = 100
const longestBackoffMs = 30_000
/** Apple takes quick connecting for an attack: a further connection is opened this much after the last at the earliest. */
const betweenMs = 1_000
/** A second connection helps where the first was full for this long, not for an instant. */
const starvedMs = 500
const quietMs = 60_000
const idlePingMs = 60_000
/** A gateway is many machines: when one of them does nothing but fail, the next connection may lead to another. */
const mostFailures = 50

/** The connections to one gateway for one credential: one at first, more when all are full, replaced when they close. */
export class Connections {
  readonly #options: ConnectionsOptions
  readonly #links = new Set<Link>()
  /** Links that take nothing new and still owe responses. */
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

  /** All connections that hold a socket: also those that are being opened or closed. */
  get sockets(): number {
    return this.#links.size + this.#opening + this.#leaving.size
  }

  capacity(): number {
    let total = 0
    for (const { connection } of this.#links) total += connection.limit
    return total
  }

  /** Sees to it that there is a connection, or soon will be. */
  want(): void {
    if (this.#links.size === 0 && steadyMs() >= this.#nextAt) this.#add()
  }

  /** The connection with the fewest requests that takes one more. */
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
   * Why there is no connection, once that has been so for a while, and when the next attempt may be made. Undefined during
   * an attempt: the gateway may be back, and a pool that sends nothing for an hour would not have noticed.
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
    const { transport, origin, tls, settings, admit, busy, onChange } = this.#options
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
        if (link) this.#leaving.delete(link)
        onChange()
      },
      onLimit: onChange
    }
    transport.open(origin, tls, events, settings.connectTimeoutMs).then(
      (connection) => {
        this.#opening -= 1
        if (connection.state === 'closed') return this.#fail('the gateway closes connections at once')
        link = { connection, answers: 0, failures: 0, heardAt: steadyMs(), pingAt: 0 }
        this.#links.add(link)
        if (this.#closed) connection.drain()
        else if (connection.state === 'draining') this.#leave(link)
        onChange()
      },
      (error: Error) => {
        this.#opening -= 1
        this.#fail(error.message)
        onChange()
      }
    )
  }

  #leave(link: Link): void {
    if (!this.#links.delete(link)) return
    this.#leaving.add(link)
    // Closed before it was of any use: the next must not follow at once.
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

  /** Opens one more where all were full for a while, and closes one where most had nothing to do for a minute. */
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
