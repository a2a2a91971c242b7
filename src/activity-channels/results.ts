import { failureReason } from '../gateways/gateways.ts'
import type { DeliveryResult } from '../messages/messages.ts'
import type { ChangeRow } from './change-store.ts'
import type { ChannelRow } from './store.ts'

export const statusOf = ({ state, settled_at }: ChangeRow): DeliveryResult['status'] => {
  if (state === 'accepted') return 'DELIVERY_RESULT_STATUS_SUCCEED'
  return settled_at === null ? 'DELIVERY_RESULT_STATUS_PENDING' : 'DELIVERY_RESULT_STATUS_FAILED'
}

/** Empty while it is pending, because it has not failed. */
const failureOf = ({ state, settled_at, reason, reason_message }: ChangeRow): string =>
  state === 'accepted' || settled_at === null || reason === null
    ? ''
    : failureReason(reason, reason_message ?? undefined)

/** One result for a change, however many activities it reaches. A channel that was deleted meanwhile has none. */
export const resultOf = (messageId: string, row: ChangeRow | undefined, simulated: boolean): DeliveryResult => ({
  message_id: messageId,
  status: row ? statusOf(row) : 'DELIVERY_RESULT_STATUS_FAILED',
  additional_params: {
    device_id: '',
    gateway_message_id: row?.gateway_message_id ?? '',
    failure_reason: row ? failureOf(row) : failureReason('CANCELED', 'Its channel was deleted.'),
    ...(simulated && { simulated: true as const })
  }
})

const shownChange = (row: ChangeRow) => ({
  message_id: row.message_id,
  event: row.kind === 'activity-end' ? 'end' : 'update',
  timestamp: row.at_seconds === null ? null : Number(row.at_seconds),
  status: statusOf(row),
  failure_reason: failureOf(row),
  created_at: row.created_at
})

export const shownChannel = (row: ChannelRow) => ({
  channel_id: row.id,
  apns_channel_id: row.apns_channel_id,
  attributes_type: row.attributes_type,
  app: row.app,
  push_environment: row.environment,
  storage: row.stored ? 'most_recent' : 'none',
  status: row.state,
  // The reason of the last attempt stays until the next attempt ends.
  failure_reason: row.reason === null ? '' : `[${row.reason}] ${row.reason_message ?? ''}`.trim(),
  content_state: row.content_state,
  created_at: row.created_at,
  updated_at: row.updated_at
})

export const shownWithChange = (row: ChannelRow, newest: ChangeRow | undefined) => ({
  ...shownChannel(row),
  last_change: newest ? shownChange(newest) : null
})
