import type { Messages } from '../messages/messages.ts'
import type { Discarding } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { deleteBatches } from './batches/batch-store.ts'
import { freeTurns } from './batches/turn-store.ts'
import { addToCounters, type OnEnded } from './counting/counter-store.ts'
import { noChange, skipPlanned } from './counting/delta.ts'
import { listDiscarded, markDiscarded } from './discard-store.ts'
import { findTrigger, terminal } from './store.ts'
import { wake } from './wake.ts'

export interface DiscardOptions {
  messages: Pick<Messages, 'discardOfTrigger'>
  onEnded: OnEnded
}

/** Triggers that are read at once. */
const readTogether = 1_000

/**
 * Cancels the triggers that waited in a backup, with all of their messages. No worker runs meanwhile, so batches that
 * were being sent belong to dead processes. Safe to run twice, and from any point of an earlier run.
 */
export const createDiscard =
  ({ messages, onEnded }: DiscardOptions) =>
  async (discarding: Discarding, projectId: ProjectId): Promise<void> => {
    const { write } = discarding
    for (let after = firstIdAt(0); ; ) {
      const ids = await write((tx) => listDiscarded(tx, projectId, discarding, after, readTogether))
      for (const id of ids) {
        await write((tx) => dropBatches(tx, projectId, id, onEnded))
        await messages.discardOfTrigger(discarding, projectId, id)
        await write((tx) => wakeUnlessEnded(tx, projectId, id))
      }
      if (ids.length < readTogether) return
      after = ids.at(-1)!
    }
  }

/** Ends the trigger, unless messages are left. */
async function dropBatches(tx: Db, projectId: ProjectId, triggerId: string, onEnded: OnEnded): Promise<void> {
  await markDiscarded(tx, projectId, triggerId)
  await freeTurns(tx, projectId, triggerId)
  const deleted = await deleteBatches(tx, projectId, triggerId)
  const delta = noChange(triggerId)
  delta.openBatches = -deleted.length
  for (const { devices, counted } of deleted) if (counted) skipPlanned(delta, 'canceled', devices)
  await addToCounters(tx, projectId, [delta], onEnded)
}

async function wakeUnlessEnded(tx: Db, projectId: ProjectId, triggerId: string): Promise<void> {
  const row = await findTrigger(tx, projectId, triggerId)
  if (row && !terminal.has(row.state)) await wake(tx, { projectId, triggerId })
}
