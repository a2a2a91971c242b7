import type { Content, Endpoint, FailureCode } from '../channels/channels.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Retries } from './dispatch/retry-policy.ts'

/**
 * queued: to be dispatched, now or at `due_at`. handed: with a gateway, or was when its owner died. unknown: the response
 * of the gateway was lost, and the message will be repeated. The other states are final.
 */
export type MessageState = 'queued' | 'handed' | 'accepted' | 'failed' | 'unknown' | 'skipped'

export interface MessageRow {
  trigger_id: string
  device_id: string
  message_id: string
  push_id: string
  user_id: string | null
  campaign_id: string | null
  /** The variant, the language of the text and the step that its campaign chose for the recipient. */
  variant: string | null
  language: string | null
  step: string | null
  /** Orders the endpoints of one message. */
  place: number
  state: MessageState
  /** The time at which a worker looks at it next. Null once it is settled, and while a batch of a trigger owns it. */
  due_at: Date | null
  not_after: Date
  content: Content
  collapse_id: string
  priority: 'high' | 'normal'
  gateway: Endpoint['gateway'] | null
  environment: Endpoint['environment'] | null
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
  /** The node that dispatches it and follows it to its end. Null once it is settled, and while it waits for a retry. */
  owner: string | null
  /** Present if it was just looked up. Otherwise it is looked up before the message is dispatched. */
  endpoint?: Endpoint | undefined
  /** The end of this process's claim by the steady clock. Not stored. */
  claimEndsAtMs?: number | undefined
}

/** What the rules of its campaign say about a message that has waited: it is skipped, or waits until then. */
export type Verdict = { skip: FailureCode } | { until: Date }

/** The verdicts on messages that were written before. Those without one are dispatched. */
export type Recheck = (projectId: ProjectId, rows: MessageRow[]) => Promise<ReadonlyMap<MessageRow, Verdict>>

/** A message that was settled, or that a device reported on. Subscribers get it in the transaction that writes it. */
export interface OutcomeChange {
  triggerId: string
  campaignId: string | null
  variant: string | null
  language: string | null
  step: string | null
  messageId: string
  deviceId: string
  userId: string
  to: MessageState
  reason: FailureCode | null
  kind: 'state' | 'delivered' | 'tapped'
}

/** States that are not final, as SQL. */
export const openStates = `('queued', 'handed', 'unknown')`

export const isSettled = ({ state }: Pick<MessageRow, 'state'>): boolean =>
  state === 'accepted' || state === 'failed' || state === 'skipped'
