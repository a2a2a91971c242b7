import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { firstIdAt, newId, type ProjectId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/definition.ts'
import { add, addMany } from '../platform/jobs/jobs.ts'
import { inParts } from '../platform/parts.ts'
import { assignStartJob, listInState, resumedTogether } from './maintenance-store.ts'
import { releaseNow } from './scheduled/release.ts'
import { type Start, startedTogether, startJobRef, wakeAll } from './wake.ts'

const name = 'campaigns.resume'

/** Adds the job that wakes the triggers of a project, in the transaction that resumes the project. */
export const scheduleResume = (tx: Db, projectId: ProjectId): Promise<void> =>
  add(tx, name, { projectId }, { projectId, key: projectId })

/**
 * Adds the jobs of triggers again. While a project is paused, these jobs end at once instead of polling; the trigger rows
 * show which triggers still need a job.
 */
export const resumeJob = (pool: Pool, messages: Pick<Messages, 'paused'>) =>
  defineJob<{ projectId: ProjectId }>({
    name,
    async run({ projectId }, { signal }) {
      for (const [state, resume] of [
        ['running', wakeAll],
        ['accepted', startAgain],
        ['scheduled', releaseNow]
      ] as const) {
        let after = firstIdAt(0)
        for (;;) {
          signal.throwIfAborted()
          if (await messages.paused(projectId)) return
          const ids = await listInState(pool, projectId, state, after)
          await resume(pool, projectId, ids)
          if (ids.length < resumedTogether) break
          after = ids.at(-1)!
        }
      }
    }
  })

/** Starts accepted triggers together, as when they were accepted. */
const startAgain = (pool: Pool, projectId: ProjectId, ids: string[]) =>
  pool.transaction(async (tx) => {
    const starts = inParts(ids, startedTogether).map((triggerIds) => ({ id: newId(), triggerIds }))
    for (const { id, triggerIds } of starts) await assignStartJob(tx, projectId, triggerIds, id)
    const jobs = starts.map(({ id, triggerIds }) => ({ id, payload: { projectId, triggerIds }, projectId }))
    await addMany<Start>(tx, startJobRef, jobs)
  })
