/** Runs work in order, at most so much at the same time. */
export function createTurns(most: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The next one takes the place over.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
