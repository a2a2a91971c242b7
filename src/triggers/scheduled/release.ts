import type { Messages } from '../../messages/messages.ts'
import type { Db, Pool } from '../../platform/db/db.ts'
import { againIfRaced } from '../../platform/db/races.ts'
import { newId, type ProjectId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/definition.ts'
import { addMany } from '../../platform/jobs/jobs.ts'
import { inParts } from '../../platform/parts.ts'
import { addToCounters, type OnEnded } from '../counting/counter-store.ts'
import { noChange } from '../counting/delta.ts'
import { type Start, startedTogether, startJobRef } from '../wake.ts'
import { cancelInactive, startDue } from './release-store.ts'

const releaseJobRef = { name: 'campaigns.release', queue: 'triggers' }

/** Adds the jobs that start triggers at their time. Triggers of one time start together. */
export async function releaseAt(tx: Db, projectId: ProjectId, triggers: (readonly [string, Date])[]): Promise<void> {
  const groups = [...Map.groupBy(triggers, ([, dueAt]) => dueAt.getTime())]
  const jobs = groups.flatMap(([dueAt, some]) =>
    inParts(some, startedTogether).map((part) => ({
      payload: { projectId, triggerIds: part.map(([id]) => id) },
      projectId,
      runAt: new Date(dueAt)
    }))
  )
  await addMany<Start>(tx, releaseJobRef, jobs)
}

/** Adds the jobs that start those of the triggers that are due by now. */
export const releaseNow = (db: Db, projectId: ProjectId, triggerIds: string[]): Promise<void> =>
  releaseAt(
    db,
    projectId,
    triggerIds.map((id) => [id, new Date()] as const)
  )

/**
 * Starts scheduled triggers that are due. Their rows decide: a trigger that was moved, canceled or started since stays as it
 * is. One whose campaign is no longer active is canceled.
 */
export const releaseJob = ({ pool, paused, onEnded }: { pool: Pool; paused: Messages['paused']; onEnded: OnEnded }) =>
  defineJob<Start>({
    ...releaseJobRef,
    async run({ projectId, triggerIds }) {
      // The resume of the project adds this job again.
      if (await paused(projectId)) return
      await againIfRaced(() =>
        pool.transaction(async (tx) => {
          const at = new Date()
          const canceled = await cancelInactive(tx, projectId, triggerIds, at)
          await addToCounters(tx, projectId, canceled.map(noChange), onEnded)
          const id = newId()
          const started = await startDue(tx, projectId, triggerIds, at, id)
          if (started.length > 0)
            await addMany<Start>(tx, startJobRef, [{ id, payload: { projectId, triggerIds: started }, projectId }])
        })
      )
    }
  })
