import type { Pool } from '../../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../../platform/ids.ts'
import { recurring } from '../../platform/jobs/definition.ts'
import { listRetentions } from '../../projects/projects.ts'
import { dueApprovals, sweepApprovals } from './store.ts'

const everyMs = 30_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Ends approvals that no person decided within 24 hours, and deletes old ones once an hour. */
export const approvalsJob = (
  pool: Pool,
  retentionDays: number,
  expire: (projectId: ProjectId, id: string) => Promise<void>
) => {
  let sweptMs = 0
  return recurring({
    name: 'oversight.approvals',
    everyMs,
    async run({ signal }) {
      // An approval that cannot be ended does not hold up the others: its error is thrown after all of them were tried.
      let failed: unknown
      for (const { project_id, id } of await dueApprovals(pool)) {
        signal.throwIfAborted()
        await expire(project_id, id).catch((error: unknown) => {
          failed ??= error
        })
      }
      if (failed !== undefined) throw failed
      if (Date.now() - sweptMs < hourMs) return
      sweptMs = Date.now()
      const before = firstIdAt(Date.now() - retentionDays * dayMs)
      for (const { projectId } of await listRetentions(pool))
        while ((await sweepApprovals(pool, projectId, before)) > 0) signal.throwIfAborted()
    }
  })
}
