import { setTimeout as sleep } from 'node:timers/promises'
import type { Messages } from '../messages/messages.ts'
import type { Pool } from '../platform/db/db.ts'
import { againIfRaced } from '../platform/db/races.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'
import { RetryLater } from '../platform/jobs/definition.ts'
import { steadyMs } from '../platform/time.ts'
import { wake } from './accept.ts'
import { removePlannedChunks } from './batches/batch-store.ts'
import { addToCounters, nothing, type OnEnded, tally } from './counters-store.ts'
import { findTrigger, type TriggerRow, terminal } from './store.ts'

/** How long the caller waits for what is with the gateways (settled). */
const answerMs = 5_000
const lookEveryMs = 50
const goOnMs = 1_000

// From here on nothing more is planned or written: whoever does so finds the outcome when counting it.
const decide = statement(
  'triggers.cancel',
  `update triggers set outcome = 'canceled', state = 'canceling'
    where project_id = $1 and id = $2 and state in ('accepted', 'running')`
)

export function createCancel({
  pool,
  messages,
  onEnded
}: {
  pool: Pool
  messages: Pick<Messages, 'cancel' | 'cancelOfDeadNodes'>
  onEnded: OnEnded
}) {
  /** Takes back what nobody has in hands. Says it once more: what a gateway wanted later comes back to be taken too. */
  async function takeBack(projectId: ProjectId, triggerId: string): Promise<void> {
    await againIfRaced(() =>
      pool.transaction(async (tx) => {
        const gone = await removePlannedChunks(tx, projectId, triggerId)
        const delta = nothing(triggerId)
        delta.openChunks = -gone.length
        for (const { devices, counted } of gone) {
          if (!counted) continue
          delta.skipped += devices
          tally(delta.skippedFor, 'canceled', devices)
        }
        await addToCounters(tx, projectId, [delta], onEnded)
      })
    )
    const window = () => againIfRaced(() => pool.transaction((tx) => messages.cancel(tx, projectId, triggerId)))
    while ((await window()) > 0);
  }

  return {
    /** Ends when nothing more can be handed over; after 5 s it says that it is still at it. */
    async cancel(projectId: ProjectId, triggerId: string): Promise<TriggerRow | undefined> {
      await pool.run(decide, [projectId, triggerId])
      const giveUpAt = steadyMs() + answerMs
      for (;;) {
        const row = await findTrigger(pool, projectId, triggerId)
        if (!row || terminal.has(row.state)) return row
        if (steadyMs() >= giveUpAt) {
          await wake(pool, { projectId, triggerId })
          return row
        }
        await takeBack(projectId, triggerId)
        await sleep(lookEveryMs)
      }
    },

    /** For what takes longer: comes back until it has ended. */
    async goOn(projectId: ProjectId, triggerId: string): Promise<void> {
      await takeBack(projectId, triggerId)
      await messages.cancelOfDeadNodes(projectId, triggerId)
      const row = await findTrigger(pool, projectId, triggerId)
      if (row && !terminal.has(row.state))
        throw new RetryLater('messages are still with the gateways', goOnMs, { counts: false })
    }
  }
}
