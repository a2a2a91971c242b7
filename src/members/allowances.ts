import { steadyMs } from '../platform/time.ts'

/** The most names that are counted; the one that was used longest ago is dropped first. */
const maxNames = 50_000

export interface Allowances {
  /** Takes one attempt. Returns the seconds until the next one, or 0 if this one is allowed. */
  take(name: string): number
  /** Gives back an attempt that succeeded: only failures count. */
  giveBack(name: string): void
}

/** So many attempts at once, then one in a time. All nodes together allow about as many: each its share. */
export function createAllowances(
  burst: number,
  everySeconds: number,
  nodes: () => number = () => 1,
  clock: () => number = steadyMs
): Allowances {
  const used = new Map<string, { count: number; atMs: number }>()
  const share = () => Math.max(1, nodes())

  function countOf(name: string, nowMs: number): number {
    const known = used.get(name)
    return known ? Math.max(0, known.count - (nowMs - known.atMs) / 1000 / everySeconds / share()) : 0
  }

  function put(name: string, count: number, atMs: number): void {
    used.delete(name)
    if (used.size >= maxNames) used.delete(used.keys().next().value!)
    used.set(name, { count, atMs })
  }

  return {
    take(name) {
      const nowMs = clock()
      const count = countOf(name, nowMs)
      const most = Math.max(1, burst / share())
      if (count + 1 > most) return Math.max(1, Math.ceil((count + 1 - most) * everySeconds * share()))
      put(name, count + 1, nowMs)
      return 0
    },
    giveBack(name) {
      const nowMs = clock()
      const count = countOf(name, nowMs) - 1
      // A name without failures takes no place from those that have some.
      if (count > 0) put(name, count, nowMs)
      else used.delete(name)
    }
  }
}
