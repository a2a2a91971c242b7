import type { IncomingHttpHeaders } from 'node:http2'

/** The end of one request. A `refused` request may be repeated safely, a `lost` one not. */
export type Ending =
  | { kind: 'answer'; status: number; headers: IncomingHttpHeaders; body: string }
  /** The peer certainly did not act on the request, so repeating it is safe. */
  | { kind: 'refused' }
  /** The request was sent, and the connection or the stream broke before a response: the peer may have acted on it. */
  | { kind: 'lost'; message: string }
  /** The request was sent, and the peer did not respond before the deadline. */
  | { kind: 'timeout' }

/** The bytes of a request. They are written when there is room, so most bodies are never made anywhere else. */
export interface Body {
  readonly length: number
  write(into: Buffer, at: number): void
}

export interface Request {
  /** The same list for all requests of a kind, because a connection remembers what it knows of each list. */
  readonly names: readonly string[]
  /** In the order of the names; undefined if a request does not have the header. */
  readonly values: readonly (string | undefined)[]
  readonly body: Body
  /** Whether nothing but the status and the body of a response with status 200 is needed: its headers may be left out. */
  readonly isBare?: boolean
  /** Whether a response with status 200 is a list, which may be long. Of others only the first 16 KiB are kept. */
  readonly wantsList?: boolean
}

/** Gets the ending of its request. An object instead of a function, so that a push needs no closure. */
export interface Requester {
  ended(ending: Ending): void
}

export interface TlsOptions {
  /** PEM of the authority to trust instead of the system's. */
  ca?: string
  /** Refuse to connect to loopback, private and other special addresses, whatever the name resolves to. */
  publicOnly?: boolean
}

/** Callbacks of a connection. They may run before `open` resolves, so check the state of the connection too. */
export interface ConnectionEvents {
  /** Accepts no new requests: the peer is closing, or `drain` was called. Open requests may still get responses. */
  onDraining(reason: string): void
  /** Every request has ended. */
  onClosed(): void
  /** The peer changed the number of requests that it accepts at a time. */
  onLimit(): void
}

export interface H2Connection {
  readonly state: 'ready' | 'draining' | 'closed'
  /** Requests that have not ended. */
  readonly open: number
  /** The number of requests that the peer accepts at a time, by its last settings. */
  readonly limit: number
  /**
   * Throws for headers that cannot be sent. Otherwise `ended` is called once, later, and at the latest soon after the
   * deadline (milliseconds since 1970).
   */
  request(request: Request, deadlineAt: number, requester: Requester): void
  /** False if the connection is closed; then `done` is not called. */
  ping(done: () => void): boolean
  /** Accepts no more requests, and closes when the last one has ended. */
  drain(): void
  /** Cuts the connection; open requests end as lost. */
  close(reason: string): void
}

/**
 * The only part that touches sockets. It speaks HTTP/2 with TLS and nothing else: every gateway supports it, Web Push
 * services included, and HTTP/1.1 would need one connection for each waiting push.
 */
export interface H2Transport {
  /** Resolves when the peer has sent its settings. Rejects with an error whose message is for people. */
  open(origin: string, tls: TlsOptions, events: ConnectionEvents, timeoutMs: number): Promise<H2Connection>
}
