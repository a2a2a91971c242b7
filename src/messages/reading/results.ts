import { type FailureCode, failureReason } from '../../gateways/gateways.ts'
import { isSettled, type MessageRow } from '../message.ts'

export type DeliveryStatus =
  | 'DELIVERY_RESULT_STATUS_SUCCEED'
  | 'DELIVERY_RESULT_STATUS_FAILED'
  | 'DELIVERY_RESULT_STATUS_PENDING'

export interface DeviceResult {
  device_id: string
  status: DeliveryStatus
  gateway_message_id: string
  failure_reason: string
}

/** Contract 2.7, with the devices that `shownResult` shows if the caller asks for them. */
export interface DeliveryResult {
  message_id: string
  status: DeliveryStatus
  additional_params: {
    device_id: string
    gateway_message_id: string
    failure_reason: string
    devices?: DeviceResult[]
    simulated?: true
  }
}

export function statusOf(row: Pick<MessageRow, 'state'>): DeliveryStatus {
  if (row.state === 'accepted') return 'DELIVERY_RESULT_STATUS_SUCCEED'
  return isSettled(row) ? 'DELIVERY_RESULT_STATUS_FAILED' : 'DELIVERY_RESULT_STATUS_PENDING'
}

/** Empty while the message is pending, because it has not failed. */
export function failureOf(row: MessageRow): string {
  if (row.state === 'accepted' || !isSettled(row) || row.reason === null) return ''
  return failureReason(row.reason, row.reason_message ?? undefined)
}

export const deviceResult = (row: MessageRow): DeviceResult => ({
  device_id: row.device_id,
  status: statusOf(row),
  gateway_message_id: row.gateway_message_id ?? '',
  failure_reason: failureOf(row)
})

/** Of several failures, the result shows the one that the caller can do most about. */
const urgency = new Map<FailureCode, number>(
  (
    [
      'CREDENTIALS_INVALID',
      'CREDENTIALS_MISSING',
      'PAYLOAD_TOO_LARGE',
      'PAYLOAD_INVALID',
      'PROJECT_RATE_LIMITED',
      'DEVICE_RATE_LIMITED',
      'GATEWAY_UNAVAILABLE',
      'GATEWAY_TIMEOUT',
      'CONNECTION_LOST',
      'EXPIRED',
      'TOKEN_MISMATCH',
      'TOKEN_INVALID',
      'TOKEN_UNREGISTERED'
    ] as const
  ).map((code, place) => [code, place])
)
const urgencyOf = ({ reason }: MessageRow) => (reason === null ? 99 : (urgency.get(reason) ?? 98))

/** Makes the result of one item out of its rows, one for each device, in their order. */
export function resultOf(messageId: string, rows: MessageRow[]): DeliveryResult {
  const shown =
    rows.find(({ state }) => state === 'accepted') ??
    rows.find((row) => !isSettled(row)) ??
    [...rows].sort((one, two) => urgencyOf(one) - urgencyOf(two) || one.place - two.place)[0]
  // The user was deleted after the dispatch, together with the message.
  if (!shown) return canceled(messageId)
  const { status, ...params } = deviceResult(shown)
  return {
    message_id: messageId,
    status,
    additional_params: {
      ...params,
      ...(rows.length > 1 && { devices: rows.map(deviceResult) }),
      ...(shown.simulated && { simulated: true as const })
    }
  }
}

/** Contract A.5: `additional_params` has its three keys and no others, unless the caller asks for the devices. */
export function shownResult({ message_id, status, additional_params }: DeliveryResult, expanded = false) {
  const { device_id, gateway_message_id, failure_reason, devices, simulated = false } = additional_params
  const three = { device_id, gateway_message_id, failure_reason }
  if (!expanded) return { message_id, status, additional_params: three }
  const each = devices ?? (device_id === '' ? [] : [{ ...three, status }])
  return { message_id, status, additional_params: { ...three, devices: each, simulated } }
}

const canceled = (messageId: string): DeliveryResult => ({
  message_id: messageId,
  status: 'DELIVERY_RESULT_STATUS_FAILED',
  additional_params: { device_id: '', gateway_message_id: '', failure_reason: failureReason('CANCELED') }
})
