/** npm forwards Ctrl-C, so one arrives twice: only a signal after this time means "stop at once". */
const repeatMs = 2_000

export interface Stopping {
  /** Resolves with the exit code when the service has to stop. */
  stopped: Promise<number>
  stop(code: number): void
  /** Cancels a start that is under way. */
  signal: AbortSignal
  /** Whether a signal asked for the stop. */
  isAsked(): boolean
}

/** Stops on SIGTERM and SIGINT, and ends the process at a second one. */
export function stopOnSignals(say: (line: string) => void): Stopping {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<number>()
  const starting = new AbortController()
  let askedAtMs = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (askedAtMs === 0) {
        askedAtMs = Date.now()
        say('Stopping: finishing open requests and jobs…')
        starting.abort()
        stop(0)
      } else if (Date.now() - askedAtMs > repeatMs) {
        say('Stopping at once.')
        process.exit(1)
      }
    })
  }
  return { stopped, stop, signal: starting.signal, isAsked: () => askedAtMs > 0 }
}
