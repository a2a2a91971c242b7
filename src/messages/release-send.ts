import type { Db, Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/definition.ts'
import { add, payloadsOf } from '../platform/jobs/jobs.ts'
import { scheduleRetry } from './jobs.ts'
import { releaseSendRows, type SendRange } from './maintenance-store.ts'
import type { MessageRow } from './message.ts'

// Messages of a large send have no `due_at`, so that no index changes when they are settled (docs/decisions/0087). One
// job for the request finds those that a crash left open, when their time would have come. Most runs find none.

/** From so many messages on, the job costs less than their times. */
export const fewestUntimed = 100
/** A second after the time that `releasedAt` computes for them. */
const runAfterMs = 36_000
const releaseSendRef = { name: 'delivery.release_send', queue: 'retries' }

/** Ids of one request lie close together. Other messages in between are not harmed: their time is computed from themselves. */
export async function scheduleRelease(tx: Db, projectId: ProjectId, rows: MessageRow[]): Promise<void> {
  const ids = rows.filter(({ due_at, owner }) => due_at === null && owner !== null).map(({ trigger_id }) => trigger_id)
  if (ids.length === 0) return
  ids.sort()
  const range: SendRange = { first: ids[0]!, last: ids.at(-1)! }
  await add(tx, releaseSendRef, { projectId, ...range }, { projectId, runAt: new Date(Date.now() + runAfterMs) })
}

export const releaseSendJob = (pool: Pool) =>
  defineJob<SendRange & { projectId: ProjectId }>({
    ...releaseSendRef,
    run: ({ projectId, ...range }) =>
      againIfRaced(() =>
        pool.transaction(async (tx) => {
          if ((await releaseSendRows(tx, projectId, range)) > 0) await scheduleRetry(tx, projectId, new Date())
        })
      )
  })

/** The large sends whose job has not run. */
export const openSends = (db: Db, projectId: ProjectId) => payloadsOf<SendRange>(db, releaseSendRef, projectId)
