import type { Db } from '../db/db.ts'
import { newId } from '../ids.ts'
import { writtenTrace } from '../telemetry/context.ts'
import { type JobDefinition, workQueue } from './definition.ts'
import type { Reserved } from './queue.ts'
import * as store from './store.ts'

export type { Reserved } from './queue.ts'

export interface AddOptions {
  /** The project of the job: projects take turns. */
  projectId?: string | undefined
  /**
   * At most one job of a name and key waits. Adding it again keeps the waiting one and its payload, and brings its time
   * forward if the new one is earlier (unless it has failed before: its backoff stays). If it is running, it runs once
   * more afterwards, because that run may have missed the changes of this transaction. For the same reason the key's
   * job is locked until the transaction ends.
   */
  key?: string | undefined
  /** The job does not run before this time. Absent: now. */
  runAt?: Date | undefined
  /** Replaces the value of the definition. */
  maxAttempts?: number | undefined
}

export interface NewJob<Payload = unknown> extends AddOptions {
  payload: Payload
  /** A `newId()` of the caller, if it records which job it added. */
  id?: string
}

export interface DeadJob {
  id: string
  name: string
  projectId: string | null
  key: string | null
  payload: unknown
  attempts: number
  error: string
  createdAt: Date
  diedAt: Date
}

/** A job by its definition, which types the payload, or by name and queue if the definition cannot be imported. */
export type JobRef<Payload> = JobDefinition<Payload> | { readonly name: string; readonly queue: string } | string

/** Adds a job in the caller's transaction: workers see it when that commits. */
export function add<Payload>(db: Db, job: JobRef<Payload>, payload: Payload, options: AddOptions = {}): Promise<void> {
  return addMany(db, job, [{ ...options, payload }])
}

/** Adds many jobs of one name in one statement. */
export async function addMany<Payload>(
  db: Db,
  job: JobRef<Payload>,
  wanted: ReadonlyArray<NewJob<Payload>>
): Promise<void> {
  const added = oncePerKey(wanted)
  if (added.length === 0) return
  const now = new Date()
  const { name, queue } = typeof job === 'string' ? { name: job, queue: workQueue } : job
  await db.query(store.add, [
    name,
    added.map(({ id }) => id ?? newId()),
    added.map(({ projectId }) => projectId ?? null),
    added.map(({ key }) => key ?? null),
    added.map(({ payload }) => JSON.stringify(payload ?? null)),
    added.map(({ runAt }) => runAt ?? null),
    added.map(({ maxAttempts }) => maxAttempts ?? null),
    now,
    // Workers find jobs that are due later themselves, without a notification.
    added.some(({ runAt }) => !runAt || runAt <= now),
    queue,
    writtenTrace()
  ])
}

/** Adds a job for a slot that the worker of this process has reserved. Call `begin` of the slot after the commit. */
export async function addReserved<Payload>(
  db: Db,
  { name, queue }: { readonly name: string; readonly queue: string },
  { claim, nodeId, leaseMs }: Reserved,
  { id, projectId, payload }: { id: string; projectId: string; payload: Payload }
): Promise<void> {
  const job = [id, name, projectId, JSON.stringify(payload), leaseMs, new Date(), queue]
  await db.run(store.addClaimed, [...job, claim, nodeId, writtenTrace()])
}

/** Returns the keys whose job waits or runs. The job of any other key has ended, died, or was lost. */
export async function knownKeys(db: Db, name: string, keys: string[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  return new Set((await db.query<{ key: string }>(store.knownKeys, [name, keys])).map(({ key }) => key))
}

/** Returns the ids of jobs that wait or run. */
export async function knownJobs(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  return new Set((await db.query<{ id: string }>(store.knownJobs, [ids])).map(({ id }) => id))
}

/** Returns the payloads of a project's jobs of this name that wait or run. */
export async function payloadsOf<Payload>(db: Db, job: { name: string }, projectId: string): Promise<Payload[]> {
  return (await db.query<{ payload: Payload }>(store.payloads, [job.name, projectId])).map(({ payload }) => payload)
}

/** One statement may change a key once, and two transactions that lock keys in the same order cannot deadlock. */
function oncePerKey<Payload>(wanted: ReadonlyArray<NewJob<Payload>>): ReadonlyArray<NewJob<Payload>> {
  if (!wanted.some(({ key }) => key !== undefined)) return wanted
  const byKey = new Map<string, NewJob<Payload>>()
  for (const one of wanted) {
    if (one.key === undefined) continue
    const known = byKey.get(one.key)
    if (!known || (known.runAt?.getTime() ?? 0) > (one.runAt?.getTime() ?? 0)) byKey.set(one.key, one)
  }
  const keys = [...byKey.keys()].sort()
  return [...wanted.filter(({ key }) => key === undefined), ...keys.map((key) => byKey.get(key)!)]
}

/** Dead jobs, the newest first; with `before`, only those with a smaller id. */
export function dead(db: Db, limit: number, before: string | null = null): Promise<DeadJob[]> {
  return db.query<DeadJob>(store.listDead, [limit, before])
}

/**
 * Runs a dead job again, with all its attempts. False if it does not exist. If a job of its key waits already, that one
 * takes its place.
 */
export async function revive(db: Db, id: string): Promise<boolean> {
  return (await db.query(store.revive, [id])).length > 0
}

/** The numbers of jobs that are ready, deferred, running and dead. */
export async function countJobs(db: Db): Promise<Record<string, number>> {
  const counts = await db.one<Record<string, string>>(store.countByState)
  return Object.fromEntries(Object.entries(counts ?? {}).map(([state, count]) => [state, Number(count)]))
}

/** The seconds that the oldest ready job of each queue has waited; 0 for `work` if none is ready. */
export async function oldestReady(db: Db): Promise<Record<string, number>> {
  const rows = await db.query<{ queue: string; seconds: number }>(store.oldestReady)
  return { [workQueue]: 0, ...Object.fromEntries(rows.map(({ queue, seconds }) => [queue, seconds])) }
}

/** Deletes jobs that died before a time. Returns their number. */
export async function forgetDead(db: Db, before: Date): Promise<number> {
  return db.run(store.forgetDead, [before])
}
