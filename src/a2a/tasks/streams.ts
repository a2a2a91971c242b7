import type { Readable } from 'node:stream'
import { Refusal, Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { type StreamRequest, TaskStream } from './task-stream.ts'
import type { Watch } from './watch.ts'

/** The most streams open at once. Each takes a connection and some memory until its client closes it. */
const mostOfProject = 1_000
const mostOfNode = 5_000
/** The interval of comment lines, which show proxies and clients that the stream is alive. */
const heartBeatMs = 15_000
/** How soon a stream notices that the key of its caller was revoked or has expired. */
const keyCheckMs = 5_000

export type Streams = ReturnType<typeof createStreams>

/** Open streams of server-sent events. They replay the log of their task, so all streams of a task show the same order. */
export function createStreams(
  watch: Pick<Watch, 'subscribe'>,
  { beatMs = heartBeatMs, recheckMs = keyCheckMs, ofProject = mostOfProject, ofNode = mostOfNode } = {}
) {
  const open = new Set<TaskStream>()
  /** The number of reserved places, including streams whose first event is not ready yet. */
  const taken = new Map<ProjectId, number>()
  let takenAll = 0
  let timers: NodeJS.Timeout[] = []

  /** Reserves a place, and returns a function that releases it once. */
  function enter(projectId: ProjectId): () => void {
    const before = taken.get(projectId) ?? 0
    if (before >= ofProject)
      throw new Refusal(
        'too_many_streams',
        `The project has ${ofProject} streams open on this node. Close some, or ask with GetTask.`
      )
    if (takenAll >= ofNode) throw new Unavailable(`${ofNode} streams of agents are open on this node.`)
    taken.set(projectId, before + 1)
    takenAll += 1
    let here = true
    return () => {
      if (!here) return
      here = false
      takenAll -= 1
      const left = taken.get(projectId)! - 1
      if (left === 0) taken.delete(projectId)
      else taken.set(projectId, left)
    }
  }

  function add(stream: TaskStream): void {
    open.add(stream)
    if (timers.length > 0) return
    timers = [
      setInterval(() => {
        for (const each of open) each.beat()
      }, beatMs),
      setInterval(() => {
        for (const each of open) each.recheck()
      }, recheckMs)
    ]
    for (const timer of timers) timer.unref()
  }

  function remove(stream: TaskStream): void {
    open.delete(stream)
    if (open.size > 0) return
    for (const timer of timers) clearInterval(timer)
    timers = []
  }

  function follow(request: StreamRequest, leave: () => void): Readable {
    const stream = new TaskStream(request, watch, { stopped: remove, closed: leave })
    add(stream)
    stream.begin(request)
    return stream
  }

  return {
    stats: () => ({ open: open.size, places: takenAll, beating: timers.length > 0 }),
    /** Ends the open streams, so that a stop does not wait for them. */
    close(): void {
      for (const stream of [...open]) stream.finish()
    },

    /** Opens a stream if a place is free. Otherwise `prepare` does not run, and nothing changes. */
    async open(projectId: ProjectId, prepare: () => Promise<Omit<StreamRequest, 'projectId'>>): Promise<Readable> {
      const leave = enter(projectId)
      try {
        return follow({ projectId, ...(await prepare()) }, leave)
      } catch (error) {
        leave()
        throw error
      }
    }
  }
}
