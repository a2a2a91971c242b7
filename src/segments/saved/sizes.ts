import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { recurring } from '../../platform/jobs/definition.ts'
import { steadyMs } from '../../platform/time.ts'
import { listRetentions } from '../../projects/projects.ts'
import { visitedOf } from '../../users/users.ts'
import { type CompiledSegment, compileSegment } from '../compile.ts'
import type { Segment } from '../language.ts'
import { countBatch, countUsers, firstUser, type SegmentAt, SegmentFailed } from '../store.ts'
import { patiently, SegmentBusy } from '../turns.ts'
import { type FoundByIndex, findByIndex, isKept } from './indexed.ts'
import { countIndexed } from './indexed-store.ts'
import { writeOut } from './refs.ts'
import { putSize, segmentsDue, sweepSizes } from './sizes-store.ts'
import { findSaved } from './store.ts'
import { loadKnown } from './whole.ts'

/** How long a request counts. */
const requestMs = 3_000
/** How long the daily job counts one segment. */
const dailyMs = 60_000
const usersAtOnce = 10_000
const dayMs = 86_400_000
/** Days of which sizes are kept. */
const keptDays = 400

export interface Size {
  /** Users that match. */
  users: number
  /** Of these, users with a device that a push reaches. */
  reachable_users: number
  /** Matching devices that a push reaches. */
  devices: number
  /** false: the numbers are lower bounds. */
  complete: boolean
  /** Why it was not counted completely. */
  reason: string | null
  /** If the time was too short: how many users were compared, and about how many there are, if that is known. */
  visited?: number
  about?: number
}

export const sizesOf = (pool: Pool) => ({
  /** Counts a saved segment now, for up to three seconds. Undefined: there is none of this id. */
  count: (projectId: ProjectId, id: string) => countSaved(pool, projectId, id, requestMs),

  /** Counts a segment that is not saved, for up to three seconds, or until the caller is gone. */
  countDraft(projectId: ProjectId, segment: Segment, gone: AbortSignal): Promise<Size> {
    const deadline = steadyMs() + requestMs
    return countWhole(pool, projectId, segment, () => (gone.aborted ? 0 : deadline))
  },

  /** Counts each saved segment once a day. A segment that fails is tried again the next day. */
  job: recurring({
    name: 'segments.sizes',
    everyMs: 3_600_000,
    async run({ signal }) {
      const day = new Date().toISOString().slice(0, 10)
      const first = new Date(Date.now() - keptDays * dayMs).toISOString().slice(0, 10)
      for (const { projectId } of await listRetentions(pool))
        for (const id of await segmentsDue(pool, projectId, day)) {
          signal.throwIfAborted()
          const size = await countSaved(pool, projectId, id, dailyMs, signal)
          // A busy project is counted an hour later: a size of none would stand in its history.
          if (!size || size.reason === 'busy') continue
          const { reason: _, visited: __, about: ___, ...counted } = size
          await putSize(pool, projectId, id, { ...counted, day, counted_at: new Date() })
          await sweepSizes(pool, projectId, id, first)
        }
    }
  })
})

async function countSaved(pool: Pool, projectId: ProjectId, id: string, forMs: number, signal?: AbortSignal) {
  const saved = await findSaved(pool, projectId, id)
  const deadline = steadyMs() + forMs
  return saved && countWhole(pool, projectId, saved.segment, () => deadline, signal)
}

async function countWhole(
  pool: Pool,
  projectId: ProjectId,
  segment: Segment,
  deadline: () => number,
  signal?: AbortSignal
): Promise<Size> {
  const whole = writeOut(segment, await loadKnown(pool, projectId, [segment]))
  const now = new Date()
  const known = new Map<string, CompiledSegment>()
  const segmentAt: SegmentAt = (first, scope) => {
    const key = `${first} ${scope?.checked} ${scope?.devices} ${scope?.postpones}`
    const compiled = known.get(key) ?? compileSegment(whole, {}, now, first, scope)
    known.set(key, compiled)
    return compiled
  }
  const count = (nextBatch: NextBatch) => countSize(deadline, signal, segmentAt, nextBatch)
  const found = await findByIndex(pool, projectId, whole, signal)
  if (found) {
    const size = await count(byIndex(pool, projectId, segmentAt, found))
    if (await isKept(pool, projectId, found)) return size
  }
  const size = await count(byScan(pool, projectId, segmentAt))
  return size.visited ? { ...size, ...(await visitedOf(pool, projectId, size.visited)) } : size
}

interface CountedBatch {
  users: number
  reachable_users: number
  devices: number
  /** The users that were compared; 0 if an index named them, which says nothing about the others. */
  visited: number
  /** Null after the last batch. */
  next: string | null
}

/** Counts the next batch of users, until a deadline, by two statements at a time: a project has two turns (`turns.ts`). */
type NextBatch = (from: string, deadline: number) => Promise<CountedBatch>

const byScan =
  (pool: Pool, projectId: ProjectId, segment: SegmentAt): NextBatch =>
  async (from, deadline) => {
    const wanted = { size: usersAtOnce, sampleSize: 0, attributesType: null }
    const [users, reached] = await Promise.all([
      patiently(() => countUsers(pool, projectId, segment, from, usersAtOnce), deadline),
      patiently(() => countBatch(pool, projectId, segment, from, wanted), deadline)
    ])
    const { devices, next } = reached
    return { users, reachable_users: reached.users, devices, visited: usersAtOnce, next }
  }

const byIndex = (
  pool: Pool,
  projectId: ProjectId,
  segment: SegmentAt,
  { condition, isWhole, starts }: FoundByIndex
): NextBatch => {
  const count = (place: number, deadline: number) => {
    const [from, to = null] = [starts[place], starts[place + 1]]
    if (from === undefined) return none
    return patiently(() => countIndexed(pool, projectId, isWhole ? null : segment, condition, from, to), deadline)
  }
  return async (from, deadline) => {
    const place = starts.findIndex((start) => start >= from)
    const [one, other] = await Promise.all([count(place, deadline), count(place + 1, deadline)])
    return {
      users: one.users + other.users,
      reachable_users: one.reachable_users + other.reachable_users,
      devices: one.devices + other.devices,
      visited: 0,
      next: starts[place + 2] ?? null
    }
  }
}

const none = { users: 0, reachable_users: 0, devices: 0 }

async function countSize(
  deadline: () => number,
  signal: AbortSignal | undefined,
  segment: SegmentAt,
  nextBatch: NextBatch
): Promise<Size> {
  const size: Size = { users: 0, reachable_users: 0, devices: 0, complete: true, reason: null }
  // It compares with properties of a trigger, and there is none.
  if (segment(1).matchesNone) return { ...size, complete: false, reason: 'missing_trigger_property' }
  let visited = 0
  const cutOff = (reason: string) => ({ ...size, complete: false, reason, ...(visited > 0 && { visited }) })
  try {
    for (let user: string | null = firstUser; user !== null; ) {
      signal?.throwIfAborted()
      if (steadyMs() > deadline()) return cutOff('too_many_users')
      const counted = await nextBatch(user, deadline())
      visited += counted.visited
      size.users += counted.users
      size.reachable_users += counted.reachable_users
      size.devices += counted.devices
      user = counted.next
    }
    return size
  } catch (error) {
    if (error instanceof SegmentFailed) return { ...size, complete: false, reason: error.reason }
    // Other counts of the project had all turns until the deadline.
    if (error instanceof SegmentBusy) return cutOff('busy')
    throw error
  }
}
