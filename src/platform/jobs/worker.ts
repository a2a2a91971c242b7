import type { Pool } from '../db/db.ts'
import type { Listener } from '../db/listen.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { createBell } from './bell.ts'
import { defaultLeaseMs, type JobDefinition, workQueue } from './definition.ts'
import { createQueue, type Queue } from './queue.ts'
import { createReach } from './reach.ts'
import { nowMs, type Run, released } from './run.ts'
import { createSession, type Session } from './session.ts'
import { renew, settle } from './settle.ts'
import * as store from './store.ts'

export interface WorkerOptions {
  pool: Pool
  /** Hears of new jobs at once. Without it they are found by polling. */
  listener?: Listener | undefined
  log: Log
  // A definition takes its own payload and no other, so a list of different ones can only say that they are definitions.
  jobs: ReadonlyArray<JobDefinition<never>>
  /** The id of this node in `nodes`, for those who look into the table. */
  nodeId: string
  /** How many jobs of each queue run here at once. */
  concurrency: number
  /** Instead, for the queues named: those whose jobs do little but wait. */
  wider?: Readonly<Record<string, number>>
  pollMs?: number
}

export interface Worker {
  start(): void
  /** Takes no more jobs, waits for the running ones, and at the deadline hands the rest to other workers. */
  stop(deadlineMs: number): Promise<void>
  /** Resolves when nothing is due that this worker could run, and nothing runs here. For tests. */
  idle(): Promise<void>
}

const jobsPerSweep = 1_000
/** How long a completion waits whose row is locked. */
const lockedMs = 50
const longestAwayMs = 5_000
/** The time a stop allows for recording its runs, after its deadline. */
const handOverMs = 2_000

