import { performance } from 'node:perf_hooks'
import type { Db } from '../db/db.ts'
import { type JobContext, type JobDefinition, LeaseLost, RetryLater } from './definition.ts'
import { completeInside } from './store.ts'

/** A row as the claim returns it. */
export interface Claimed {
  id: string
  name: string
  lane: string
  payload: unknown
  attempts: number
  maxAttempts: number | null
  /** Whether it may have been added again while it ran. */
  keyed: boolean
  /** The span that added it. */
  trace: string | null
}

/** The end of a run, as it is recorded in the table. */
export type Outcome =
  | { kind: 'done' }
  | {
      kind: 'back'
      error: string | null
      delayMs: number
      counts: boolean
      spent: boolean
      planned: boolean
      anew?: boolean
    }

export interface Run {
  readonly job: Claimed
  readonly definition: JobDefinition
  readonly claim: string
  /** A time of this process's clock, counted from before the claim was sent and so never later than the database's. */
  leaseEndsAt: number
  outcome: Outcome | undefined
  /** Whether the run only waits: it keeps its lease and has no slot. */
  waits: boolean
  /** Whether the handler has ended the job in its own transaction. */
  completed: boolean
  readonly lost: boolean
  lose(reason: string): void
  start(): Promise<void>
}

/**
 * A job may be claimed this often beyond its attempts if its worker died each time. A crash is not the job's fault, but
 * a job that crashes every process that runs it must end as dead.
 */
const crashesForgiven = 3
const longestError = 2_000

export function createRun(
  job: Claimed,
  definition: JobDefinition,
  claim: string,
  leaseEndsAt: number,
  freeSlot: (run: Run) => void
): Run {
  const abort = new AbortController()
  const most = job.maxAttempts ?? definition.maxAttempts

  const context: JobContext = {
    jobId: job.id,
    attempt: job.attempts,
    trace: job.trace,
    last: job.attempts >= most,
    signal: abort.signal,
    async complete(tx: Db) {
      if (run.lost) throw new LeaseLost(`job ${job.id} is no longer this worker's`)
      const mine = await tx.query(completeInside, [[job.id], [claim], [definition.everyMs ?? null]])
      if (mine.length === 0) throw new LeaseLost(`job ${job.id} was taken over by another worker`)
      run.completed = true
    },
    freeSlot: () => freeSlot(run)
  }

  const run: Run = {
    job,
    definition,
    claim,
    leaseEndsAt,
    outcome: undefined,
    waits: false,
    completed: false,
    get lost() {
      return abort.signal.aborted
    },
    lose: (reason) => abort.abort(new LeaseLost(reason)),
    async start() {
      const outcome = await tried()
      // A stop may have released the run meanwhile; then that outcome stays.
      run.outcome ??= outcome
    }
  }

  async function tried(): Promise<Outcome> {
    if (job.attempts > most + crashesForgiven) return lost()
    try {
      await definition.run(job.payload, context)
      return { kind: 'done' }
    } catch (error) {
      return error instanceof RetryLater ? planned(error) : failure(describe(error))
    }
  }

  /** Ends a job that is not run again. It is kept until its failure could be recorded. */
  async function lost(): Promise<Outcome> {
    try {
      await definition.giveUp?.(job.payload)
    } catch (error) {
      return failure(describe(error), false)
    }
    return failure(`its worker was lost ${crashesForgiven} times beyond its ${most} attempts`)
  }

  function failure(error: string, spent = job.attempts >= most): Outcome {
    const delayMs = definition.backoff(job.attempts)
    return { kind: 'back', error, delayMs, counts: true, spent, planned: false }
  }

  function planned({ message, afterMs, counts, anew }: RetryLater): Outcome {
    const delayMs = afterMs ?? definition.backoff(job.attempts)
    return { kind: 'back', error: message, delayMs, counts, spent: counts && job.attempts >= most, planned: true, anew }
  }

  return run
}

/**
 * Releases a run that did not end before the deadline of a stop: other workers may claim it at once, and no attempt
 * counts.
 */
export const released: Outcome = {
  kind: 'back',
  error: null,
  delayMs: 0,
  counts: false,
  spent: false,
  planned: true
}

/** A monotonic clock: setting the wall clock must not end leases. */
export const nowMs = (): number => performance.now()

function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  // PostgreSQL stores no NUL character, and one such error text must not keep the whole batch from being recorded.
  return text.replaceAll('\0', '').slice(0, longestError)
}
