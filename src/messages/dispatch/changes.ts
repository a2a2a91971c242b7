import type { MessageRow, Verdict } from '../message.ts'
import type { Settlement } from '../settle-store.ts'

/** What becomes of a row whose push a gateway accepted. */
export const acceptedAs = (row: MessageRow, { gatewayMessageId }: { gatewayMessageId: string }) => ({
  state: 'accepted' as const,
  due_at: null,
  attempts: row.attempts + 1,
  gateway_message_id: gatewayMessageId,
  reason: null,
  reason_message: null,
  gateway_code: null
})

/** What becomes of a row that the rules of its campaign stop. */
export const stoppedAs = (row: MessageRow, verdict: Verdict): Partial<MessageRow> =>
  'until' in verdict
    ? { state: row.state === 'unknown' ? 'unknown' : 'queued', due_at: verdict.until }
    : { state: 'skipped', due_at: null, reason: verdict.skip, reason_message: null, gateway_code: null }

/** The changes of a claimed row, and what their subscribers are told about it. */
export const settlementOf = (row: MessageRow, changes: Partial<MessageRow>): Settlement => ({
  trigger_id: row.trigger_id,
  device_id: row.device_id,
  message_id: row.message_id,
  push_id: row.push_id,
  campaign_id: row.campaign_id,
  user_id: row.user_id,
  variant: row.variant,
  language: row.language,
  step: row.step,
  state: row.state,
  due_at: row.due_at,
  attempts: row.attempts,
  retries: row.retries,
  gateway_message_id: row.gateway_message_id,
  reason: row.reason,
  reason_message: row.reason_message,
  gateway_code: row.gateway_code,
  claimed: { owner: row.owner, due_at: row.due_at },
  ...changes
})
