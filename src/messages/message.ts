import type { Content, FailureCode, GatewayName, PushEnvironment } from '../gateways/gateways.ts'
import type { Retries } from './retry-policy.ts'

/**
 * queued: to be handed over, now or after a wait. handed: with a gateway, or was when its process died. unknown: its
 * answer was lost, and it will be repeated. The others are ends.
 */
export type MessageState = 'queued' | 'handed' | 'accepted' | 'failed' | 'unknown' | 'skipped'

/** Where one push goes, as found among the tokens of a device. */
export interface PushTarget {
  deviceId: string
  gateway: GatewayName
  environment: PushEnvironment
  app: string | null
  token: string
  activityToken?: string
  registeredAt: Date
  /** The token's key, where it is one of a Live Activity. */
  activity?: { type: string; id: string }
}

/** One push to one device, to be written. */
export interface MessageDraft {
  messageId: string
  /** A UUIDv7 made by us; where no campaign sends, the message id. */
  triggerId: string
  campaignId: string | null
  userId: string
  device: PushTarget
  content: Content
  collapseId: string
  priority: 'high' | 'normal'
  notAfter: number
}

/** A result without a push: nobody to send it to. */
export interface DeadEnd {
  messageId: string
  userId: string | null
  /** '' where no device is known. */
  deviceId: string
  content: Content
  reason: FailureCode
}

export interface MessageRow {
  trigger_id: string
  device_id: string
  message_id: string
  push_id: string
  user_id: string | null
  campaign_id: string | null
  place: number
  state: MessageState
  /** When somebody must look at it. Null once it is settled, and while a chunk of a campaign attends to it. */
  due_at: Date | null
  not_after: Date
  content: Content
  collapse_id: string
  priority: 'high' | 'normal'
  gateway: GatewayName | null
  environment: PushEnvironment | null
  activity_type: string | null
  activity_id: string | null
  attempts: number
  retries: Retries
  gateway_message_id: string | null
  reason: FailureCode | null
  reason_message: string | null
  gateway_code: string | null
  simulated: boolean
  created_at: Date
  handed_at: Date | null
  settled_at: Date | null
  delivered_at: Date | null
  tapped_at: Date | null
  /** The node that dispatches it and follows it to its end. Null once it has ended, and while it waits for a retry. */
  owner: string | null
  /** Known where it was just looked up; else it is looked up before it is handed over. */
  target?: PushTarget | undefined
}

/** Told, in the transaction that records it, when a message comes to an end or its device reports back. */
export interface OutcomeChange {
  triggerId: string
  campaignId: string | null
  messageId: string
  deviceId: string
  userId: string
  to: MessageState
  reason: FailureCode | null
  kind: 'state' | 'delivered' | 'tapped'
}

/** Those that have not come to an end, as SQL. */
export const openStates = `('queued', 'handed', 'unknown')`

export const isSettled = ({ state }: Pick<MessageRow, 'state'>): boolean =>
  state === 'accepted' || state === 'failed' || state === 'skipped'
