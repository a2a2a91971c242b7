import { setImmediate as turn } from 'node:timers/promises'

/** How long texts are filled in before other requests get a turn. */
const sliceMs = 5

/**
 * Slices of the time of this process, which all calls that fill in texts share: many calls at once, or one after the other,
 * would otherwise leave no turn to other requests. Calls get slices in the order in which they ask.
 */
function createSlices() {
  let queue: Promise<void> = Promise.resolve()
  let beganMs = 0
  /** Of slices since the last turn. */
  let spentMs = 0

  async function run(work: () => void): Promise<void> {
    beganMs = performance.now()
    work()
    spentMs += performance.now() - beganMs
    if (spentMs < sliceMs) return
    await turn()
    spentMs = 0
  }

  return {
    /** Runs work that ends when `isOver`. */
    give(work: () => void): Promise<void> {
      const given = queue.then(() => run(work))
      // A failure is one of the call alone.
      queue = given.catch(() => {})
      return given
    },
    isOver: (): boolean => spentMs + performance.now() - beganMs >= sliceMs
  }
}

export const slices = createSlices()
