import {
  isOfUsers,
  lateMs,
  nextAfter,
  occurrenceId,
  occurrencesIn,
  type Schedule,
  wallText
} from '../campaigns/campaigns.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { add } from '../platform/jobs/jobs.ts'
import type { NewTrigger } from '../triggers/triggers.ts'
import { advanceSchedule, lockSchedule, type ScheduleRow } from './store.ts'

/** Names the schedule of one campaign. It is the payload of stored jobs. */
export interface Wake {
  projectId: ProjectId
  campaignId: string
}

export const occurJobRef = { name: 'schedules.occur', queue: 'triggers' }

/** Occurrences that one transaction makes at most. */
const mostAtOnce = 200

/** Adds the job that makes the occurrences of a schedule. Safe to repeat: at most one such job waits. */
export const wakeAt = (db: Db, { projectId, campaignId }: Wake, runAt?: Date) =>
  add<Wake>(db, occurJobRef, { projectId, campaignId }, { projectId, key: `${projectId} ${campaignId}`, runAt })

/** Plans the next occurrence of a schedule after the last one that was made. */
export async function plan(tx: Db, ref: Wake, { schedule, done_until }: ScheduleRow): Promise<void> {
  const next = nextAfter(schedule, done_until.getTime())
  const nextAt = next === undefined ? null : new Date(next)
  await advanceSchedule(tx, ref.projectId, ref.campaignId, { doneUntil: done_until, nextAt })
  if (nextAt) await wakeAt(tx, ref, nextAt)
}

/**
 * The occurrences that one transaction makes, and the instant up to which these are all. At the local time of users an instant
 * has up to some forty of them, and the next round starts after it: so a round never ends within one.
 */
export function nextRound(schedule: Schedule, from: number, now: number) {
  const found = occurrencesIn(schedule, from, now, mostAtOnce + 1)
  if (found.length <= mostAtOnce) return { found, until: now }
  const last = found.at(-1)!.at
  const whole = found.filter(({ at }) => at < last)
  return { found: whole, until: whole.at(-1)!.at }
}

/**
 * Makes the triggers of the occurrences that are due, and plans the next one, in one transaction. The lock of the row and the
 * ids of the triggers make each occurrence once, on any number of nodes and if the clock is set back. Occurrences that are
 * later than the schedule allows are skipped.
 */
export async function occur(
  tx: Db,
  ref: Wake,
  accept: (tx: Db, projectId: ProjectId, triggers: NewTrigger[]) => Promise<unknown>,
  now: number
): Promise<void> {
  const { projectId, campaignId } = ref
  const row = await lockSchedule(tx, projectId, campaignId)
  if (!row) return
  const { schedule } = row
  const from = Math.max(row.done_until.getTime(), now - lateMs(schedule))
  const { found, until } = from < now ? nextRound(schedule, from, now) : { found: [], until: from }
  if (found.length > 0)
    await accept(
      tx,
      projectId,
      found.map((one) => triggerOf(projectId, campaignId, schedule, one))
    )
  await plan(tx, ref, { schedule, done_until: new Date(until) })
}

function triggerOf(
  projectId: ProjectId,
  campaignId: string,
  schedule: Schedule,
  occurrence: { at: number; local: number }
): NewTrigger {
  const ofUsers = isOfUsers(schedule)
  return {
    id: occurrenceId(projectId, campaignId, occurrence, ofUsers),
    campaignId,
    audience: null,
    properties: {},
    source: {
      kind: 'schedule',
      at: new Date(occurrence.at).toISOString(),
      ...(ofUsers && { local: wallText(occurrence.local) })
    }
  }
}
