/** Wakes one sleeper. A ring without a sleeper wakes the next one at once. */
export interface Bell {
  ring(): void
  /** Resolves at the next ring or after some time. All rings in one turn of the event loop count as one. */
  heard(withinMs: number): Promise<void>
}

export function createBell(): Bell {
  let rung = false
  let wake = () => {}
  return {
    ring() {
      rung = true
      wake()
    },
    heard(withinMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          // No sleeper is left: a ring now is for the next one.
          wake = () => {}
          resolve()
        }, withinMs)
        wake = () => {
          wake = () => {}
          clearTimeout(timer)
          setImmediate(() => {
            rung = false
            resolve()
          })
        }
        if (rung) wake()
      })
    }
  }
}
