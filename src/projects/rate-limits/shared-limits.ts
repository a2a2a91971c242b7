import type { Allowance, RateLimits } from './rate-limit.ts'

type Take = (buckets: [name: string, limit: number, times: number][]) => Promise<unknown[][]>

interface Asking {
  limit: number
  waiting: ((allowance: Allowance) => void)[]
}

/**
 * Rate limits whose buckets are in the parent of several processes, so that a caller finds the same bucket whichever
 * process serves it. All requests of a turn of the event loop ask in one message, so that many cost little more than one.
 * If the parent does not respond, this process grants from buckets of its own.
 */
export function createSharedLimits(take: Take, own: RateLimits): RateLimits {
  let asked = new Map<string, Asking>()

  async function ask(): Promise<void> {
    const asking = asked
    asked = new Map()
    const buckets = [...asking].map(([name, { limit, waiting }]) => [name, limit, waiting.length] as const)
    const granted = (await take(buckets.map((bucket) => [...bucket])).catch(() => [])) as Allowance[][]
    buckets.forEach(([name, limit], index) => {
      asking.get(name)!.waiting.forEach((grant, turn) => {
        grant(granted[index]?.[turn] ?? (own.take(name, limit) as Allowance))
      })
    })
  }

  return {
    take(name, limit) {
      if (limit === 0) return own.take(name, limit)
      if (asked.size === 0) setImmediate(() => void ask())
      let asking = asked.get(name)
      if (!asking) {
        asking = { limit, waiting: [] }
        asked.set(name, asking)
      }
      asking.limit = limit
      return new Promise((grant) => asking.waiting.push(grant))
    }
  }
}
