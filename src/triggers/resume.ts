import type { Messages } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import { firstIdAt, newId, type ProjectId } from '../platform/ids.ts'
import { defineJob } from '../platform/jobs/definition.ts'
import { add, addMany } from '../platform/jobs/jobs.ts'
import { inParts } from '../platform/parts.ts'
import { type Begin, beginJobRef, togetherAtMost, wakeAll } from './accept.ts'
import { wakeAfterMs } from './store.ts'

const name = 'campaigns.resume'
const atOnce = 1_000

const waiting = statement(
  'triggers.waiting',
  `select id from triggers where project_id = $1 and state = $2 and id > $3 order by id limit ${atOnce}`
)

const setBeginning = statement(
  'triggers.begin_again',
  'update triggers set begin_job = $3, wake_at = $4 where project_id = $1 and id = any($2::uuid[])'
)

/** Those that were only accepted begin together, as usual, and know the job that begins them. */
const beginAgain = (pool: Pool, projectId: ProjectId, ids: string[]) =>
  pool.transaction(async (tx) => {
    const parts = inParts(ids, togetherAtMost).map((triggerIds) => ({ id: newId(), triggerIds }))
    const wakeAt = new Date(Date.now() + wakeAfterMs)
    for (const { id, triggerIds } of parts) await tx.run(setBeginning, [projectId, triggerIds, id, wakeAt])
    const jobs = parts.map(({ id, triggerIds }) => ({ id, payload: { projectId, triggerIds }, projectId }))
    await addMany<Begin>(tx, beginJobRef, jobs)
  })

/** In the transaction that resumes a project: its triggers are woken. */
export const scheduleResume = (tx: Db, projectId: ProjectId): Promise<void> =>
  add(tx, name, { projectId }, { projectId, key: projectId })

/**
 * While a project is paused, the jobs of its triggers end without doing anything, so that none of them runs again and
 * again. This adds them anew: the trigger rows are the truth.
 */
export const resumeJob = (pool: Pool, messages: Pick<Messages, 'paused'>) =>
  defineJob<{ projectId: ProjectId }>({
    name,
    async run({ projectId }, { signal }) {
      for (const [state, again] of [
        ['running', wakeAll],
        ['accepted', beginAgain]
      ] as const) {
        let after = firstIdAt(0)
        for (;;) {
          signal.throwIfAborted()
          if (await messages.paused(projectId)) return
          const ids = (await pool.query<{ id: string }>(waiting, [projectId, state, after])).map(({ id }) => id)
          await again(pool, projectId, ids)
          if (ids.length < atOnce) break
          after = ids.at(-1)!
        }
      }
    }
  })