export function createWorker(options: WorkerOptions): Worker {
  const { pool, listener, log, nodeId, concurrency, wider = {}, pollMs = 1_000 } = options
  const definitions = new Map(options.jobs.map((job) => [job.name, job as JobDefinition]))
  const names = [...definitions.keys()]
  const leases = [...definitions.values()].map(({ leaseMs }) => leaseMs)
  const renewMs = Math.min(...leases, defaultLeaseMs) / 3
  const bell = createBell()
  const session = createSession(pool, keepRecurring)

  /** Everything that was claimed: running, or ended and not yet recorded. The queues bound it. */
  const runs = new Map<Run, Queue>()
  let ended: Run[] = []
  const queues: Queue[] = [...new Set([workQueue, ...[...definitions.values()].map((job) => job.queue)])].map((name) =>
    createQueue({
      name,
      definitions,
      concurrency: wider[name] ?? concurrency,
      session,
      nodeId,
      begin: (run) => begin(run, queueOf(name)),
      ring: bell.ring
    })
  )
  const queueOf = (name: string): Queue => queues.find((queue) => queue.name === name)!
  const isClaiming = () => queues.some((queue) => queue.isClaiming())
  const hintAll = () => {
    for (const queue of queues) queue.hint()
  }
  const laterReach = createReach()
  let sweepAt = 0
  let renewAt = 0
  let state: 'new' | 'working' | 'stopping' | 'stopped' = 'new'
  let away = 0
  let over = false
  let watch: NodeJS.Timeout | undefined

  async function keepRecurring(fresh: Session): Promise<void> {
    const kept = [...definitions.values()].filter(({ everyMs }) => everyMs !== undefined)
    if (kept.length === 0) return
    const everyMs = kept.map((job) => job.everyMs)
    await fresh.query(store.keepRecurring, [kept.map(() => newId()), kept.map(({ name }) => name), everyMs])
    hintAll()
  }

  async function work(): Promise<void> {
    while (state !== 'stopped') {
      try {
        await turn()
        if (away > 0) log.info('jobs run again: the database answers')
        away = 0
      } catch (error) {
        if (away++ === 0) log.error({ error: (error as Error).message }, 'jobs wait: the database does not answer')
      }
      await bell.heard(away > 0 ? Math.min(100 * 2 ** away, longestAwayMs) : untilNext())
    }
  }

  /** One round: record ended jobs, renew leases, wake due jobs, claim more. */
  async function turn(): Promise<void> {
    if (ended.length > 0) await record()
    if (nowMs() >= renewAt) {
      renewAt = nowMs() + renewMs
      await renew(session, [...runs.keys()])
    }
    if (state === 'working' && nowMs() >= sweepAt) await sweep()
    // Asked once more: the stop may have come meanwhile, and would not wait for a claim that begins after it.
    // All claims are sent together: the session returns their rows in order.
    if (state === 'working') await Promise.all(queues.filter((queue) => queue.wants()).map((queue) => queue.claim()))
  }

  async function record(): Promise<void> {
    const batch = ended
    // Others end while these are being recorded.
    ended = []
    let left = new Set(batch)
    try {
      left = new Set(await settle(session, batch, log))
    } finally {
      ended = [...left, ...ended]
      for (const run of batch) if (!left.has(run)) leave(run)
    }
  }

  function leave(run: Run): void {
    runs.get(run)?.leave(run)
    runs.delete(run)
    if (run.outcome?.kind === 'back') sweepAt = Math.min(sweepAt, nowMs() + run.outcome.delayMs)
  }

  async function sweep(): Promise<void> {
    const sentAt = nowMs()
    const backMs = laterReach.lookBackMs()
    const found = await session.query<{ woken: number; nextInMs: number | null }>(store.sweep, [jobsPerSweep, backMs])
    const { woken, nextInMs } = found[0]!
    if (woken < jobsPerSweep) laterReach.clear(sentAt, backMs)
    sweepAt = woken === jobsPerSweep ? 0 : nowMs() + Math.min(nextInMs ?? pollMs, pollMs)
    hintAll()
  }

  function begin(run: Run, queue: Queue): void {
    runs.set(run, queue)
    const finish = () => {
      if (run.outcome === released) return
      ended.push(run)
      bell.ring()
    }
    run.start().then(finish, finish)
  }

  /** Runs beside the loop, so that signals abort also while the database is silent. */
  function watchLeases(): void {
    for (const run of runs.keys()) {
      if (run.completed || run.lost || nowMs() < run.leaseEndsAt) continue
      log.warn({ job: run.job.name, jobId: run.job.id }, 'a job was lost: its lease could not be renewed in time')
      run.lose('the lease was not renewed in time')
    }
    bell.ring()
  }

  function untilNext(): number {
    const locked = ended.length > 0 ? lockedMs : Number.POSITIVE_INFINITY
    const next = state === 'working' ? Math.min(sweepAt, renewAt) : renewAt
    return Math.max(1, Math.min(locked, next - nowMs(), pollMs))
  }

  return {
    start() {
      if (state !== 'new') throw new Error('a worker starts once')
      state = 'working'
      listener?.on(store.channel, (queue) => {
        // Rows of an older version are in no queue of their own.
        const named = queue ? queues.filter(({ name }) => name === queue) : []
        if (named.length > 0) for (const one of named) one.hint()
        else hintAll()
        bell.ring()
      })
      watch = setInterval(watchLeases, renewMs / 2)
      void work().then(() => {
        over = true
      })
    },

    async stop(deadlineMs) {
      if (state !== 'working') return
      state = 'stopping'
      bell.ring()
      await until(() => runs.size === 0 && !isClaiming(), deadlineMs)
      // Jobs of a claim in flight must be released as well.
      await until(() => !isClaiming(), handOverMs)
      const rest = [...runs.keys()].filter((run) => !run.outcome && !run.completed && !run.lost)
      for (const run of rest) {
        run.outcome = released
        run.lose('the worker stops')
        ended.push(run)
      }
      bell.ring()
      await until(() => ![...runs.keys()].some(({ outcome }) => outcome), handOverMs)
      state = 'stopped'
      bell.ring()
      clearInterval(watch)
      await until(() => over, handOverMs)
      if (rest.length > 0) await session.query(store.hint).catch(() => {})
      await session.close()
    },

    async idle() {
      for (;;) {
        // A job that a claim under way has taken is no longer due and does not run yet.
        const atRest = () => runs.size === 0 && !isClaiming()
        await until(atRest)
        const due = await pool.query(store.anyDue, [names])
        if (due.length === 0 && atRest()) return
        hintAll()
        sweepAt = 0
        bell.ring()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
}

/** Looks every few ms: only stops and tests wait like this. */
async function until(reached: () => boolean, withinMs = Number.POSITIVE_INFINITY): Promise<void> {
  const endsAt = nowMs() + withinMs
  while (!reached() && nowMs() < endsAt) await new Promise((resolve) => setTimeout(resolve, 5))
}
