import { Readable } from 'node:stream'
import type { Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import type { ProjectId } from '../platform/ids.ts'
import { inParts } from '../platform/parts.ts'
import { steadyMs } from '../platform/time.ts'
import type { OnEnded } from './counting/counter-store.ts'
import { triggerResponse } from './response.ts'
import { findTrigger, notifyStreams, terminal } from './store.ts'

const channel = 'tidings_triggers'
/** Counters are at most a second old. An end is notified and read at once. */
const pollMs = 500
/** Proxies close silent connections. */
const beatMs = 15_000

/** Ids in one notification, which holds 8,000 bytes. Every node reads every notification, so few are sent. */
const idsTogether = 200

/** Wakes the streams of ended triggers. */
export const notifyEnded: OnEnded = async (tx, _projectId, triggers) => {
  const ids = triggers.map(({ id }) => id)
  await notifyStreams(
    tx,
    channel,
    inParts(ids, idsTogether).map((some) => some.join(' '))
  )
}

export type Streams = ReturnType<typeof createStreams>

/** Streams the progress of triggers: an event with the whole trigger whenever it changes, until it has ended. */
export function createStreams(pool: Pool, listener: Listener) {
  const watching = new Set<{ triggerId: string; look(): void }>()
  let closed = false
  listener.on(channel, (triggerIds) => {
    for (const { triggerId: own, look } of watching) if (triggerIds === undefined || triggerIds.includes(own)) look()
  })

  async function* events(projectId: ProjectId, triggerId: string, closing: AbortSignal): AsyncGenerator<string> {
    let look = () => {}
    const entry = { triggerId, look: () => look() }
    watching.add(entry)
    closing.addEventListener('abort', entry.look, { once: true })
    let sent = ''
    let sentAt = steadyMs()
    try {
      yield 'retry: 1000\n\n'
      while (!closed && !closing.aborted) {
        const changed = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollMs)
          look = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        const row = await findTrigger(pool, projectId, triggerId)
        if (!row) return
        const data = JSON.stringify(triggerResponse(row))
        const ended = terminal.has(row.state)
        if (data !== sent) yield `event: ${ended ? 'ended' : 'progress'}\ndata: ${data}\n\n`
        else if (steadyMs() - sentAt > beatMs) yield ': still here\n\n'
        if (data !== sent || steadyMs() - sentAt > beatMs) sentAt = steadyMs()
        sent = data
        if (ended) return
        await changed
      }
    } finally {
      watching.delete(entry)
    }
  }

  return {
    open(projectId: ProjectId, triggerId: string, closing: AbortSignal): Readable {
      return Readable.from(events(projectId, triggerId, closing), { objectMode: false, highWaterMark: 16 * 1024 })
    },
    /** Ends all streams, so that a stop does not wait for them. Clients reconnect to another node. */
    async close(): Promise<void> {
      closed = true
      for (const { look } of watching) look()
    }
  }
}
