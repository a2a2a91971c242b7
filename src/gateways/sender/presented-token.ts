import { steadyMs } from '../../platform/time.ts'
import { ProviderTokenFailed } from '../credentials/credential.ts'

export interface PresentedToken {
  /** Whether there is a token to present now. If not, one is requested, and `onReady` or `onFailed` is called later. */
  ready(): boolean
  readonly value: string
  /** The gateway called this token too old. */
  renew(token: string): void
}

const refreshMs = 10_000
/** The pause after a failure. */
const pauseMs = 1_000

/**
 * The provider token of one pool. It is kept here so that sending needs no promise, and requested again every few
 * seconds, which is cheap while it stays the same.
 */
export function createPresentedToken(
  ask: (refused?: string) => Promise<string>,
  timeoutMs: number,
  events: { onReady: () => void; onFailed: (message: string, refused: boolean) => void }
): PresentedToken {
  let value: string | undefined
  let askedAt = 0
  let asking = false
  /** Set after the gateway refused the token, until there is a successor. */
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
      // A refused credential is wrong; any other failure may pass in a moment.
      const wrong = error instanceof ProviderTokenFailed && error.kind === 'refused'
      if (value === undefined || refused !== undefined)
        events.onFailed(error instanceof Error ? error.message : String(error), wrong)
      return
    } finally {
      clearTimeout(timer)
    }
    // This request began before the gateway called the token too old, so it is repeated.
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
      // Many pushes are refused for the same token; the first one has started the renewal.
      if (token !== value || refused !== undefined) return
      refused = token
      if (!asking) void fetch()
    }
  }
}
