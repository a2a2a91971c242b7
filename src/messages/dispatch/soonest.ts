/** Resolves with the promise, after the time, or when the signal aborts: whichever comes first. */
export async function soonest(promise: Promise<unknown> | undefined, ms: number, signal: AbortSignal | undefined) {
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, Math.max(0, ms))
  const stop = () => resolve()
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) resolve()
  try {
    await Promise.race(promise === undefined ? [stopped] : [promise, stopped])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}
