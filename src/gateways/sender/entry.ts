import type { Outcome, Push } from '../push.ts'
import type { Ending, Requester } from '../transport/transport.ts'
import type { Link } from './connections.ts'

export type Done = (outcome: Outcome) => void

/** Gets the ending of each push that it sent. */
export interface EntryOwner {
  ended(entry: Entry, ending: Ending): void
}

/** A push in a pool. */
export class Entry implements Requester {
  readonly push: Push
  readonly done: Done
  readonly dueAt: number
  /** A push that is not sent by then is returned to the caller as not sent. */
  readonly leaveAt: number
  readonly #owner: EntryOwner
  sentAt = 0
  /** `sentAt` by the wall clock. */
  sentWallMs = 0
  refusals = 0
  /** The provider token that the gateway called too old when the push was first sent. */
  renewed: string | undefined = undefined
  reconnected = false
  /** The connection and the provider token that it was sent with last. */
  link: Link | undefined = undefined
  token = ''

  constructor(push: Push, done: Done, dueAt: number, leaveAt: number, owner: EntryOwner) {
    this.push = push
    this.done = done
    this.dueAt = dueAt
    this.leaveAt = leaveAt
    this.#owner = owner
  }

  ended(ending: Ending): void {
    this.#owner.ended(this, ending)
  }
}
