import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { addToCounters, type OnEnded } from '../counting/counter-store.ts'
import { addSkips } from './batch-store.ts'
import { deltaOf } from './draft.ts'

/** A user whom a trigger of the service itself left out before it was made. */
export interface SkippedUser {
  triggerId: string
  userId: string
  reason: string
}

/** Counts users as skipped on triggers that were accepted in the same transaction. */
export const createSkipUsers =
  (onEnded: OnEnded) =>
  async (tx: Db, projectId: ProjectId, users: SkippedUser[]): Promise<void> => {
    const skips = users.map(({ triggerId, userId, reason }) => ({
      triggerId,
      kind: 'user_id' as const,
      value: userId,
      reason,
      userId
    }))
    const added = await addSkips(tx, projectId, skips, new Date())
    const deltas = [...Map.groupBy(added, ({ triggerId }) => triggerId)].map(([id, some]) =>
      deltaOf(id, [], some, new Map())
    )
    await addToCounters(tx, projectId, deltas, onEnded)
  }
