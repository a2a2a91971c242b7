import type { Pool } from '../db/db.ts'
import type { Listener } from '../db/listen.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { createBell } from './bell.ts'
import { defaultLeaseMs, type JobDefinition, resumeQueue, workQueue } from './definition.ts'
import { createQueue, type Queue, type Reserved } from './queue.ts'
import { createReach } from './reach.ts'
import { nowMs, type Run, released } from './run.ts'
import { createSession, type Session } from './session.ts'
import { renew, settle } from './settle.ts'
import * as store from './store.ts'

export interface WorkerOptions {
  pool: Pool
  /** Announces new jobs at once. Without it, workers find them by polling. */
  listener?: Listener | undefined
  log: Log
  // A definition accepts only its own payload, so the type of a list of different ones can only say that they are
  // definitions.
  jobs: ReadonlyArray<JobDefinition<never>>
  /** The id of this node in `nodes`, for operators who read the table. */
  nodeId: string
  /** The number of jobs of each queue that run here at once. */
  concurrency: number
  /** The number for queues whose jobs are I/O-bound. */
  wider?: Readonly<Record<string, number>>
  pollMs?: number
}

export interface Worker {
  start(): void
  /** Claims no more jobs, waits for the running ones, and at the deadline releases the rest to other workers. */
  stop(deadlineMs: number): Promise<void>
  /** Resolves when nothing is due that this worker could run, and nothing runs here. For tests. */
  idle(): Promise<void>
  /** A slot for a job of this name that this process is about to add; undefined if the job must wait for its turn. */
  reserve(name: string): Reserved | undefined
}

interface Swept {
  woken: number
  /** The queues that have ready jobs. */
  queues: string[]
  paused: boolean
  nextInMs: number | null
}

const jobsPerSweep = 1_000
/** The wait of a completion whose row is locked. */
const lockedMs = 50
const longestAwayMs = 5_000
/** The time after the deadline of a stop in which it records its runs. */
const releaseMs = 2_000

export const createWorker = (options: WorkerOptions): Worker => new JobWorker(options)

class JobWorker implements Worker {
  readonly #options: WorkerOptions
  readonly #definitions: ReadonlyMap<string, JobDefinition>
  readonly #pollMs: number
  readonly #renewMs: number
  readonly #bell = createBell()
  readonly #session: Session
  readonly #queues: readonly Queue[]
  readonly #laterReach = createReach()
  /** Everything that was claimed: running, or ended and not yet recorded. The queues bound it. */
  readonly #runs = new Map<Run, Queue>()
  #ended: Run[] = []
  #sweepAt = 0
  #renewAt = 0
  #state: 'new' | 'working' | 'stopping' | 'stopped' = 'new'
  /** The number of rounds in a row that failed, because the database did not respond. */
  #away = 0
  #over = false
  /** Whether the installation was restored and not resumed. It is paused only while no node runs, so each sweep asks. */
  #paused = false
  #watch: NodeJS.Timeout | undefined

