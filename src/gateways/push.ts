import type { ProjectId } from '../platform/ids.ts'
import type { FailureCode } from './reasons.ts'

export type GatewayName = 'apns' | 'fcm' | 'webpush'
export type PushEnvironment = 'production' | 'sandbox'

/** What a person sees, in words that no gateway owns. Absent is absent: no empty texts. */
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
  /** The caller's own; shown notifications of the same key replace each other. */
  collapseKey?: string
}

export interface ActivityStart {
  attributesType: string
  attributes: object
  contentState: object
  alert: { title: string; body: string }
}

/** A change or the end of a Live Activity. Times are Unix seconds, as the phone wants them. */
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

/** One push to one device, ready to be handed to a gateway. Flat: it survives a queue and a process. */
export interface Push {
  projectId: ProjectId
  /** What the app is told, and reports back when it was delivered or tapped. */
  messageId: string
  /** UUIDv7 of this push to this device; the `apns-id`. */
  pushId: string
  deviceId: string
  gateway: GatewayName
  environment: PushEnvironment
  /** Bundle id or package; null where the credential knows it. */
  app: string | null
  token: string
  /** For a Live Activity through FCM: Apple's token, beside the registration token. */
  activityToken?: string
  /** A gateway that says "gone since" an earlier time is out of date. */
  registeredAt: Date
  content: Content
  /** At most 64 bytes. The same for every repeat, so that a phone shows it once. */
  collapseId: string
  priority: 'high' | 'normal'
  /** Milliseconds since 1970: after this nobody wants it any more. */
  notAfter: number
  /** A gateway had it before: those that it did not have go first. */
  repeat?: boolean
  /** A caller waits for the outcome: it goes before those of campaigns. */
  urgent?: boolean
}

/** How one attempt to hand a push over ended. */
export type Outcome =
  | { kind: 'accepted'; gatewayMessageId: string }
  | {
      kind: 'rejected'
      reason: FailureCode
      /** One sentence for people. */
      message: string
      /** The gateway's own word for it, '' where it was us. */
      gatewayCode: string
      /** The token is dead as of this time: turn it off unless the app registered it later. */
      tokenDeadAsOf?: Date
    }
  | { kind: 'retry'; reason: FailureCode; message: string; gatewayCode: string; notBefore: number; free: boolean }
  /** The connection died, or nobody answered: the push may have arrived. */
  | { kind: 'unknown'; reason: 'CONNECTION_LOST' | 'GATEWAY_TIMEOUT'; message: string }

/** The one way to the gateways, whoever asked. */
export interface Sender {
  /**
   * Hands one push over. False: its pool is full, nothing was taken and `done` will not be called; wait for `ready`.
   * What costs nothing to repeat (a connection that is going away, an expired provider token) is repeated inside.
   * `done` is called exactly once, at the latest a little after the deadline of a request (10 s).
   */
  submit(push: Push, done: (outcome: Outcome) => void): boolean
  /** Resolves when the pool of this push takes more, or when its project can no longer be served. */
  ready(push: Push): Promise<void>
  close(deadlineMs: number): Promise<void>
}
