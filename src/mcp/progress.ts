import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerContext } from '@modelcontextprotocol/server'
import type { ProjectId } from '../platform/ids.ts'
import { type Triggers, triggerResponse } from '../triggers/triggers.ts'

const usual = {
  lookMs: 1_000,
  /** Below the 60 s after which clients give a call up. */
  longestMs: 30_000,
  /** Calls of this node that may wait at once. Further ones return without waiting. */
  mostWaiting: 200
}

export type Follow = ReturnType<typeof createFollow>

/** Tells a client that asked for progress how far a trigger is, until it ends or 30 s have passed. */
export function createFollow(
  triggers: Pick<Triggers, 'get'>,
  stopped: AbortSignal,
  limits: Partial<typeof usual> = {}
) {
  const { lookMs, longestMs, mostWaiting } = { ...usual, ...limits }
  let waiting = 0

  async function follow(projectId: ProjectId, triggerId: string, { mcpReq }: ServerContext): Promise<void> {
    const token = mcpReq._meta?.progressToken
    if (token === undefined || waiting >= mostWaiting) return
    const signal = AbortSignal.any([stopped, mcpReq.signal, AbortSignal.timeout(longestMs)])
    waiting += 1
    try {
      for (let last = -1; !signal.aborted; ) {
        const { state, counts, ended_at } = triggerResponse(await triggers.get(projectId, triggerId))
        const progress = counts.sent + counts.failed + counts.skipped
        if (progress > last || ended_at) {
          const message = `The trigger is ${state}: ${counts.sent} sent, ${counts.failed} failed, ${counts.skipped} skipped of ${counts.targeted}.`
          await mcpReq.notify({
            method: 'notifications/progress',
            // Progress must grow with every notification.
            params: { progressToken: token, progress: Math.max(progress, last + 1), total: counts.targeted, message }
          })
          last = Math.max(progress, last + 1)
        }
        if (ended_at) return
        await sleep(lookMs, undefined, { signal }).catch(() => {})
      }
    } finally {
      waiting -= 1
    }
  }

  return follow
}
