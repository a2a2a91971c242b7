import { Refusal } from '../../platform/errors.ts'
import { steadyMs } from '../../platform/time.ts'
import { networkOf, type Strangers } from './strangers.ts'

/** Returned without a promise if the credential was looked up a moment ago. */
export type Soon<Found> = Found | undefined | Promise<Found | undefined>

/**
 * The network address of a caller. Read only if a look-up is needed: behind a proxy the address takes a while to
 * compute.
 */
export interface From {
  readonly ip: string
}

interface Remembered<Found> {
  found: Found
  expiresAtMs: number
  generation: number
}

interface Waiting<Found> {
  hash: string
  /** Undefined for credentials that were valid before and for the service itself: they are never slowed. */
  address: string | undefined
  resolve(found: Found | undefined): void
  reject(error: unknown): void
}

/**
 * How long the result of a look-up is trusted. Every node must refuse a revoked key within a second, also if no
 * notification arrives, so this is half of it; at 1,000 requests a second it still saves all but two look-ups.
 */
const believedMs = 500
/**
 * The most remembered credentials: valid ones, and unknown ones. They are stored separately, so guesses never evict a
 * valid credential.
 */
const maxFound = 10_000
const maxAbsent = 10_000
/** Credentials in one statement. */
const maxBatch = 512
/** New credentials are looked up at most this often, so that a flood of them costs 50 statements a second. */
const roundMs = 20
/** Look-ups of a slowed address in one round: 250 a second. */
const slowedBatch = 5
/** Look-ups that may wait, of one address and of all. A slowed address waits 2 s at most. */
const maxWaitingOfAddress = 500
const maxWaiting = 20_000

export interface LookupCounts {
  rounds: number
  found: number
  unknown: number
  refused: number
}

export interface Lookups<Found> {
  get(hash: string, from?: From): Soon<Found>
  /** The remembered result, while it is still valid. */
  recent(hash: string): { found: Found | undefined } | undefined
  /** After a change: every earlier result is looked up again, and results of look-ups in flight are not remembered. */
  forget(): void
  readonly counts: Readonly<LookupCounts>
}

/**
 * Finds credentials of one kind by their hash, with a short cache, many in one statement and one statement at a time: a
 * flood of guesses can hold only one connection. Credentials that were valid before come first. New ones wait for
 * rounds in which addresses take turns, and an address that sent many unknown ones gets a small share of each round: a
 * valid key behind the same NAT waits for its turn and is not refused (docs/decisions/0028).
 */
