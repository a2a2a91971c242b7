import type { MessageState, OnSettled } from '../../messages/messages.ts'
import type { Db } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { notifyEnded } from '../stream.ts'
import { addToCounters, type Counted, type OnEnded } from './counter-store.ts'
import { addTo, type Delta, noChange, tally } from './delta.ts'

const counterOf = new Map<MessageState, 'sent' | 'failed' | 'skipped'>([
  ['accepted', 'sent'],
  ['failed', 'failed'],
  ['skipped', 'skipped']
])

/** Receives triggers that have ended, in the transaction in which they end. */
export type OnTriggersEnded = (
  tx: Db,
  projectId: ProjectId,
  ends: { triggerId: string; campaignId: string; state: string; counts: Counted['counts'] }[]
) => Promise<void>

const publishEnds =
  (onTriggersEnded: OnTriggersEnded): OnEnded =>
  (tx, projectId, triggers) =>
    onTriggersEnded(
      tx,
      projectId,
      triggers.map(({ id, campaign_id, state, counts }) => ({
        triggerId: id,
        campaignId: campaign_id,
        state,
        counts
      }))
    )

/** For triggers that end in this capability: wakes their streams, then calls the subscriber. */
export const notifyAndPublish =
  (onTriggersEnded: OnTriggersEnded): OnEnded =>
  async (tx, projectId, triggers) => {
    await notifyEnded(tx, projectId, triggers)
    await publishEnds(onTriggersEnded)(tx, projectId, triggers)
  }

/** Counts outcomes on their triggers, in the transaction that settles the messages. */
export const countOnTrigger =
  (onTriggersEnded: OnTriggersEnded): OnSettled =>
  async (tx, projectId, changes) => {
    const deltas = new Map<string, Delta>()
    for (const change of changes) {
      const { triggerId, campaignId, kind, to, reason } = change
      // Messages of a direct send have no trigger.
      if (campaignId === null) continue
      const delta = deltas.get(triggerId) ?? noChange(triggerId)
      deltas.set(triggerId, delta)
      if (kind !== 'state') {
        addTo(delta, kind, change)
        continue
      }
      // A message reaches one final state and keeps it, so counters never go down.
      const counter = counterOf.get(to)
      if (counter) addTo(delta, counter, change)
      if (counter === 'failed') tally(delta.failedFor, reason ?? 'INTERNAL_ERROR')
      if (counter === 'skipped') tally(delta.skippedFor, (reason ?? 'CANCELED').toLowerCase())
    }
    const ended: Counted[] = []
    await addToCounters(tx, projectId, [...deltas.values()], async (tx, projectId, triggers) => {
      await notifyEnded(tx, projectId, triggers)
      ended.push(...triggers)
    })
    // Last: receivers get the last messages of a trigger before its end.
    return () => publishEnds(onTriggersEnded)(tx, projectId, ended)
  }
