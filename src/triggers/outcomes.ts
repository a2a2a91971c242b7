import type { MessageState, OnOutcomes } from '../messages/messages.ts'
import { addToCounters, type Delta, nothing, type OnEnded, tally } from './counters-store.ts'

const counterOf = new Map<MessageState, 'sent' | 'failed' | 'skipped'>([
  ['accepted', 'sent'],
  ['failed', 'failed'],
  ['skipped', 'skipped']
])

/** Counts what became of messages on their triggers, in the transaction that records it. */
export const countOutcomes =
  (onEnded: OnEnded): OnOutcomes =>
  async (tx, projectId, changes) => {
    const deltas = new Map<string, Delta>()
    for (const { triggerId, campaignId, kind, to, reason } of changes) {
      // What no campaign sent has no trigger.
      if (campaignId === null) continue
      const delta = deltas.get(triggerId) ?? nothing(triggerId)
      deltas.set(triggerId, delta)
      if (kind !== 'state') {
        delta[kind] += 1
        continue
      }
      // An end is told once and stays: nothing is ever taken back.
      const counter = counterOf.get(to)
      if (counter) delta[counter] += 1
      if (counter === 'failed') tally(delta.failedFor, reason ?? 'INTERNAL_ERROR')
      if (counter === 'skipped') tally(delta.skippedFor, (reason ?? 'CANCELED').toLowerCase())
    }
    await addToCounters(tx, projectId, [...deltas.values()], onEnded)
  }
