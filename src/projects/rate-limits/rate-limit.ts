/** The state of a limit, as the headers of a response show it. */
export interface Allowance {
  allowed: boolean
  limit: number
  remaining: number
  /** Unix seconds at which the bucket will be full again. */
  resetAt: number
  retryAfterSeconds: number
}

interface Bucket {
  tokens: number
  filledAtMs: number
  fullAtMs: number
}

/** The most buckets before full ones are dropped; a dropped bucket would start full again anyway. */
const maxBuckets = 20_000
/** So many are free after that, or the oldest are dropped too: not every new name may search all of them. */
const freed = 2_000

/** Takes one request from a bucket. The promise is for buckets in another process. */
export interface RateLimits {
  take(name: string, limit: number): Allowance | Promise<Allowance>
}

/**
 * Token buckets in memory. Each node grants its share of a project's limit, so that all live nodes together grant the
 * whole; processes with one parent share its buckets and count as one. A bucket holds the requests of one second, and at least one.
 */
export function createRateLimits(nodesAlive: () => number, clock: () => number = Date.now) {
  const buckets = new Map<string, Bucket>()

  function makeRoom(nowMs: number): void {
    for (const [name, { fullAtMs }] of buckets) if (fullAtMs <= nowMs) buckets.delete(name)
    for (const name of buckets.keys()) {
      if (buckets.size <= maxBuckets - freed) return
      buckets.delete(name)
    }
  }

  return {
    take(name: string, limit: number): Allowance {
      const nowMs = clock()
      if (limit === 0)
        return { allowed: true, limit, remaining: 0, resetAt: Math.ceil(nowMs / 1000), retryAfterSeconds: 0 }
      const nodes = Math.max(1, nodesAlive())
      const perMs = limit / nodes / 1000
      const capacity = Math.max(1, limit / nodes)
      const bucket = buckets.get(name) ?? { tokens: capacity, filledAtMs: nowMs, fullAtMs: nowMs }
      bucket.tokens = Math.min(capacity, bucket.tokens + Math.max(0, nowMs - bucket.filledAtMs) * perMs)
      bucket.filledAtMs = nowMs
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      bucket.fullAtMs = nowMs + (capacity - bucket.tokens) / perMs
      if (!buckets.has(name)) {
        if (buckets.size >= maxBuckets) makeRoom(nowMs)
        buckets.set(name, bucket)
      }
      return {
        allowed,
        limit,
        remaining: Math.min(limit, Math.floor(bucket.tokens * nodes)),
        resetAt: Math.ceil(bucket.fullAtMs / 1000),
        retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000))
      }
    }
  }
}
