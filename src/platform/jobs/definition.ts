import type { Db } from '../db/db.ts'
import { backoff } from './backoff.ts'

/** The run of a job, as its handler sees it. */
export interface JobContext {
  readonly jobId: string
  /** 1 for the first attempt. */
  readonly attempt: number
  /** The span of the request or job that added this one, and others that wanted it too. */
  readonly trace?: string | null
  /** Whether a failure now ends the job for good: the moment to record the failure of its work. */
  readonly last: boolean
  /** Aborted when the lease is lost or the worker stops. Work that continues after that can no longer end the job. */
  readonly signal: AbortSignal
  /**
   * Ends the job inside the transaction of its effects, so that both happen or neither does. Throws `LeaseLost` when
   * another worker has claimed the job meanwhile: do not catch it, so that the transaction rolls back.
   */
  complete(tx: Db): Promise<void>
  /**
   * Gives the slot to another job when this one only waits, for a gateway for example. The worker keeps and renews the
   * lease, so a crash is noticed as before. If too many jobs wait like this, the job keeps its slot.
   */
  freeSlot(): void
}

export interface JobDefinition<Payload = unknown> {
  readonly name: string
  /** Jobs of one queue share slots and do not wait behind those of another. */
  readonly queue: string
  readonly maxAttempts: number
  /** How long a worker may be silent before others claim the job. The worker renews the lease while the job runs. */
  readonly leaseMs: number
  /** The wait after the given failed attempt. */
  readonly backoff: (attempt: number) => number
  /** Set for recurring work: after each run it is due again after this time. */
  readonly everyMs: number | undefined
  run(payload: Payload, context: JobContext): Promise<void>
  /**
   * Records the failure of its work when the job has lost too many workers to be run again. Without it, work whose rows show
   * that it is not done would get a new job, and crash workers for ever.
   */
  giveUp?(payload: Payload): Promise<void>
}

/**
 * Ten seconds: other workers resume a killed worker's jobs within 15 s, and a process that stalls for less keeps its
 * jobs.
 */
export const defaultLeaseMs = 10_000

/** The queue of jobs that name none. Its slots also run jobs of other queues that an older version added here. */
export const workQueue = 'work'

/** Jobs of this queue run also while a restored installation is paused: they prepare its resume. */
export const resumeQueue = 'resume'

/**
 * The minimum that a definition needs besides a name. Jobs run at least once: make effects repeatable or use
 * `complete(tx)`.
 */
export function defineJob<Payload>(job: {
  name: string
  queue?: string
  maxAttempts?: number
  leaseMs?: number
  backoff?: (attempt: number) => number
  run(payload: Payload, context: JobContext): Promise<void>
  giveUp?(payload: Payload): Promise<void>
}): JobDefinition<Payload> {
  return { queue: workQueue, maxAttempts: 10, leaseMs: defaultLeaseMs, backoff, everyMs: undefined, ...job }
}

/**
 * Periodic work that one node of the whole cluster does. Its job is one row that is never deleted but rescheduled when
 * a run ends, so neither a crash nor ten nodes starting at once can lose or double it. It never ends for good: a
 * failure is retried with backoff, at the latest after `everyMs`.
 */
export function recurring(job: {
  name: string
  everyMs: number
  leaseMs?: number
  run(context: JobContext): Promise<void>
}): JobDefinition<unknown> {
  return {
    name: job.name,
    queue: workQueue,
    maxAttempts: Number.POSITIVE_INFINITY,
    leaseMs: job.leaseMs ?? defaultLeaseMs,
    backoff: (attempt) => Math.min(backoff(attempt), job.everyMs),
    everyMs: job.everyMs,
    run: (_, context) => job.run(context)
  }
}

/**
 * Thrown by a job that wants to run again without an error, after `afterMs` or the usual backoff. It counts as an
 * attempt, so that every job ends at some time, unless `counts` is false: then the job itself must decide when to stop.
 * `anew`: nothing is due before then. The job waits as if it had just been added, without the attempts that failed, and
 * an earlier time brings it forward.
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater'
  readonly afterMs: number | undefined
  readonly counts: boolean
  readonly anew: boolean

  constructor(reason: string, afterMs?: number, { counts, anew = false }: { counts?: boolean; anew?: boolean } = {}) {
    super(reason)
    this.afterMs = afterMs
    this.counts = counts ?? !anew
    this.anew = anew
  }
}

/** Another worker has claimed the job, or may have: results of this run must not be recorded. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
