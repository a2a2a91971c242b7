import { Readable } from 'node:stream'
import type { Pool } from '../platform/db/db.ts'
import type { Listener } from '../platform/db/listen.ts'
import { statement } from '../platform/db/statement.ts'
import { Unavailable } from '../platform/errors.ts'
import type { ProjectId } from '../platform/ids.ts'
import { steadyMs } from '../platform/time.ts'
import type { OnEnded } from './counters-store.ts'
import { triggerAnswer } from './responses.ts'
import { findTrigger, terminal } from './store.ts'

const channel = 'tidings_triggers'
/** Counters are at most a second old; an end is heard of at once. */
const lookEveryMs = 500
/** Each looks into the database twice a second. */
const mostWatching = 500
/** Proxies cut what is silent. */
const beatMs = 15_000

const tell = statement('triggers.tell_ended', 'select pg_notify($1, id) from unnest($2::text[]) as id')

/** Tells those who watch that triggers have ended. A hint: they look by themselves too. */
export const tellEnded: OnEnded = async (tx, _projectId, triggers) => {
  await tx.query(tell, [channel, triggers.map(({ id }) => id)])
}

export type Streams = ReturnType<typeof createStreams>

/** The progress of triggers, live: an event with the whole trigger whenever it has changed, until it has ended. */
export function createStreams(pool: Pool, listener: Listener) {
  const watching = new Set<{ triggerId: string; look(): void }>()
  let closed = false
  listener.on(channel, (triggerId) => {
    for (const { triggerId: own, look } of watching) if (triggerId === undefined || triggerId === own) look()
  })

  async function* events(projectId: ProjectId, triggerId: string, gone: AbortSignal): AsyncGenerator<string> {
    let look = () => {}
    const entry = { triggerId, look: () => look() }
    watching.add(entry)
    gone.addEventListener('abort', entry.look, { once: true })
    let told = ''
    let toldAt = steadyMs()
    try {
      yield 'retry: 1000\n\n'
      while (!closed && !gone.aborted) {
        const heard = new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, lookEveryMs)
          look = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        const row = await findTrigger(pool, projectId, triggerId)
        if (!row) return
        const data = JSON.stringify(triggerAnswer(row))
        const ended = terminal.has(row.state)
        if (data !== told) yield `event: ${ended ? 'ended' : 'progress'}\ndata: ${data}\n\n`
        else if (steadyMs() - toldAt > beatMs) yield ': still here\n\n'
        if (data !== told || steadyMs() - toldAt > beatMs) toldAt = steadyMs()
        told = data
        if (ended) return
        await heard
      }
    } finally {
      watching.delete(entry)
    }
  }

  return {
    open(projectId: ProjectId, triggerId: string, gone: AbortSignal): Readable {
      if (watching.size >= mostWatching) throw new Unavailable('Too many watch triggers here.')
      return Readable.from(events(projectId, triggerId, gone), { objectMode: false, highWaterMark: 16 * 1024 })
    },
    /** A stop does not wait for those who watch: they come back to another node. */
    async close(): Promise<void> {
      closed = true
      for (const { look } of watching) look()
    }
  }
}
