import { setTimeout as sleep } from 'node:timers/promises'
import type { Messages } from '../messages/messages.ts'
import type { Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import type { ProjectId } from '../platform/ids.ts'
import { RetryLater } from '../platform/jobs/definition.ts'
import { steadyMs } from '../platform/time.ts'
import { deletePlannedBatches } from './batches/batch-store.ts'
import { freeTurns } from './batches/turn-store.ts'
import { addToCounters, type OnEnded } from './counting/counter-store.ts'
import { noChange, skipPlanned } from './counting/delta.ts'
import { findTrigger, markCanceled, type TriggerRow, terminal } from './store.ts'
import { wake } from './wake.ts'

/** How long the caller waits for the outcomes of messages that gateways have received. */
const responseMs = 5_000
const pollMs = 50
const continueMs = 1_000

export interface CancelOptions {
  pool: Pool
  messages: Pick<Messages, 'cancel' | 'cancelOfDeadNodes'>
  onEnded: OnEnded
}

/** Cancels triggers. */
export class Cancel {
  readonly #options: CancelOptions

  constructor(options: CancelOptions) {
    this.#options = options
  }

  /**
   * Returns when no message can be dispatched any more. After 5 s a job continues, and the state is still canceling.
   */
  async cancel(projectId: ProjectId, triggerId: string): Promise<TriggerRow | undefined> {
    const { pool } = this.#options
    await markCanceled(pool, projectId, triggerId)
    const deadline = steadyMs() + responseMs
    for (;;) {
      const row = await findTrigger(pool, projectId, triggerId)
      if (!row || terminal.has(row.state)) return row
      if (steadyMs() >= deadline) {
        await wake(pool, { projectId, triggerId })
        return row
      }
      await this.#cancelPending(projectId, triggerId)
      await sleep(pollMs)
    }
  }

  /** Continues a cancel that takes longer. Throws to be called again until the trigger has ended. */
  async continue(projectId: ProjectId, triggerId: string): Promise<void> {
    const { pool, messages } = this.#options
    await this.#cancelPending(projectId, triggerId)
    await messages.cancelOfDeadNodes(projectId, triggerId)
    const row = await findTrigger(pool, projectId, triggerId)
    if (row && !terminal.has(row.state))
      throw new RetryLater('messages are still with the gateways', continueMs, { counts: false })
  }

  /**
   * Cancels the messages that no process owns. It is repeated, because a message that a gateway deferred comes back
   * without an owner.
   */
  async #cancelPending(projectId: ProjectId, triggerId: string): Promise<void> {
    const { pool, messages } = this.#options
    await againIfRaced(() => this.#cancelPlanned(projectId, triggerId))
    const cancelSome = () => againIfRaced(() => pool.transaction((tx) => messages.cancel(tx, projectId, triggerId)))
    while ((await cancelSome()) > 0);
  }

  #cancelPlanned(projectId: ProjectId, triggerId: string): Promise<void> {
    const { pool, onEnded } = this.#options
    return pool.transaction(async (tx) => {
      // Other triggers of the campaign need not wait for the turns at its throttle that are left.
      await freeTurns(tx, projectId, triggerId)
      const deleted = await deletePlannedBatches(tx, projectId, triggerId)
      const delta = noChange(triggerId)
      delta.openBatches = -deleted.length
      for (const { devices, counted } of deleted) if (counted) skipPlanned(delta, 'canceled', devices)
      await addToCounters(tx, projectId, [delta], onEnded)
    })
  }
}
