import type { Db, Pool } from '../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { defineJob, recurring, workQueue } from '../platform/jobs/definition.ts'
import { forgetDead } from '../platform/jobs/jobs.ts'
import type { Nodes } from '../platform/nodes/nodes.ts'
import { sweepAudit } from './audit/audit-store.ts'
import { sweepInstallationAudit } from './audit/installation-store.ts'
import { sweepReservations } from './recipients-store.ts'
import { sweepSessions } from './session-store.ts'
import * as store from './store.ts'

/** Deletes a batch of the rows that a project has in one capability, and returns their number. */
export type EraseWindow = (db: Db, projectId: ProjectId) => Promise<number>

/**
 * Erases a deleted project batch by batch: one cascade over a million users would be one transaction of half a minute.
 * Safe to run twice, and late: it only deletes rows of a project that is marked as deleted, even if a new project has
 * its id by now.
 */
export const eraseProjectJob = (pool: Pool, windows: EraseWindow[]) =>
  defineJob<{ projectId: ProjectId }>({
    name: 'projects.erase',
    async run({ projectId }, { signal }) {
      const windowOf = (erase: EraseWindow) =>
        pool.transaction(async (tx) => ((await store.holdDeleted(tx, projectId)) ? erase(tx, projectId) : 0))
      for (const erase of windows) while ((await windowOf(erase)) > 0) signal.throwIfAborted()
      await pool.transaction(async (tx) => {
        // Waits for writers of the project; from here on none can write. Rows that were added meanwhile are deleted
        // too.
        if (!(await store.lockDeleted(tx, projectId))) return
        for (const erase of windows) while ((await erase(tx, projectId)) > 0) signal.throwIfAborted()
        await store.deleteKeys(tx, projectId)
        await store.deleteTokens(tx, projectId)
        await store.eraseProject(tx, projectId)
      })
    }
  })

/** The job that an operator's `tidings resume` adds. */
export const resumeAll = { name: 'projects.resume_all', queue: workQueue } as const
const projectsAtOnce = 100

/** Resumes the projects that a restore paused; those that were paused before stay so. Safe to run twice. */
export const resumeAllJob = (pool: Pool, projects: { resume(actor: string, projectId: ProjectId): Promise<unknown> }) =>
  defineJob<{ since: string }>({
    name: resumeAll.name,
    async run({ since }, { signal }) {
      for (;;) {
        const paused = await store.listPausedAt(pool, new Date(since), projectsAtOnce)
        for (const { project_id } of paused) {
          signal.throwIfAborted()
          await projects.resume('restore', project_id)
        }
        if (paused.length < projectsAtOnce) return
      }
    }
  })

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Dead jobs are kept for operators for a month. */
const deadJobDays = 30

/** An expired key stays in the lists for this long, so that a refused caller can find out why. */
const expiredKeyDays = 30

/** Runs hourly: deletes expired rows. */
export const sweepJob = (pool: Pool, nodes: Pick<Nodes, 'sweep'>, auditDays: number) =>
  recurring({
    name: 'platform.sweep',
    everyMs: hourMs,
    async run({ signal }) {
      await nodes.sweep()
      await sweepSessions(pool, new Date())
      const expiredBefore = new Date(Date.now() - expiredKeyDays * dayMs)
      await forgetDead(pool, new Date(Date.now() - deadJobDays * dayMs))
      const before = firstIdAt(Date.now() - auditDays * dayMs)
      while ((await sweepInstallationAudit(pool, before)) > 0) signal.throwIfAborted()
      for (const { project_id } of await store.listProjectIds(pool)) {
        await store.sweepExpiredKeys(pool, project_id, expiredBefore)
        await sweepReservations(pool, project_id)
        while ((await sweepAudit(pool, project_id, before)) > 0) signal.throwIfAborted()
      }
    }
  })
