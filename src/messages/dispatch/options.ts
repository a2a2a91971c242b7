import type { MessageRow } from '../message.ts'

export interface DispatchOptions {
  /**
   * A time of the steady clock. Until then `dispatch` waits for responses and short retries; the retry job continues
   * the rest.
   */
  deadline: number
  signal?: AbortSignal | undefined
  /** A caller waits for the outcomes: these messages go before those of campaigns. */
  urgent?: boolean
  /** An owner that is known to be dead, although the list of nodes may still name it. */
  deadOwner?: string | undefined
}

/** Open rows, by the process that owns them. */
export interface ByOwner {
  /** Followed by this process. */
  followed: MessageRow[]
  /** Owned by another process that is alive, or may be: it follows them, and no other process touches them. */
  others: MessageRow[]
  /** Owned by no process, by a dead one, or by this one without a run that follows them. */
  free: MessageRow[]
}

/** Rows that one statement claims. */
export const batchSize = 500
