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

/** Rows that one statement claims. */
export const batchSize = 500
