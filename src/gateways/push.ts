import type { reach } from '../devices/devices.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { FailureCode } from './reasons.ts'

export type GatewayName = 'apns' | 'fcm' | 'webpush'
export type PushEnvironment = 'production' | 'sandbox'

/** How much a notification may disturb, in Apple's words. */
export type InterruptionLevel = 'passive' | 'active' | 'time-sensitive' | 'critical'

/** A button below a notification. */
export interface Action {
  id: string
  title: string
  /** What the button opens; absent: the app decides by the id. */
  landingUrl?: string
}

/** A notification as a person sees it, independent of gateways. Absent fields are left out: no text is empty. */
export interface Notification {
  title?: string
  body?: string
  imageUrl?: string
  landingUrl?: string
  data?: Record<string, string>
  sound?: string
  badge?: number
  channelId?: string
  threadId?: string
  /** The category that the app has registered, with its buttons. */
  category?: string
  actions?: Action[]
  interruptionLevel?: InterruptionLevel
  /** From 0 to 1: which of an app's notifications comes first in a summary. */
  relevanceScore?: number
  /** Nothing is shown: the app is woken with `data`. */
  silent?: true
  /** The caller's own key; shown notifications of the same key replace each other. */
  collapseKey?: string
}

export interface ActivityStart {
  attributesType: string
  attributes: object
  contentState: object
  alert: { title: string; body: string }
  /** Apple's id of the channel that the activity subscribes to; absent: it gets an update token of its own. */
  channel?: string
}

/** A change or the end of a Live Activity. Times are Unix seconds, as phones expect them. */
export interface ActivityChange {
  contentState: object
  /** Phones ignore a change that is older than the last one they saw. */
  timestamp: number
  staleDate?: number
  dismissalDate?: number
  alert?: { title: string; body: string }
}

export type Content =
  | { kind: 'alert'; notification: Notification }
  | { kind: 'activity-start'; activity: ActivityStart }
  | { kind: 'activity-update' | 'activity-end'; activity: ActivityChange }

/** A request about a broadcast channel of Live Activities; only Apple has them. `stored`: Apple keeps the last change. */
export type ChannelContent =
  | { kind: 'channel-list' }
  | { kind: 'channel-create'; stored: boolean }
  | { kind: 'channel-delete'; channelId: string }
  | {
      kind: 'channel-broadcast'
      channelId: string
      stored: boolean
      change: { kind: 'activity-update' | 'activity-end'; activity: ActivityChange }
    }

/** One push to one device, or one request about a channel, ready for a gateway. */
export interface Push {
  projectId: ProjectId
  /** The app receives this id, and reports with it that the message was delivered or tapped. */
  messageId: string
  /** UUIDv7 of this push to this device; the `apns-id`. */
  pushId: string
  deviceId: string
  gateway: GatewayName
  environment: PushEnvironment
  /** Bundle id or package; null if the credential contains it. */
  app: string | null
  token: string
  /** For a Live Activity through FCM: Apple's token, beside the registration token. */
  activityToken?: string
  /** The time of registration. A gateway that reports the token as dead since an earlier time is out of date. */
  registeredAt: Date
  content: Content | ChannelContent
  /** At most 64 bytes. The same for every repeat, so that a phone shows it once. */
  collapseId: string
  priority: 'high' | 'normal'
  /** Milliseconds since 1970: the end of its time to live. */
  notAfter: number
  /** Whether a gateway may have received it before: fresh pushes go first. */
  repeat?: boolean
  /** Whether a caller waits for the outcome: such pushes go before pushes of campaigns. */
  urgent?: boolean
}

/** The outcome of one attempt to dispatch a push. */
export type Outcome =
  /** `channels`: the response to a request for all channels. */
  | { kind: 'accepted'; gatewayMessageId: string; channels?: string[] }
  | {
      kind: 'rejected'
      reason: FailureCode
      /** One sentence for people. */
      message: string
      /** The gateway's own code; '' if no gateway refused the push. */
      gatewayCode: string
      /** The token is dead as of this time: disable it unless the app registered it later. */
      tokenDeadAsOf?: Date
      /** Tokens of earlier pushes that were disabled by reports which are not trusted any more: enable them again. */
      disbelieved?: reach.DeadToken[]
    }
  | { kind: 'retry'; reason: FailureCode; message: string; gatewayCode: string; notBefore: number; free: boolean }
  /** The connection broke, or the gateway did not respond: the push may have arrived. */
  | { kind: 'unknown'; reason: 'CONNECTION_LOST' | 'GATEWAY_TIMEOUT'; message: string }

/** Sends pushes to the gateways. All code that sends pushes uses it. */
export interface Sender {
  /**
   * Dispatches one push. False: its pool is full, the push was not accepted and `done` will not be called; wait for
   * `ready`. The sender itself repeats a push if that costs nothing (a closing connection, an expired provider token).
   * `done` is called exactly once, at the latest a little after the deadline of a request (10 s).
   */
  submit(push: Push, done: (outcome: Outcome) => void): boolean
  /** Resolves when the pool of this push has room, or when its project can no longer be served. */
  ready(push: Push): Promise<void>
  close(deadlineMs: number): Promise<void>
}
