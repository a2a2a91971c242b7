import { Refusal } from '../platform/errors.ts'

/** Waiting tasks of one address and of all strangers. With the usual cost of a hash the last one waits about 20 seconds. */
const mostOfAddress = 8
const mostOfAll = 64

interface Lane {
  lines: Map<string, (() => void)[]>
  waiting: number
}

const createLane = (): Lane => ({ lines: new Map(), waiting: 0 })

/**
 * Runs a few tasks at a time, addresses by turns: a flood from one address delays itself, and others wait for one of its
 * tasks at most. Known callers and strangers take turns too, so that a flood from many addresses keeps no known one out.
 */
export function createTurns(slots: number) {
  const [known, strangers] = [createLane(), createLane()]
  let lanes = [known, strangers]
  let running = 0

  function next(): void {
    const lane = lanes.find(({ waiting }) => waiting > 0)
    if (running >= slots || !lane) return
    lanes = lane === known ? [strangers, known] : [known, strangers]
    const [[address, line]] = lane.lines as unknown as [[string, (() => void)[]]]
    const start = line.shift()!
    // The address goes to the end of the line of addresses.
    lane.lines.delete(address)
    if (line.length > 0) lane.lines.set(address, line)
    lane.waiting--
    running++
    start()
  }

  return {
    /** `isKnown`: the name is not that of an address, but of a member who has been here before. */
    async take<Result>(name: string, task: () => Promise<Result>, isKnown = false): Promise<Result> {
      const lane = isKnown ? known : strangers
      const line = lane.lines.get(name) ?? []
      if (line.length >= mostOfAddress || lane.waiting >= mostOfAll)
        throw new Refusal('rate_limited', 'Too many sign-ins wait at this moment. Try again in a few seconds.')
      const { promise, resolve } = Promise.withResolvers<void>()
      line.push(resolve)
      lane.lines.set(name, line)
      lane.waiting++
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
