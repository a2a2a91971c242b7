import type { Db } from '../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import type { Bucket, Journey } from './journey.ts'
import { gotNothing, keepMsOf, type Plan, shownMs } from './plan.ts'
import { endJourneys, lockDue } from './steps-store.ts'

const stoppedTogether = 500

/** Ends journeys whose next message is not sent. */
export async function stop(
  tx: Db,
  projectId: ProjectId,
  plan: Plan,
  members: Journey[],
  reason: string,
  now: Date
): Promise<void> {
  const state = 'stopped'
  const groups = Map.groupBy(members, (one) => gotNothing({ ...one, state }))
  for (const [nothing, some] of groups) {
    const ended = { state, reason, triggerId: null, keepMs: nothing ? shownMs : keepMsOf(plan) } as const
    const ids = some.map(({ id }) => id)
    await endJourneys(tx, projectId, ids, ended, now)
  }
}

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
