import type { Db } from '../db/db.ts'
import { backoff } from './backoff.ts'

/** The run of a job, as its handler sees it. */
export interface JobContext {
  readonly jobId: string
  /** 1 for the first try. */
  readonly attempt: number
  /** Whether a failure now is the end: the moment to book what was given up. */
  readonly last: boolean
  /** Aborted when the lease is lost or the worker stops. Work that goes on after it can no longer end the job. */
  readonly signal: AbortSignal
  /**
   * Ends the job inside the transaction of its effects, so that both happen or neither does. Throws `LeaseLost` when
   * another worker has taken the job meanwhile: let it pass, so that the transaction rolls back.
   */
  complete(tx: Db): Promise<void>
  /**
   * Gives the slot to another job when all that is left is to wait, for a gateway for instance. The lease is kept and
   * renewed, so a crash is noticed as before. Where too many jobs wait like this the slot is kept.
   */
  freeSlot(): void
}

export interface JobDefinition<Payload = unknown> {
  readonly name: string
  /** Jobs of one queue share slots and do not wait behind those of another. */
  readonly queue: string
  readonly maxAttempts: number
  /** How long a worker may be silent before others take the job. It is renewed while the job runs. */
  readonly leaseMs: number
  /** How long to wait after the given failed attempt. */
  readonly backoff: (attempt: number) => number
  /** Set for recurring work: a run that ended is due again after this. */
  readonly everyMs: number | undefined
  run(payload: Payload, context: JobContext): Promise<void>
}

/** Ten seconds: a killed worker's jobs go on within 15, and a process that stalls for less keeps its work. */
export const defaultLeaseMs = 10_000

/** The queue of jobs that name none. Its slots also run jobs of other queues that an older version added here. */
export const workQueue = 'work'

/** The least that `run` needs beside a name. Jobs run at least once: make effects repeatable or use `complete(tx)`. */
export function defineJob<Payload>(job: {
  name: string
  queue?: string
  maxAttempts?: number
  leaseMs?: number
  backoff?: (attempt: number) => number
  run(payload: Payload, context: JobContext): Promise<void>
}): JobDefinition<Payload> {
  return { queue: workQueue, maxAttempts: 10, leaseMs: defaultLeaseMs, backoff, everyMs: undefined, ...job }
}

/**
 * Work done every so often by one node of the whole cluster. Its job is one row that is never deleted but moved on when
 * a run ends, so neither a crash nor ten nodes starting at once can lose or double it. It never dies: a failure is
 * tried again with backoff, at the latest after `everyMs`.
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
 * Thrown by a job to be run again without this being an error, after `afterMs` or else the usual backoff. It counts as
 * an attempt, so that everything ends, unless `counts` is false: then the job itself must know when to give up.
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater'
  readonly afterMs: number | undefined
  readonly counts: boolean

  constructor(reason: string, afterMs?: number, { counts = true }: { counts?: boolean } = {}) {
    super(reason)
    this.afterMs = afterMs
    this.counts = counts
  }
}

/** Another worker has the job now, or may have: results of this run must not be recorded. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
