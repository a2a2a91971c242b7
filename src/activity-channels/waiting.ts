import type { Db } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { notify } from '../platform/db/store.ts'
import { type Bell, createBell } from '../platform/jobs/bell.ts'
import { steadyMs } from '../platform/time.ts'

const settledChannel = 'tidings_activity_channels'
/** Finds the end if a notification was lost. */
const pollMs = 250
/** The longest time that a request waits for Apple. */
const longestMs = 10_000

/** Tells requests, on whatever node they wait, that something about a channel was settled. */
export const tellSettled = (db: Db, channelId: string) => db.run(notify, [settledChannel, channelId])

export type Waiting = ReturnType<typeof createWaiting>

/** Lets requests wait until a job, here or on another node, has done what they asked for. */
export function createWaiting(listener: Listener) {
  const waiting = new Map<string, Set<Bell>>()
  listener.on(settledChannel, (channelId) => {
    const heard = channelId === undefined ? [...waiting.values()] : [waiting.get(channelId)]
    for (const bells of heard) for (const bell of bells ?? []) bell.ring()
  })

  /** Looks until there is something to see, for at most 10 s. Returns the last look. */
  return async function until<Seen>(channelId: string, look: () => Promise<Seen>, isEnd: (seen: Seen) => boolean) {
    const bell = createBell()
    const bells = waiting.get(channelId) ?? new Set()
    waiting.set(channelId, bells.add(bell))
    const deadline = steadyMs() + longestMs
    try {
      for (;;) {
        const seen = await look()
        if (isEnd(seen) || steadyMs() >= deadline) return seen
        await bell.heard(Math.min(pollMs, Math.max(1, deadline - steadyMs())))
      }
    } finally {
      bells.delete(bell)
      if (bells.size === 0) waiting.delete(channelId)
    }
  }
}
