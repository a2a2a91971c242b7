export interface Circuit {
  readonly open: boolean
  /** Whether the gateway has ever accepted the credential and responded about a push itself. */
  readonly proven: boolean
  /** The time at which the next push tries the credential again. */
  readonly probeAt: number
  /** Whether a push may be sent. An open circuit admits one from time to time. */
  admits(now: number): boolean
  /** The gateway refused the credential. */
  wrong(now: number): void
  /** The gateway accepted the credential and responded about the push itself. */
  right(): void
}

/**
 * Refusals in a row that open the circuit. Few enough that it opens before fifty pushes are lost: the first window is
 * thirty-two. They must come in a row, because one refused push among accepted ones is about that push.
 */
const threshold = 10

/** Stops sending with a credential that the gateway refuses, so that a wrong key does not fail a whole campaign. */
export function createCircuit(probeMs: number): Circuit {
  let inRow = 0
  let probeAt = 0
  let proven = false
  const circuit = {
    get open() {
      return inRow >= threshold
    },
    get proven() {
      return proven
    },
    get probeAt() {
      return probeAt
    },
    admits(now: number) {
      if (!circuit.open) return true
      if (now < probeAt) return false
      probeAt = now + probeMs
      return true
    },
    wrong(now: number) {
      inRow += 1
      if (inRow === threshold) probeAt = now + probeMs
    },
    right() {
      inRow = 0
      proven = true
    }
  }
  return circuit
}
