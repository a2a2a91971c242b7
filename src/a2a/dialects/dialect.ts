import type { Fault } from '../errors.ts'
import type { DialectName, LogEntry, Message, PushConfig, Task, TaskState } from '../model.ts'
import type { Fields } from './fields.ts'

/** The eleven things an agent can ask for. */
export type Operation =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'createConfig'
  | 'getConfig'
  | 'listConfigs'
  | 'deleteConfig'
  | 'extendedCard'

/** How much of a task a response shows. */
export interface View {
  /** The number of latest messages; undefined for all, 0 for no history. */
  historyLength: number | undefined
  artifacts: boolean
}

export interface Sending {
  message: Message
  immediately: boolean
  historyLength: number | undefined
  config: NewPushConfig | undefined
}

/** A webhook as a caller registers it. */
export interface NewPushConfig {
  id: string | undefined
  url: string
  token: string | undefined
  authentication: PushConfig['authentication'] | undefined
}

export interface Listing {
  contextId: string | undefined
  state: TaskState | undefined
  changedAfter: Date | undefined
  limit: number
  offset: number
  pageToken: string | undefined
  historyLength: number | undefined
  artifacts: boolean | undefined
}

/** A page of the webhooks of a task. */
export interface ConfigListing {
  taskId: string
  limit: number
  pageToken: string | undefined
}

export interface ConfigPage {
  configs: PushConfig[]
  /** Empty on the last page. */
  nextPageToken: string
}

export interface Page {
  tasks: { task: Task; dialect: Dialect }[]
  nextPageToken: string
  pageSize: number
  totalSize: number
  view: View
}

/** The facts of the card, before a dialect spells them. */
export interface CardFacts {
  url: string
  baseUrl: string
  description: string
  skills: { id: string; name: string; description: string; tags: string[]; examples: string[] }[]
  /** Set if the card asks official clients to mark every call (docs/guides/agents.md). */
  tenant: string | undefined
  version: string
  /** Set if this installation signs its cards. */
  signaturesOf?: ((card: object) => object[]) | undefined
  /** Set if the client asked for our extension. */
  extension?: { uri: string; description: string; required: boolean; params: object }
}

/** One spelling of A2A, as pure functions. Business code calls the dialect and never asks which one it is. */
export interface Dialect {
  readonly name: DialectName
  readonly operations: ReadonlyMap<string, Operation>
  readonly rules: {
    /** Canceling a canceled task returns the task instead of refusing. */
    cancelsTwice: boolean
    /** Subscribing to a task that has ended returns its last state instead of refusing. */
    showsTheEnd: boolean
    /** The pages of a list that show the total. Where it is never shown, a list does not name its next page either. */
    counts: 'first page' | 'every page' | 'never'
    /** Lists show artifacts unless the call says otherwise. */
    listsArtifacts: boolean
  }

  readSending(params: Fields): Sending
  readListing(params: Fields): Listing
  /** The task a call is about. */
  readTaskId(params: Fields): string
  readConfig(params: Fields): { taskId: string; config: NewPushConfig }
  readConfigRef(params: Fields): { taskId: string; id: string | undefined }
  readConfigListing(params: Fields): ConfigListing

  codeOf(fault: Fault): number
  task(task: Task, view: View): unknown
  sent(task: Task, view: View): unknown
  page(page: Page): unknown
  config(config: PushConfig): unknown
  configs(page: ConfigPage): unknown
  /** The result of an operation that returns nothing. */
  readonly nothing: unknown
  /** The first event of a stream: the task in its state at that moment. */
  begin(task: Task, view: View): unknown
  /** A later event; undefined if this dialect leaves the event out. `last`: the stream closes after it. */
  update(task: Task, entry: LogEntry, last: boolean): unknown
  /** `id` is the id of the webhook call, the same for every attempt. */
  webhook(task: Task, entry: LogEntry, id: string): { contentType: string; body: unknown }
  /** The public card. */
  card(facts: CardFacts): unknown
  /** The card of a project, without a field that its version does not have. */
  extendedCard(facts: CardFacts): unknown
}
