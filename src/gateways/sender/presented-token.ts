import { steadyMs } from '../../platform/time.ts'
import { ProviderTokenFailed } from '../credentials/credential.ts'

export interface PresentedToken {
  /** Whether there is one to present now. If not, it is asked for, and `onReady` or `onFailed` follows. */
  ready(): boolean
  readonly value: string
  /** The gateway called this one too old. */
  renew(token: string): void
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
  /** Set while the gateway's refusal of it waits for a successor. */
  let refused: string | undefined

  async function fetch(): Promise<void> {
    const presenting = refused
    asking = true
    askedAt = steadyMs()
    let timer: NodeJS.Timeout | undefined
    try {
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error('no provider token in time')), timeoutMs)
      })
      value = await Promise.race([ask(presenting), late])
    } catch (error) {
      asking = false
      // Whoever is refused is wrong; anything else may be better in a moment.
      const wrong = error instanceof ProviderTokenFailed && error.kind === 'refused'
      if (value === undefined || refused !== undefined)
        events.onFailed(error instanceof Error ? error.message : String(error), wrong)
      return
    } finally {
      clearTimeout(timer)
    }
    // Asked for before the news that it is too old: that question has to be put again.
    if (presenting === undefined && value === refused) return fetch()
    asking = false
    refused = undefined
    events.onReady()
  }

  return {
    get value() {
      return value ?? ''
    },
    ready() {
      const usable = value !== undefined && refused === undefined
      if (!asking && steadyMs() - askedAt > (usable ? refreshMs : pauseMs)) void fetch()
      return usable
    },
    renew(token) {
      // Many pushes come back with the same news; the first has seen to it.
      if (token !== value || refused !== undefined) return
      refused = token
      if (!asking) void fetch()
    }
  }
}
