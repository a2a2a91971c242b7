import type { Push } from './reading.ts'

export type GatewayName = 'apns' | 'fcm' | 'webpush'

/** One request and the response to it. The names are those of the inbox. */
export interface LedgerItem extends Push {
  id: string
  received_at: string
  gateway: GatewayName
  device_id: string | null
  /** The address of the push: device token, registration token or the id of a subscription. */
  token: string | null
  /** The channel of a broadcast, or the one that the started activity subscribes to; absent for all other pushes. */
  channel_id?: string
  request: { method: string; path: string; headers: Record<string, string>; payload: unknown }
  answer: {
    /** 0 if no response was sent: the connection was cut, or the request hangs. */
    status: number
    reason: string | null
    /** For the developer; the real gateways do not send it. */
    detail: string | null
    gateway_message_id: string | null
    /** The milliseconds from the request to its response; null if there was none. */
    took_ms: number | null
    /** The beginning of the body of the response; empty if it has none. */
    body: string
  }
}

export interface Ledger {
  add(item: LedgerItem): void
  /** Oldest first. */
  items(filter?: { gateway?: GatewayName; token?: string; deviceId?: string }): LedgerItem[]
  clear(): void
  /** Calls the listener for every request from now on. Returns a function that unsubscribes it. */
  subscribe(listener: (item: LedgerItem) => void): () => void
  /**
   * Yields every request from now on, until the signal. A reader that falls behind by a whole ledger loses the oldest
   * items.
   */
  follow(signal: AbortSignal): AsyncGenerator<LedgerItem>
}

export function createLedger(size = 1_000): Ledger {
  let kept: LedgerItem[] = []
  const listeners = new Set<(item: LedgerItem) => void>()

  function subscribe(listener: (item: LedgerItem) => void) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  return {
    subscribe,
    add(item) {
      kept.push(item)
      // Trimming at twice the size costs less than shifting all items for every request.
      if (kept.length >= 2 * size) kept = kept.slice(-size)
      for (const listener of listeners) listener(item)
    },
    items({ gateway, token, deviceId } = {}) {
      return kept
        .slice(-size)
        .filter(
          (item) =>
            (gateway === undefined || item.gateway === gateway) &&
            (token === undefined || item.token === token) &&
            (deviceId === undefined || item.device_id === deviceId)
        )
    },
    clear() {
      kept = []
    },
    async *follow(signal) {
      const waiting: LedgerItem[] = []
      let wake = () => {}
      const stop = subscribe((item) => {
        waiting.push(item)
        if (waiting.length > size) waiting.shift()
        wake()
      })
      const ended = () => wake()
      signal.addEventListener('abort', ended)
      try {
        while (!signal.aborted) {
          const next = waiting.shift()
          if (next) yield next
          else
            await new Promise<void>((resolve) => {
              wake = resolve
            })
        }
      } finally {
        stop()
        signal.removeEventListener('abort', ended)
      }
    }
  }
}

/** Headers that would let a reader of the ledger send pushes. */
const secret = new Set(['authorization', 'proxy-authorization', 'cookie', 'crypto-key'])

export function openHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const open: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith(':') && !secret.has(name)) open[name] = String(value)
  return open
}
