import type { GatewayName } from '../server/ledger.ts'

/** Faults of a whole gateway. */
export interface GatewayFaults {
  /** Connections are cut, old and new. */
  down: boolean
  /** Requests are read and get no response. */
  hang: boolean
  /** Delays every response by this time, plus a random part of `jitterMs`. */
  latencyMs: number
  jitterMs: number
  /** The share of valid pushes, from 0 to 1, that is refused. */
  errorRate: number
  errorStatus: number
  /** A connection gets GOAWAY after this number of requests; 0 means never. */
  goawayAfter: number
  /** That GOAWAY names this stream as its last, and those above are not processed; 0: all that arrived are. */
  goawayLastStream: number
  /** A connection with more open requests than this gets GOAWAY, as from Firebase; 0 means never. */
  goawayAboveStreams: number
  /** A connection is cut at this request, before its response; 0 means never. */
  dropAfter: number
  /** From its nth request on a connection stays open and is silent, to PING too; 0 means never. */
  halfOpenAfter: number
  /** A connection is broken at its nth request, by headers that cannot be decoded; 0 means never. */
  badHpackAfter: number
  /** Streams that a connection may have open, old ones too; 0: as the gateway does. */
  maxStreams: number
  /** New connections see a certificate that has ended. */
  tlsExpired: boolean
  /** The quota: requests beyond this rate are refused with 429; 0 means none. */
  requestsPerSecond: number
}

export const noFaults: GatewayFaults = {
  down: false,
  hang: false,
  latencyMs: 0,
  jitterMs: 0,
  errorRate: 0,
  errorStatus: 503,
  goawayAfter: 0,
  goawayLastStream: 0,
  goawayAboveStreams: 0,
  dropAfter: 0,
  halfOpenAfter: 0,
  badHpackAfter: 0,
  maxStreams: 0,
  tlsExpired: false,
  requestsPerSecond: 0
}

/** The faults of connections that a token can name. */
const named = ['hang', 'rst', 'refused', 'goaway', 'drop', 'halfopen', 'badhpack'] as const
/**
 * What happens to the connection or the stream. `beyond`: the stream is above the last one of a GOAWAY. `crowded`: the
 * connection has too many open requests. `reconnect`: the connection cannot show the fault and ends, for one that can.
 */
export type Transport = (typeof named)[number] | 'beyond' | 'crowded' | 'reconnect'

/** The fault of one request. */
export interface Fault {
  /** The status of the refusal; the gateway adds the reason. */
  status?: number
  /** After the colon in the token: a reason, a time, the seconds to wait. */
  argument?: string
  kind?: 'badtoken' | 'html'
  delayMs?: number
  transport?: Transport
  /** The last stream of a GOAWAY; 0: the newest that arrived. */
  lastStream?: number
}

export interface Faults {
  get(gateway: GatewayName): GatewayFaults
  /** Changes the faults that are named; the others stay. */
  set(gateway: GatewayName | 'all', change: Partial<GatewayFaults>): void
  reset(): void
  /** The fault that a token names, or that of an app which was uninstalled. */
  ofToken(token: string | null, gateway?: GatewayName): Fault | undefined
  /** Sets since when tokens of uninstalled apps are refused. Returns undefined for all others. */
  setGone(since: (gateway: GatewayName, token: string) => Date | undefined): void
  /** Whether new connections of this gateway need a tap (`tap.ts`), for a fault of the gateway or of a token. */
  needsTap(gateway: GatewayName): boolean
  wantTap(gateway: GatewayName): void
  /** Counts a request, and returns whether the quota allows it. */
  withinQuota(gateway: GatewayName): boolean
  /** A random number from 0 to 1; the same seed gives the same sequence. */
  random(): number
  onChange(listener: () => void): void
}

const transports = new Set<string>(named)
/** `ok` is no fault, and only APNs reads the names of environments (`apns.ts`). */
const plain = ['badtoken', 'html502', ...named, 'sandbox', 'production', 'ok']

