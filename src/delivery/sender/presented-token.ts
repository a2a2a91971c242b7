import { Refusal } from '../../platform/errors.ts'

export interface PresentedToken {
  /** Whether there is one to present now. If not, it is asked for, and `onReady` or `onFailed` follows. */
  ready(): boolean
  readonly value: string
  /** The gateway called this one too old. */
  renew(refused: string): void
}

const refreshMs = 10_000
/** After a failure, before it is asked for again. */
const pauseMs = 1_000

/**
 * The provider token of one pool. Kept here so that sending needs no promise; asked for again every few seconds, which
 * costs its owner nothing while it is the same.
 */
export function createPresentedToken(
  ask: (refused?: string) => Promise<string>,
  timeoutMs: number,
  events: { onReady: () => void; onFailed: (message: string, refused: boolean) => void }
): PresentedToken {
  let value: string | undefined
  let askedAt = 0
  let asking = false
  let stale = false

  async function fetch(refused?: string) {
    asking = true
    askedAt = Date.now()
    let timer: NodeJS.Timeout | undefined
    try {
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('no provider token in time')), timeoutMs)
      })
      value = await Promise.race([ask(refused), late])
      stale = false
    } catch (error) {
      // A refusal is about the credential; anything else may be better in a moment.
      if (value === undefined || stale)
        events.onFailed(error instanceof Error ? error.message : String(error), error instanceof Refusal)
    } finally {
      clearTimeout(timer)
      asking = false
    }
    if (value !== undefined && !stale) events.onReady()
  }

  return {
    get value() {
      return value ?? ''
    },
    ready() {
      const usable = value !== undefined && !stale
      if (!asking && Date.now() - askedAt > (usable ? refreshMs : pauseMs)) void fetch(stale ? value : undefined)
      return usable
    },
    renew(refused) {
      // Many pushes come back with the same news; the first has seen to it.
      if (refused !== value || stale) return
      stale = true
      if (!asking) void fetch(refused)
    }
  }
}
