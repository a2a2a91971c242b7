import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { addMany, knownKeys } from '../../platform/jobs/jobs.ts'
import type { Wake } from '../wake.ts'

/** Names one batch of a trigger. It is the payload of stored jobs. */
export interface BatchRef extends Wake {
  number: number
}

export const batchJobRef = { name: 'campaigns.chunk', queue: 'expansions' }

/** Batches due later than this get their jobs when their trigger is next examined. */
const soonMs = 60_000

const keyOf = (triggerId: string, number: number) => `${triggerId}:${number}`

export const addBatchJobs = (
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  added: { number: number; dueAt: Date }[]
) =>
  addMany<BatchRef>(
    db,
    batchJobRef,
    added.map(({ number, dueAt }) => ({
      payload: { projectId, triggerId, number },
      projectId,
      key: keyOf(triggerId, number),
      runAt: dueAt
    }))
  )

/** Adds the jobs that a crash or a restored backup lost. Jobs that wait or run stay as they are. */
export async function restoreBatchJobs(
  db: Db,
  projectId: ProjectId,
  triggerId: string,
  open: { number: number; due_at: Date }[]
): Promise<void> {
  const keys = open.map(({ number }) => keyOf(triggerId, number))
  const known = await knownKeys(db, batchJobRef.name, keys)
  const soon = Date.now() + soonMs
  const lost = open.filter(({ number, due_at }) => !known.has(keyOf(triggerId, number)) && due_at.getTime() < soon)
  await addBatchJobs(
    db,
    projectId,
    triggerId,
    lost.map(({ number, due_at }) => ({ number, dueAt: due_at }))
  )
}