/** The faults that a token may name, and the text for a caller who names another. */
export const tokenFault = {
  pattern: `^(?:[45]\\d\\d(?::[A-Za-z0-9]+)?|(?:slow|flaky)(?::\\d+)?|${plain.join('|')})$`,
  rule: `must be a status from 400 to 599 (410, 429:30, 400:DeviceTokenNotForTopic), slow:1500, flaky:2, or one of ${plain.join(', ')}`
}

const longestDelayMs = 600_000

/** Reads `sim-<fault>[:<argument>]-<anything>`. Other tokens, and other words after `sim-`, mean no fault. */
function parseToken(token: string): { word: string; argument: string | undefined } | undefined {
  const found = /^sim-([a-z]*\d*)(?::([^-]*))?(?:-|$)/.exec(token)
  return found ? { word: found[1]!, argument: found[2] } : undefined
}

export function createFaults(seed = 1): Faults {
  const gateways: Record<GatewayName, GatewayFaults> = { apns: noFaults, fcm: noFaults, webpush: noFaults }
  const names = Object.keys(gateways) as GatewayName[]
  /** How often each flaky token has failed. */
  const failures = new Map<string, number>()
  const listeners: (() => void)[] = []
  const tapped = new Set<GatewayName>()
  const quotas = new Map<GatewayName, { left: number; atMs: number }>()
  let goneSince = (_gateway: GatewayName, _token: string): Date | undefined => undefined
  let state = seed

  function set(gateway: GatewayName | 'all', change: Partial<GatewayFaults>) {
    for (const name of gateway === 'all' ? names : [gateway]) gateways[name] = { ...gateways[name], ...change }
    for (const listener of listeners) listener()
  }

  function flaky(token: string, times: number): Fault | undefined {
    const failed = failures.get(token) ?? 0
    if (failed >= times) return undefined
    failures.set(token, failed + 1)
    return { status: 503 }
  }

  return {
    get: (gateway) => gateways[gateway],
    set,
    reset() {
      failures.clear()
      tapped.clear()
      set('all', noFaults)
    },
    setGone(since) {
      goneSince = since
    },
    ofToken(token, gateway) {
      const gone = gateway && token !== null ? goneSince(gateway, token) : undefined
      if (gone) return { status: 410, argument: String(gone.getTime()) }
      const { word, argument } = (token && parseToken(token)) || {}
      if (!token || word === undefined) return undefined
      const given = argument === undefined ? {} : { argument }
      if (/^[45]\d\d$/.test(word)) return { status: Number(word), ...given }
      if (word === 'badtoken') return { status: 400, kind: 'badtoken' }
      if (word === 'html502') return { status: 502, kind: 'html' }
      if (word === 'slow') return { delayMs: Math.min(Number(argument) || 2_000, longestDelayMs) }
      if (word === 'flaky') return flaky(token, Number(argument) || 1)
      return transports.has(word) ? { transport: word as Transport } : undefined
    },
    needsTap(gateway) {
      const { halfOpenAfter, badHpackAfter } = gateways[gateway]
      return halfOpenAfter + badHpackAfter > 0 || tapped.has(gateway)
    },
    wantTap: (gateway) => void tapped.add(gateway),
    withinQuota(gateway) {
      const rate = gateways[gateway].requestsPerSecond
      if (rate === 0) return true
      const nowMs = performance.now()
      const { left, atMs } = quotas.get(gateway) ?? { left: rate, atMs: nowMs }
      const now = Math.min(rate, left + ((nowMs - atMs) / 1000) * rate)
      quotas.set(gateway, { left: now >= 1 ? now - 1 : now, atMs: nowMs })
      return now >= 1
    },
    random() {
      // mulberry32: small, and good enough to spread faults.
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
    onChange: (listener) => void listeners.push(listener)
  }
}
