import type { Request, Requester } from '../transport.ts'

export interface Queued {
  request: Request
  deadlineAt: number
  requester: Requester
}

/** Requests for which the peer has no room yet, in the order in which they came. None of them was sent. */
export class Queue {
  #requests: Queued[] = []

  get size(): number {
    return this.#requests.length
  }

  add(queued: Queued): void {
    this.#requests.push(queued)
  }

  /** The next request in time. Room that comes at the deadline, because the requests before end at theirs, comes too late. */
  take(now: number): Queued | undefined {
    for (;;) {
      const next = this.#requests.shift()
      if (!next || next.deadlineAt > now) return next
      next.requester.ended({ kind: 'refused' })
    }
  }

  /** Ends those that are late, however long they have waited, and returns the earliest deadline of the others. */
  endLate(now: number): number {
    const late = this.#requests.filter(({ deadlineAt }) => deadlineAt <= now)
    this.#requests = this.#requests.filter(({ deadlineAt }) => deadlineAt > now)
    const earliest = this.#requests.reduce((least, { deadlineAt }) => Math.min(least, deadlineAt), Infinity)
    for (const { requester } of late) requester.ended({ kind: 'refused' })
    return earliest
  }

  endAll(): void {
    const all = this.#requests
    this.#requests = []
    for (const { requester } of all) refuse(requester)
  }
}

/** Ends a request that was not sent, after the caller has returned. */
export function refuse(requester: Requester): void {
  setImmediate(() => requester.ended({ kind: 'refused' }))
}
