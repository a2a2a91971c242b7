import { Readable } from 'node:stream'
import type { Pool } from '../../platform/db/db.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Nodes } from '../../platform/nodes/nodes.ts'
import type { Kind } from './schemas.ts'
import { watchProject } from './watching.ts'

/** A page that hears nothing for longer knows that it has lost the service. */
const beatMs = 2_000

interface Follower {
  pending: Set<Kind>
  wake(): void
}

interface Watched {
  followers: Set<Follower>
  watch: ReturnType<typeof watchProject>
}

export type Changes = ReturnType<typeof createChanges>

/** Streams which kinds of things change in a project. A project is read only while a stream follows it. */
export function createChanges({ pool, nodes, log }: { pool: Pool; nodes: Pick<Nodes, 'list'>; log: Log }) {
  const watched = new Map<ProjectId, Watched>()
  let closed = false
  const nodesText = () =>
    nodes
      .list()
      .map(({ id, role }) => id + role)
      .sort()
      .join()

  function enter(projectId: ProjectId, follower: Follower): Watched {
    const known = watched.get(projectId)
    const followers = known?.followers ?? new Set()
    const report = (kinds: ReadonlySet<Kind>) => {
      for (const { pending, wake } of followers) {
        for (const kind of kinds) pending.add(kind)
        wake()
      }
    }
    const entry = known ?? { followers, watch: watchProject({ pool, log }, projectId, nodesText, report) }
    watched.set(projectId, entry)
    followers.add(follower)
    return entry
  }

  function leave(projectId: ProjectId, follower: Follower): void {
    const entry = watched.get(projectId)
    if (!entry?.followers.delete(follower)) return
    if (entry.followers.size > 0) return
    entry.watch.stop()
    watched.delete(projectId)
  }

  async function* events(projectId: ProjectId, closing: AbortSignal, follower: Follower, ready: Promise<void>) {
    closing.addEventListener('abort', () => follower.wake(), { once: true })
    try {
      await ready
      yield 'retry: 1000\nevent: ready\ndata: {}\n\n'
      while (!closed && !closing.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, beatMs)
          follower.wake = () => {
            clearTimeout(timer)
            resolve()
          }
          if (follower.pending.size > 0 || closing.aborted || closed) follower.wake()
        })
        if (closing.aborted) return
        const kinds = [...follower.pending]
        follower.pending.clear()
        yield kinds.length > 0 ? `event: changed\ndata: ${JSON.stringify({ kinds })}\n\n` : 'event: beat\ndata: {}\n\n'
      }
    } finally {
      leave(projectId, follower)
    }
  }

  return {
    open(projectId: ProjectId, closing: AbortSignal): Readable {
      if (closing.aborted) return Readable.from([])
      const follower: Follower = { pending: new Set(), wake: () => {} }
      const { watch } = enter(projectId, follower)
      // The stream may be closed before it is read.
      closing.addEventListener('abort', () => leave(projectId, follower), { once: true })
      const text = events(projectId, closing, follower, watch.ready)
      return Readable.from(text, { objectMode: false, highWaterMark: 16 * 1024 })
    },
    /** How many projects are read now. */
    watching: () => watched.size,
    /** Ends all streams, so that a stop does not wait for them. Pages reconnect to another node. */
    async close(): Promise<void> {
      closed = true
      for (const { followers, watch } of watched.values()) {
        watch.stop()
        for (const { wake } of followers) wake()
      }
    }
  }
}
