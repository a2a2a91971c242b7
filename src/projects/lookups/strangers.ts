import { steadyMs } from '../../platform/time.ts'

/** Unknown credentials that an address may send at once, and the number by which its count falls each second. */
const burst = 100
const forgivenPerSecond = 20
/** The most remembered addresses; the one whose last guess is oldest is dropped first. */
const maxAddresses = 10_000

export type Strangers = ReturnType<typeof createStrangers>

/**
 * Counts the unknown credentials of each address. Only unknown ones count, so an address with many valid keys (a proxy, a
 * NAT) is never slowed by them.
 */
export function createStrangers(clock: () => number = steadyMs) {
  const guesses = new Map<string, { count: number; atMs: number }>()

  function countOf(address: string): number {
    const known = guesses.get(address)
    if (!known) return 0
    return Math.max(0, known.count - ((clock() - known.atMs) / 1000) * forgivenPerSecond)
  }

  return {
    guessed(address: string): void {
      // Counted up to twice the burst at most, so that an address is free again five seconds after its last guess.
      const count = Math.min(countOf(address) + 1, 2 * burst)
      guesses.delete(address)
      if (guesses.size >= maxAddresses) guesses.delete(guesses.keys().next().value!)
      guesses.set(address, { count, atMs: clock() })
    },
    slowed: (address: string): boolean => countOf(address) >= burst
  }
}

/**
 * The network that counts as one address: an IPv4 address, or the /64 network of an IPv6 address, which one customer usually holds. A
 * connection that its client has reset has no address any more.
 */
export function networkOf(ip = ''): string {
  // Some proxies forward the port too, which a client chooses anew for each connection.
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(ip)?.[1]
  const v6 = /^\[([^\]]*)\](?::\d+)?$/.exec(ip)?.[1]
  if (v6 !== undefined) return networkOf(v6)
  // A proxy may forward any text for an address.
  if (v4 || !ip.includes(':')) return v4 ?? ip.slice(0, 64)
  const [head = [], tail] = ip.split('::', 2).map((half) => half.split(':').filter(Boolean))
  const left = 8 - head.length - (tail?.length ?? 0)
  const groups = tail ? [...head, ...Array<string>(Math.max(0, left)).fill('0'), ...tail] : head
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`.slice(0, 64)
}
