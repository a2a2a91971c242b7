import type { Db } from '../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import type { Bucket, Journey } from './journey.ts'
import { keepMsOf, type Plan } from './plan.ts'
import { endJourneys, lockDue } from './steps-store.ts'

const stoppedTogether = 500

/** Ends journeys whose next message is not sent. */
export const stop = (tx: Db, projectId: ProjectId, plan: Plan, members: Journey[], reason: string, now: Date) =>
  endJourneys(
    tx,
    projectId,
    members.map(({ id }) => id),
    { state: 'stopped', reason, triggerId: null, keepMs: keepMsOf(plan) },
    now
  )

/** Ends the journeys of all users who are due together, some in each transaction. Returns how many. */
export async function stopDue(
  write: (work: (tx: Db) => Promise<number>) => Promise<number>,
  projectId: ProjectId,
  plan: Plan,
  bucket: Bucket,
  reason: string
): Promise<number> {
  let stopped = 0
  for (let more = stoppedTogether; more === stoppedTogether; stopped += more)
    more = await write(async (tx) => {
      const members = await lockDue(tx, projectId, bucket, firstIdAt(0), stoppedTogether)
      if (members.length > 0) await stop(tx, projectId, plan, members, reason, new Date())
      return members.length
    })
  return stopped
}