export function createLookups<Found>(
  find: (hashes: string[]) => Promise<Map<string, Found>>,
  strangers: Strangers
): Lookups<Found> {
  const known = new Map<string, Remembered<Found>>()
  const absent = new Map<string, Remembered<undefined>>()
  const pending = new Map<string, Promise<Found | undefined>>()
  const counts: LookupCounts = { rounds: 0, found: 0, unknown: 0, refused: 0 }
  const regulars: Waiting<Found>[] = []
  const newcomers = new Map<string, Waiting<Found>[]>()
  let newcomersWaiting = 0
  let generation = 0
  let running = false
  let nextRoundAtMs = 0
  let timer: NodeJS.Timeout | undefined

  /**
   * Takes addresses in turn, those that are not slowed first. An address with more look-ups moves to the end of the
   * line.
   */
  function takeNewcomers(batch: Waiting<Found>[]): void {
    const [slowed, free] = [[] as string[], [] as string[]]
    for (const address of newcomers.keys()) (strangers.slowed(address) ? slowed : free).push(address)
    for (const address of free) takeFrom(address, batch, maxBatch)
    for (const address of slowed) takeFrom(address, batch, slowedBatch)
  }

  function takeFrom(address: string, batch: Waiting<Found>[], share: number): void {
    const room = Math.min(share, maxBatch - batch.length)
    const line = newcomers.get(address)
    if (line && room > 0) {
      const taken = line.splice(0, room)
      newcomersWaiting -= taken.length
      batch.push(...taken)
      newcomers.delete(address)
      if (line.length > 0) newcomers.set(address, line)
    }
  }

  async function work(): Promise<void> {
    running = true
    while (regulars.length > 0 || (newcomers.size > 0 && steadyMs() >= nextRoundAtMs)) {
      const batch = regulars.splice(0, maxBatch)
      const startedAtMs = steadyMs()
      if (startedAtMs >= nextRoundAtMs && newcomers.size > 0) {
        takeNewcomers(batch)
        nextRoundAtMs = startedAtMs + roundMs
      }
      await lookUp(batch, startedAtMs)
    }
    running = false
    wake()
  }

  function wake(): void {
    if (running) return
    const waitMs = regulars.length > 0 ? 0 : newcomers.size > 0 ? Math.max(0, nextRoundAtMs - steadyMs()) : undefined
    if (waitMs === undefined) return
    clearTimeout(timer)
    if (waitMs > 0) {
      timer = setTimeout(() => void work(), waitMs)
      return
    }
    running = true
    // After the sockets that are readable now have been read: requests that arrive together share a statement.
    setImmediate(() => void work())
  }

  async function lookUp(batch: Waiting<Found>[], startedAtMs: number): Promise<void> {
    const asOf = generation
    counts.rounds++
    try {
      const rows = await find([...new Set(batch.map(({ hash }) => hash))])
      for (const { hash, address, resolve } of batch) {
        const found = rows.get(hash)
        const entry = { expiresAtMs: startedAtMs + believedMs, generation: asOf }
        if (found) remember(known, hash, { ...entry, found }, maxFound)
        else {
          known.delete(hash)
          remember(absent, hash, { ...entry, found: undefined }, maxAbsent)
          if (address !== undefined) strangers.guessed(address)
        }
        counts[found ? 'found' : 'unknown']++
        resolve(found)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error) // A failed look-up is no result.
    }
  }

  function wait(hash: string, from: From | undefined): Promise<Found | undefined> {
    // A credential that was valid before is looked up at once, from any address.
    const address = from === undefined || known.has(hash) ? undefined : networkOf(from.ip)
    const line = address === undefined ? regulars : (newcomers.get(address) ?? [])
    // Slowed addresses fill at most half of the room, so that many of them cannot shut out the others.
    const most = address !== undefined && strangers.slowed(address) ? maxWaiting / 2 : maxWaiting
    const full = address !== undefined && (line.length >= maxWaitingOfAddress || newcomersWaiting >= most)
    if (full || regulars.length >= maxWaiting) {
      counts.refused++
      throw new Refusal('rate_limited', 'Too many unknown credentials came from this address. Try again in a second.')
    }
    const { promise, resolve, reject } = Promise.withResolvers<Found | undefined>()
    line.push({ hash, address, resolve, reject })
    if (address !== undefined) {
      newcomers.set(address, line)
      newcomersWaiting++
    }
    pending.set(hash, promise)
    const over = () => {
      if (pending.get(hash) === promise) pending.delete(hash)
    }
    promise.then(over, over)
    wake()
    return promise
  }

  function recent(hash: string): Remembered<Found | undefined> | undefined {
    const last = known.get(hash) ?? absent.get(hash)
    return last && last.generation === generation && last.expiresAtMs > steadyMs() ? last : undefined
  }

  return {
    get(hash, from) {
      const last = recent(hash)
      return last ? last.found : (pending.get(hash) ?? wait(hash, from))
    },
    recent,
    forget() {
      generation++
      pending.clear()
    },
    counts
  }
}

/** The newest comes last, so that the first is the one that was looked up longest ago. */
function remember<Entry>(cache: Map<string, Entry>, hash: string, entry: Entry, most: number): void {
  cache.delete(hash)
  if (cache.size >= most) cache.delete(cache.keys().next().value!)
  cache.set(hash, entry)
}