  constructor(options: WorkerOptions) {
    const { pool, nodeId, concurrency, wider = {}, pollMs = 1_000 } = options
    this.#options = options
    this.#pollMs = pollMs
    const definitions = new Map(options.jobs.map((job) => [job.name, job as JobDefinition]))
    this.#definitions = definitions
    const leases = [...definitions.values()].map(({ leaseMs }) => leaseMs)
    this.#renewMs = Math.min(...leases, defaultLeaseMs) / 3
    this.#session = createSession(pool, (fresh) => this.#keepRecurring(fresh))
    const names = new Set([workQueue, ...[...definitions.values()].map((job) => job.queue)])
    this.#queues = [...names].map((name) => {
      const queue: Queue = createQueue({
        name,
        definitions,
        concurrency: wider[name] ?? concurrency,
        session: this.#session,
        nodeId,
        begin: (run) => this.#begin(run, queue),
        ring: this.#bell.ring
      })
      return queue
    })
  }

  start(): void {
    if (this.#state !== 'new') throw new Error('a worker starts once')
    this.#state = 'working'
    this.#options.listener?.on(store.channel, (queue) => this.#hear(queue))
    this.#watch = setInterval(() => this.#watchLeases(), this.#renewMs / 2)
    void this.#work().then(() => {
      this.#over = true
    })
  }

  async stop(deadlineMs: number): Promise<void> {
    if (this.#state !== 'working') return
    this.#state = 'stopping'
    this.#bell.ring()
    await until(() => this.#isAtRest(), deadlineMs)
    // Jobs of a claim in flight must be released as well.
    await until(() => !this.#isClaiming(), releaseMs)
    const rest = this.#releaseRuns()
    await until(() => ![...this.#runs.keys()].some(({ outcome }) => outcome), releaseMs)
    this.#state = 'stopped'
    this.#bell.ring()
    clearInterval(this.#watch)
    await until(() => this.#over, releaseMs)
    if (rest > 0) await this.#session.query(store.hint).catch(() => {})
    await this.#session.close()
  }

  async idle(): Promise<void> {
    const names = [...this.#definitions.keys()]
    for (;;) {
      await until(() => this.#isAtRest())
      const due = await this.#options.pool.query(store.anyDue, [names])
      if (due.length === 0 && this.#isAtRest()) return
      this.#hintAll()
      this.#sweepAt = 0
      this.#bell.ring()
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  reserve(name: string): Reserved | undefined {
    const definition = this.#definitions.get(name)
    if (!definition || !this.#isWorking() || this.#paused || this.#away > 0) return undefined
    return this.#queues.find((queue) => queue.name === definition.queue)?.reserve(name)
  }

  #isClaiming(): boolean {
    return this.#queues.some((queue) => queue.isClaiming())
  }

  /** A job of a claim in flight is no longer due and does not run yet. */
  #isAtRest(): boolean {
    return this.#runs.size === 0 && !this.#isClaiming()
  }

  #hintAll(): void {
    for (const queue of this.#queues) queue.hint()
  }

  /** A notification names the queue of a new job. Rows of an older version are in no queue of their own. */
  #hear(queue: string | undefined): void {
    const named = queue ? this.#queues.filter(({ name }) => name === queue) : []
    if (named.length > 0) for (const one of named) one.hint()
    else this.#hintAll()
    this.#bell.ring()
  }

  async #keepRecurring(fresh: Session): Promise<void> {
    const kept = [...this.#definitions.values()].filter(({ everyMs }) => everyMs !== undefined)
    if (kept.length === 0) return
    const everyMs = kept.map((job) => job.everyMs)
    await fresh.query(store.keepRecurring, [kept.map(() => newId()), kept.map(({ name }) => name), everyMs])
    this.#hintAll()
  }

  async #work(): Promise<void> {
    const { log } = this.#options
    while (this.#state !== 'stopped') {
      try {
        await this.#turn()
        if (this.#away > 0) log.info('jobs run again: the database answers')
        this.#away = 0
      } catch (error) {
        if (this.#away++ === 0)
          log.error({ error: (error as Error).message }, 'jobs wait: the database does not answer')
      }
      await this.#bell.heard(this.#away > 0 ? Math.min(100 * 2 ** this.#away, longestAwayMs) : this.#untilNext())
    }
  }

  /** One round: record ended jobs, renew leases, wake due jobs, claim more. */
  async #turn(): Promise<void> {
    if (this.#ended.length > 0) await this.#record()
    if (nowMs() >= this.#renewAt) {
      this.#renewAt = nowMs() + this.#renewMs
      await renew(this.#session, [...this.#runs.keys()])
    }
    if (this.#isWorking() && nowMs() >= this.#sweepAt) await this.#sweep()
    // Checked again: a stop may have started meanwhile, and would not wait for a later claim. All claims are sent
    // together: the session returns their rows in order.
    if (this.#isWorking()) await Promise.all(this.#openQueues().map((queue) => queue.claim()))
  }

  #openQueues(): Queue[] {
    return this.#queues.filter((queue) => (!this.#paused || queue.name === resumeQueue) && queue.wants())
  }

  #isWorking(): boolean {
    return this.#state === 'working'
  }

  async #record(): Promise<void> {
    const batch = this.#ended
    // Other runs end while these are being recorded.
    this.#ended = []
    let left = new Set(batch)
    try {
      left = new Set(await settle(this.#session, batch, this.#options.log))
    } finally {
      this.#ended = [...left, ...this.#ended]
      for (const run of batch) if (!left.has(run)) this.#forget(run)
    }
  }

  #forget(run: Run): void {
    this.#runs.get(run)?.leave(run)
    this.#runs.delete(run)
    if (run.outcome?.kind === 'back') this.#sweepAt = Math.min(this.#sweepAt, nowMs() + run.outcome.delayMs)
  }

  async #sweep(): Promise<void> {
    const sentAt = nowMs()
    const backMs = this.#laterReach.lookBackMs()
    const queues = this.#queues.map((queue) => ({ queue, backMs: queue.lookBackMs() }))
    const found = await this.#session.query<Swept>(store.sweep, [
      jobsPerSweep,
      backMs,
      queues.map(({ queue }) => queue.name),
      queues.map((looked) => looked.backMs)
    ])
    const { woken, paused, nextInMs, queues: ready } = found[0]!
    if (paused !== this.#paused)
      this.#options.log.warn(paused ? 'jobs wait: the installation is paused until `tidings resume`' : 'jobs run again')
    this.#paused = paused
    if (woken < jobsPerSweep) this.#laterReach.clear(sentAt, backMs)
    this.#sweepAt = woken === jobsPerSweep ? 0 : nowMs() + Math.min(nextInMs ?? this.#pollMs, this.#pollMs)
    // One statement asks for all queues: most have nothing, and a claim of each would cost a round trip.
    for (const looked of queues)
      if (ready.includes(looked.queue.name)) looked.queue.hint()
      else looked.queue.clear(sentAt, looked.backMs)
  }

  #begin(run: Run, queue: Queue): void {
    this.#runs.set(run, queue)
    const finish = () => {
      if (run.outcome === released) return
      this.#ended.push(run)
      this.#bell.ring()
    }
    run.start().then(finish, finish)
  }

  /** Ends the runs that a stop could not wait for, so that other workers can claim their jobs. Returns their number. */
  #releaseRuns(): number {
    const rest = [...this.#runs.keys()].filter((run) => !run.outcome && !run.completed && !run.lost)
    for (const run of rest) {
      run.outcome = released
      run.lose('the worker stops')
      this.#ended.push(run)
    }
    this.#bell.ring()
    return rest.length
  }

  /** Runs beside the loop, so that leases that expire abort their runs even while the database does not respond. */
  #watchLeases(): void {
    for (const run of this.#runs.keys()) {
      if (run.completed || run.lost || nowMs() < run.leaseEndsAt) continue
      const { name: job, id: jobId } = run.job
      this.#options.log.warn({ job, jobId }, 'a job was lost: its lease could not be renewed in time')
      run.lose('the lease was not renewed in time')
    }
    this.#bell.ring()
  }

  #untilNext(): number {
    const locked = this.#ended.length > 0 ? lockedMs : Number.POSITIVE_INFINITY
    const next = this.#isWorking() ? Math.min(this.#sweepAt, this.#renewAt) : this.#renewAt
    return Math.max(1, Math.min(locked, next - nowMs(), this.#pollMs))
  }
}

/** Polls every few ms: only stops and tests wait like this. */
async function until(reached: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
  const endsAt = nowMs() + withinMs
  while (!reached() && nowMs() < endsAt) await new Promise((resolve) => setTimeout(resolve, 5))
}
