import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { addMany } from '../platform/jobs/jobs.ts'
import type { Bucket } from './journey.ts'

/** Names users who are due together. It is the payload of stored jobs. */
export interface DueStep {
  projectId: ProjectId
  campaignId: string
  version: number
  step: number
  dueAt: string
}

export const stepJobRef = { name: 'journeys.step', queue: 'journeys' }

/** Adds the jobs of users who wait. Safe to repeat: users who are due together have one job. */
export const addStepJobs = (db: Db, projectId: ProjectId, buckets: Bucket[]): Promise<void> =>
  addMany<DueStep>(
    db,
    stepJobRef,
    buckets.map(({ dueAt, ...bucket }) => {
      const payload = { projectId, ...bucket, dueAt: dueAt.toISOString() }
      const { campaignId, version, step } = bucket
      return { payload, projectId, key: JSON.stringify([projectId, campaignId, version, step, dueAt]), runAt: dueAt }
    })
  )
