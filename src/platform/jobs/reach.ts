import { nowMs } from './run.ts'

/** How far back a worker searches for jobs. */
export interface Reach {
  /** Milliseconds before now, by the database's clock. */
  lookBackMs(): number
  /** Called when a search found nothing, with the time at which it was sent. */
  clear(sentAt: number, lookedBackMs: number): void
}

const everMs = 1e12
/**
 * The interval of full searches, which find late jobs: those of a transaction that was open for a while, for example.
 */
const thoroughMs = 5_000
/** Jobs that are committed or woken late are still found for this long. */
const lateMs = 3_000

/**
 * While a transaction stays open, a backup for example, PostgreSQL cannot remove dead rows, and each search walks over
 * all jobs that have ended since. So a worker that has seen everything searches only newer jobs, and searches
 * everything again every five seconds. Without this, 150,000 ended jobs beside an open transaction made p50 111 ms.
 */
export function createReach(): Reach {
  let clearAt = Number.NEGATIVE_INFINITY
  let thoroughAt = 0
  return {
    lookBackMs: () => (nowMs() >= thoroughAt ? everMs : nowMs() - clearAt + lateMs),
    clear(sentAt, lookedBackMs) {
      if (lookedBackMs < everMs) return
      clearAt = sentAt
      thoroughAt = sentAt + thoroughMs
    }
  }
}
