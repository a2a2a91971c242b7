export interface Circuit {
  readonly open: boolean
  /** Whether the gateway has ever looked past the credential. */
  readonly proven: boolean
  /** When the next push is sent to try the credential again. */
  readonly probeAt: number
  /** Whether a push may be sent. An open circuit admits one now and then. */
  admits(now: number): boolean
  /** The gateway refused the credential. */
  wrong(now: number): void
  /** The gateway looked past the credential at the push itself. */
  right(): void
}

/**
 * Few enough that the circuit opens before fifty pushes are lost: the first window is thirty-two. In a row, because one
 * refused push among accepted ones is about that push.
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
