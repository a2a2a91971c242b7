import { Refusal } from '../platform/errors.ts'

/** Waiting tasks of one address and of all. With the usual cost of a hash the last one waits about 20 seconds. */
const mostOfAddress = 8
const mostOfAll = 64

/**
 * Runs a few tasks at a time, addresses by turns: a flood from one address delays itself, and others wait for one of its
 * tasks at most.
 */
export function createTurns(slots: number) {
  const lines = new Map<string, (() => void)[]>()
  let [running, waiting] = [0, 0]

  function next(): void {
    const [first] = lines
    if (running >= slots || !first) return
    const [address, line] = first
    const start = line.shift()!
    // The address goes to the end of the line of addresses.
    lines.delete(address)
    if (line.length > 0) lines.set(address, line)
    waiting--
    running++
    start()
  }

  return {
    async take<Result>(address: string, task: () => Promise<Result>): Promise<Result> {
      const line = lines.get(address) ?? []
      if (line.length >= mostOfAddress || waiting >= mostOfAll)
        throw new Refusal('rate_limited', 'Too many sign-ins wait at this moment. Try again in a few seconds.')
      const { promise, resolve } = Promise.withResolvers<void>()
      line.push(resolve)
      lines.set(address, line)
      waiting++
      next()
      await promise
      try {
        return await task()
      } finally {
        running--
        next()
      }
    }
  }
}
