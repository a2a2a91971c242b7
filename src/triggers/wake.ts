import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { add, addMany } from '../platform/jobs/jobs.ts'
import type { WithTargets } from './store.ts'

/** Names one trigger. It is the payload of stored jobs. */
export interface Wake {
  projectId: ProjectId
  triggerId: string
}

/** Names triggers that were accepted together and start together. It is the payload of stored jobs. */
export interface Start {
  projectId: ProjectId
  triggerIds: string[]
  /** The triggers, if the process that accepted them starts them. Not stored. */
  accepted?: WithTargets[]
}

/** Starts triggers. Small ones are sent by this job, all others are woken to be expanded. */
export const startJobRef = { name: 'campaigns.begin', queue: 'triggers' }
/** Triggers of one start job. */
export const startedTogether = 50

/** Expands a trigger. Its queue differs from that of small triggers, which would wait behind it. */
export const expandJobRef = { name: 'campaigns.expand', queue: 'expansions' }

/** Adds the job that expands a trigger. Safe to repeat: at most one such job waits. */
export const wake = (db: Db, { projectId, triggerId }: Wake) =>
  add<Wake>(db, expandJobRef, { projectId, triggerId }, { projectId, key: triggerId })

export const wakeAll = (db: Db, projectId: ProjectId, triggerIds: string[]) =>
  addMany<Wake>(
    db,
    expandJobRef,
    triggerIds.map((id) => ({ payload: { projectId, triggerId: id }, projectId, key: id }))
  )
