import type { TSchema } from '@sinclair/typebox'
import type { reach } from '../devices/devices.ts'
import type * as gateways from '../gateways/gateways.ts'
import type { Db } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'

/** The content of a message. Its `kind` leads to the channel. A new channel adds its content here. */
export type Content = gateways.Content
/** The destination of one message. A new channel adds its endpoints here. */
export type Endpoint = gateways.Endpoint
export type FailureCode = gateways.FailureCode

/** One message to one endpoint, not written yet. */
export interface Draft {
  messageId: string
  /** A UUIDv7 made by this service; for a message that no campaign sends, its own id. */
  triggerId: string
  campaignId: string | null
  /** The variant, the language of the text and the step that the campaign chose, where it has any. */
  variant?: string | null
  language?: string | null
  step?: string | null
  userId: string
  endpoint: Endpoint
  content: Content
  /** At most 64 bytes. */
  collapseId: string
  priority: 'high' | 'normal'
  /** Milliseconds since 1970. */
  notAfter: number
  /** Not before this. Absent: at once. */
  dueAt?: Date
}

/** A message that no endpoint can receive. It is written too, as failed, so that a caller can read why. */
export interface Undeliverable {
  messageId: string
  userId: string | null
  /** Empty if no device is known. */
  deviceId: string
  content: Content
  reason: FailureCode
}

/** The messages of one item of a request: one for each endpoint, or a single one that no endpoint can receive. */
export type Drafted = Draft[] | Undeliverable

/** The fields of every item: an id, a priority, and the end of its time to live. */
export interface Heading {
  messageId: string
  priority: 'high' | 'normal'
  notAfter: number
  /** Not before this. Absent: at once. */
  dueAt?: Date
}

/** A request to send, read and checked. Each surface translates its own spelling into one. */
export interface SendCommand {
  items: readonly { priority: 'high' | 'normal'; ttlSeconds: number | undefined; sendAt?: Date }[]
  /** The time to live of items that name none. */
  ttlSeconds: number
  /** One result for each item, in order. Writes nothing. */
  draft(db: Db, projectId: ProjectId, headings: Heading[]): Promise<Drafted[]>
}

/** A route by which callers send through a channel directly. */
export interface SendRoute {
  path: `/${string}`
  /** Idempotency keys of different routes are different keys. */
  scope: string
  summary: string
  body: TSchema
  /** The sentence of a refusal, as the contract words it. */
  invalid: string
  example: object
  parse(body: unknown): SendCommand
}

/** A written message, as far as its channel must know it. */
export interface Written {
  device_id: string
  activity_type: string | null
  activity_id: string | null
}

/** A message on its way out. */
export interface Envelope extends Heading {
  projectId: ProjectId
  pushId: string
  endpoint: Endpoint
  content: Content
  collapseId: string
  /** Whether a gateway may have received it before. */
  repeat: boolean
  /** Whether a caller waits for the outcome. */
  urgent: boolean
}

/** One attempt to dispatch an envelope. */
export interface Dispatch {
  /** Returns false if there is no room; `done` is then not called. Otherwise `done` is called exactly once. */
  submit(done: (outcome: gateways.Outcome) => void): boolean
  /** Resolves when there may be room again. */
  ready(): Promise<void>
}

/** The services that dispatch messages. A new channel adds its own here if it needs one. */
export interface Carriers {
  /** Sends to Apple, Google and the push services of browsers. */
  sender: gateways.Sender
}

/** The final outcome of a message, with the endpoint that it was dispatched to. */
export interface End {
  message: Written & { content: Content }
  endpoint: Endpoint
  outcome: gateways.Outcome
}

/** A way to reach users: the content it takes, the endpoints of a user, and the carrier that dispatches. */
export interface Channel {
  /** The kinds of content that travel by this channel. */
  readonly kinds: readonly Content['kind'][]
  readonly routes: readonly SendRoute[]
  /** The endpoints of messages as they are now: a device may have got a new token since the message was written. */
  findEndpoints<Message extends Written>(
    db: Db,
    projectId: ProjectId,
    messages: Message[],
    devices: Map<string, reach.ReachRow>
  ): Promise<Map<Message, Endpoint | FailureCode>>
  /** Shown messages of the same collapse id replace each other. */
  collapseId(content: Content, messageId: string): string
  /** The part of the content that is kept if the content is too large to be sent. */
  abridge(content: Content): Content
  /** The title and the body that lists of messages show. */
  heading(content: Content): { title?: string; body?: string }
  /** Messages of one lane wait for each other; a slow lane does not hold up the others. */
  lane(endpoint: Endpoint): string
  dispatch(envelope: Envelope, carriers: Carriers): Dispatch
  /** Runs in the transaction that settles messages: applies to endpoints what the outcomes say about them. */
  settled(tx: Db, projectId: ProjectId, ends: End[]): Promise<void>
}
