import type { Push } from './reading.ts'

export type GatewayName = 'apns' | 'fcm' | 'webpush'

/** One request as it came over the wire, and what it was told. The names are those of the inbox. */
export interface LedgerItem extends Push {
  id: string
  received_at: string
  gateway: GatewayName
  device_id: string | null
  /** What the push was addressed to: device token, registration token or the id of a subscription. */
  token: string | null
  request: { method: string; path: string; headers: Record<string, string>; payload: unknown }
  answer: {
    /** 0 where no answer was given: the connection was cut, or the sender was left waiting. */
    status: number
    reason: string | null
    /** For the developer; the real gateways do not say it. */
    detail: string | null
    gateway_message_id: string | null
  }
}

export interface Ledger {
  add(item: LedgerItem): void
  /** Oldest first. */
  items(filter?: { gateway?: GatewayName; token?: string; deviceId?: string }): LedgerItem[]
  clear(): void
  /** Calls for every request from now on. Answers how to stop. */
  subscribe(listener: (item: LedgerItem) => void): () => void
  /** The same as a loop; it ends with the signal. A reader that falls behind by a whole ledger loses the oldest. */
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
      // Cutting now and then costs less than moving all of them for every request.
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

/** Whoever reads the ledger must not be able to send with it. */
const secret = new Set(['authorization', 'proxy-authorization', 'cookie', 'crypto-key'])

export function openHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const open: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !name.startsWith(':') && !secret.has(name)) open[name] = String(value)
  return open
}
