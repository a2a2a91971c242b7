import { Type } from '@sinclair/typebox'
import { type TriggerRow, type TriggerSource, triggerResponse } from '../../triggers/triggers.ts'
import { Maybe, MaybeTime, Reasons, Time } from './shapes.ts'

const Count = (description: string) => Type.Integer({ description })

/** A trigger as the skills show it. */
export const Trigger = Type.Object({
  triggerId: Type.String(),
  campaignId: Type.String(),
  campaignVersion: Type.Integer({ description: 'The version that was current when the trigger was accepted.' }),
  state: Type.String({
    description: 'scheduled, accepted, running, canceling, completed, canceled or failed. The last three are final.'
  }),
  reason: Maybe('Why it failed, or no_audience; else null.'),
  source: Type.Unsafe<TriggerSource>({
    type: 'object',
    additionalProperties: {},
    description: 'What made it, by its kind: api, schedule, event or step.'
  }),
  acceptedAt: Time(),
  sendAt: MaybeTime,
  expandedAt: MaybeTime,
  endedAt: MaybeTime,
  counts: Type.Object(
    {
      targeted: Count('sent + failed + skipped + pending.'),
      sent: Count('Accepted by a gateway.'),
      failed: Count('Refused for good, or not accepted in time.'),
      skipped: Count('Not sent on purpose.'),
      pending: Count('Not settled yet.'),
      delivered: Count('Reported by apps.'),
      tapped: Count('Reported by apps.')
    },
    { description: 'Messages to devices.' }
  ),
  skipped: Reasons('Number of skipped messages by reason.'),
  failures: Reasons('Number of failed messages by reason.')
})

export function shownTrigger(row: TriggerRow) {
  const { counts, skipped, failures, source } = triggerResponse(row)
  return {
    triggerId: row.id,
    campaignId: row.campaign_id,
    campaignVersion: row.campaign_version,
    state: row.state,
    reason: row.reason,
    source,
    acceptedAt: row.accepted_at.toISOString(),
    sendAt: row.due_at?.toISOString() ?? null,
    expandedAt: row.expanded_at?.toISOString() ?? null,
    endedAt: row.ended_at?.toISOString() ?? null,
    counts,
    skipped,
    failures
  }
}
