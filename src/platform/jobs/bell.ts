/** Wakes one sleeper. What rings while nobody sleeps is heard by the next one. */
export interface Bell {
  ring(): void
  /** Resolves at the next ring or after some time. All that rings in one turn of the event loop is one ring. */
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
          // Nobody sleeps any more: what rings now is for the next one.
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
