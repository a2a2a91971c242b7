import type { JobContext } from '../../platform/jobs/definition.ts'

/** Messages of jobs that wait for gateways without a slot. They stay in memory until they are settled. */
const maxMessages = 20_000

export type FreeSlots = ReturnType<typeof createFreeSlots>

/** Frees the slot of a job while it waits for gateways, unless the jobs without a slot have too many messages already. */
export function createFreeSlots() {
  let messages = 0
  return async <Result>(job: JobContext, count: number, dispatch: () => Promise<Result>): Promise<Result> => {
    if (messages + count <= maxMessages) job.freeSlot()
    messages += count
    try {
      return await dispatch()
    } finally {
      messages -= count
    }
  }
}
