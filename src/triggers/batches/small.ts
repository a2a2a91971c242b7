import {
  findTargets,
  loadRecipients,
  notAfterOf,
  type Ready,
  readAudience,
  resolveMany,
  type StoredTarget,
  type Versions
} from '../../campaigns/campaigns.ts'
import type { MessageRow, Messages } from '../../messages/messages.ts'
import { isDataFault, type Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { defineJob, type JobContext } from '../../platform/jobs/definition.ts'
import { steadyMs } from '../../platform/time.ts'
import { SegmentFailed } from '../../segments/segments.ts'
import { type Begin, beginJobRef, smallTargets, wakeAll } from '../accept.ts'
import { addToCounters, type OnEnded } from '../counters-store.ts'
import * as chunks from './batch-store.ts'
import { chunkMs, deltaOf, type Sorted, sortRecipients } from './eligibility.ts'
import { followedByOthers, unlessGone } from './job-errors.ts'
import type { Waiting } from './waiting.ts'

/** How long a job waits for gateways. What they have not taken by then goes on by itself, and others get a turn. */
const dispatchMs = 3_000

/** A trigger whose whole audience fits into one step. */
interface Small {
  work: chunks.Work
  ready: Ready
  targets: StoredTarget[]
  reason: string | null
}

/** Their templates take so long that each had better go on by itself. */
class TooSlow extends Error {}

export interface BeginningOptions {
  pool: Pool
  messages: Pick<Messages, 'persist' | 'findUnanswered' | 'dispatch' | 'paused'>
  versions: Versions
  onEnded: OnEnded
  waiting: Waiting
}

/**
 * Triggers that were accepted together. Those for a few targets, which are most, are looked up, written and handed over
 * together: as many statements for fifty as for one. All others are woken to be expanded by themselves.
 */
export function createBeginning({ pool, messages, versions, onEnded, waiting }: BeginningOptions) {
  async function run({ projectId, triggerIds }: Begin, context: JobContext): Promise<void> {
    const { attempt, signal } = context
    // The resume of the project adds this job anew.
    if (await messages.paused(projectId)) return
    const works = await chunks.loadWorks(pool, projectId, triggerIds, smallTargets)
    const fresh = works.filter(({ outcome, cursor }) => outcome === null && cursor === '')
    const all = await Promise.all(fresh.map((work) => asSmall(projectId, work)))
    const small = all.filter((one) => one !== undefined)
    const known = new Set(small.map(({ work }) => work.id))
    await wakeAll(
      pool,
      projectId,
      fresh.flatMap(({ id }) => (known.has(id) ? [] : id))
    )
    const rows = small.length > 0 ? await writeOrWake(projectId, small) : []
    // The process that ran this before has died, or lost its lease and follows these still.
    // Those of a trigger that was canceled since are left to the job that cancels it.
    const begun = works.filter(({ outcome }) => outcome !== null && outcome !== 'canceled').map(({ id }) => id)
    if (attempt > 1 && begun.length > 0) rows.push(...(await messages.findUnanswered(projectId, begun)))
    if (rows.length === 0) return
    const others = await waiting(context, rows.length, () =>
      messages.dispatch(projectId, rows, { deadline: steadyMs() + dispatchMs, signal })
    )
    if (others.length > 0) throw followedByOthers()
  }

  async function asSmall(
    projectId: ProjectId,
    { targets, ...work }: chunks.Work & { targets: StoredTarget[] | null }
  ): Promise<Small | undefined> {
    if (work.audience === 'broadcast') return undefined
    const ready = await versions.get(projectId, work.campaign_id, work.campaign_version)
    const { default_audience, throttle_per_second, frequency_cap, quiet_hours, live_activity } = ready.definition
    if (throttle_per_second || frequency_cap || quiet_hours || live_activity) return undefined
    if (work.audience === 'targets') return targets ? { work, ready, targets, reason: null } : undefined
    if (!default_audience) return { work, ready, targets: [], reason: 'no_audience' }
    const audience = readAudience(default_audience)
    if ('broadcast' in audience || audience.targets.length > smallTargets) return undefined
    return { work, ready, targets: audience.targets, reason: null }
  }

  /** One that cannot be done must not keep the others from it: then each is tried by itself. */
  async function writeOrWake(projectId: ProjectId, small: Small[]): Promise<MessageRow[]> {
    try {
      return await againIfRaced(() => write(projectId, small))
    } catch (error) {
      if (!(error instanceof SegmentFailed) && !(error instanceof TooSlow) && !isDataFault(error)) throw error
      await wakeAll(
        pool,
        projectId,
        small.map(({ work }) => work.id)
      )
      return []
    }
  }

  async function write(projectId: ProjectId, small: Small[]): Promise<MessageRow[]> {
    const wanted = small.map(({ work, ready, targets }) => ({
      segment: ready.segmentFor(work),
      targets
    }))
    const resolved = await resolveMany(pool, projectId, wanted)
    return pool.transaction(async (tx) => {
      const at = new Date()
      const begun = small.map(({ work, reason }) => ({ id: work.id, reason }))
      const ours = await chunks.expandAtOnce(tx, projectId, begun, at)
      const parts = small
        .map((one, index) => ({ ...one, resolved: resolved[index]! }))
        .filter(({ work }) => ours.has(work.id))
      const deviceIds = [...new Set(parts.flatMap((part) => part.resolved.deviceIds))]
      const recipients = await loadRecipients(tx, projectId, deviceIds)
      const known = new Map(recipients.map((one) => [one.device_id, one]))
      const targets = await findTargets(tx, projectId, undefined, recipients)
      const sorted: Sorted[] = []
      for (const { work, ready, resolved } of parts) {
        const one = await sortRecipients({
          trigger: work,
          ready,
          recipients: resolved.deviceIds.flatMap((id) => known.get(id) ?? []),
          targets,
          full: new Set(),
          notAfter: notAfterOf(ready.definition, work.accepted_at)
        })
        if (one.held.size > 0 || Date.now() - at.getTime() > chunkMs) throw new TooSlow()
        sorted.push(one)
      }
      const drafts = sorted.flatMap((one) => one.drafts)
      const rows = await messages.persist(tx, projectId, drafts)
      const unresolved = parts.flatMap(({ work, resolved }) =>
        resolved.skips.map((skip) => ({ ...skip, triggerId: work.id }))
      )
      const passed = [...unresolved, ...sorted.flatMap(({ skips }) => skips)]
      const skips = Map.groupBy(await chunks.addSkips(tx, projectId, passed, at), ({ triggerId }) => triggerId)
      // Fewer than there were drafts, where a user was deleted meanwhile.
      const written = Map.groupBy(rows, ({ trigger_id }) => trigger_id)
      const deltas = parts.map(({ work: { id } }) =>
        deltaOf(id, written.get(id)?.length ?? 0, skips.get(id) ?? [], new Map())
      )
      await addToCounters(tx, projectId, deltas, onEnded)
      return rows
    })
  }

  return defineJob<Begin>({ ...beginJobRef, maxAttempts: 5, run: unlessGone(run) })
}
