import type { JobContext } from '../../platform/jobs/definition.ts'

/** Messages of jobs that wait for gateways without a slot: they stay in memory until they have ended. */
const mostMessages = 20_000

export type Waiting = ReturnType<typeof createWaiting>

/** Frees the slot of a job while gateways respond, as long as not too many messages are with jobs that have none. */
export function createWaiting() {
  let messages = 0
  return async <Result>(context: JobContext, count: number, responded: () => Promise<Result>): Promise<Result> => {
    if (messages + count <= mostMessages) context.freeSlot()
    messages += count
    try {
      return await responded()
    } finally {
      messages -= count
    }
  }
}
