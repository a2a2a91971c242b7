/** Retries until the check passes; the limit is a bound, never a measurement. */
export async function eventually<Result>(check: () => Promise<Result> | Result, withinMs = 10_000): Promise<Result> {
  const beganAt = Date.now()
  for (;;) {
    try {
      return await check()
    } catch (error) {
      const waitedMs = Date.now() - beganAt
      if (waitedMs > withinMs) throw error
      // A check that fails for long is repeated less often, because other tests need the processor.
      await new Promise((resolve) => setTimeout(resolve, Math.min(100, 10 + waitedMs / 10)))
    }
  }
}
