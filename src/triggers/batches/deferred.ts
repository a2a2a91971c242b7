import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { addToCounters, type OnEnded } from '../counting/counter-store.ts'
import { type Delta, noChange, skipPlanned } from '../counting/delta.ts'
import { shrinkDeferredBatches } from './batch-store.ts'

/**
 * Cancels the deferred messages of users that are being deleted. The caller has locked their devices, so that no batch
 * defers them again.
 */
export async function cancelDeferred(tx: Db, projectId: ProjectId, userIds: string[], onEnded: OnEnded): Promise<void> {
  const deltas = new Map<string, Delta>()
  for (const { trigger_id: id, devices, empty } of await shrinkDeferredBatches(tx, projectId, userIds)) {
    const delta = deltas.get(id) ?? noChange(id)
    deltas.set(id, delta)
    skipPlanned(delta, 'canceled', devices)
    if (empty) delta.openBatches -= 1
  }
  await addToCounters(tx, projectId, [...deltas.values()], onEnded)
}
