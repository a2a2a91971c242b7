import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob, recurring } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import { listRetentions } from '../projects/projects.ts'
import { overdueBuckets, overdueOfProject, sweepJourneyWindow } from './maintenance-store.ts'
import { addStepJobs } from './step-job.ts'

const resumeName = 'journeys.resume'

/** Adds the job that wakes the journeys of a project, in the transaction that resumes the project. */
export const scheduleResume = (tx: Db, projectId: ProjectId): Promise<void> =>
  add(tx, resumeName, { projectId }, { projectId, key: projectId })

export const resumeJourneysJob = (pool: Pool) =>
  defineJob<{ projectId: ProjectId }>({
    name: resumeName,
    async run({ projectId }) {
      await addStepJobs(pool, projectId, await overdueOfProject(pool, projectId, new Date()))
    }
  })

/** A step that is overdue by this much has lost its job, or waits for its project to be resumed. */
const lostMs = 30_000

/** Adds the jobs of overdue steps again: only the rows of the journeys count. */
export const sweepJourneysJob = (pool: Pool) =>
  recurring({
    name: 'journeys.sweep',
    everyMs: lostMs,
    async run() {
      const late = await overdueBuckets(pool, new Date(Date.now() - lostMs))
      for (const [projectId, buckets] of Map.groupBy(late, (one) => one.projectId))
        await addStepJobs(pool, projectId, buckets)
    }
  })

/** Runs hourly: deletes journeys that ended long ago. */
export const keepJourneysJob = (pool: Pool) =>
  recurring({
    name: 'journeys.keep',
    everyMs: 3_600_000,
    async run({ signal }) {
      for (const { projectId } of await listRetentions(pool))
        while ((await sweepJourneyWindow(pool, projectId, new Date())) > 0) signal.throwIfAborted()
    }
  })
