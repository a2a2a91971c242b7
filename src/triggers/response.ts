import type { TriggerRow } from './store.ts'

/** A trigger as routes and streams return it. Times become text in JSON. */
export function triggerResponse(row: TriggerRow) {
  const [targeted, sent, failed, skipped] = [row.targeted, row.sent, row.failed, row.skipped].map(Number)
  return {
    trigger_id: row.id,
    campaign_id: row.campaign_id,
    campaign_version: row.campaign_version,
    state: row.state,
    reason: row.reason,
    source: row.source ?? { kind: 'api' as const },
    step: row.step,
    accepted_at: row.accepted_at,
    send_at: row.due_at,
    expanded_at: row.expanded_at,
    ended_at: row.ended_at,
    counts: {
      targeted: targeted!,
      sent: sent!,
      failed: failed!,
      skipped: skipped!,
      pending: targeted! - sent! - failed! - skipped!,
      delivered: Number(row.delivered),
      tapped: Number(row.tapped)
    },
    skipped: row.skipped_for,
    failures: row.failed_for,
    conversions: { converted: Number(row.converted), value: Number(row.conversion_value) }
  }
}
