import { Readable } from 'node:stream'
import { Refusal, Unavailable } from '../../platform/errors.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { type RpcId, success } from '../envelope.ts'
import { isSettled, isTerminal, type LogEntry, type Task, taskAt } from '../model.ts'
import type { Watch } from './watch.ts'

/** Open at once on one node. Each takes a connection and some memory until its client ends it. */
const mostOfProject = 1_000
const mostOfNode = 5_000
/** Comment lines, so that proxies and clients see that the stream lives. */
const heartBeatMs = 15_000

interface Open {
  beat(): void
  end(): void
}

export interface StreamRequest {
  projectId: ProjectId
  id: RpcId
  dialect: Dialect
  /** The task as it is known now. */
  task: Task
  /** The number of entries of its log that the first event stands for. */
  from: number
  /** Of the first event, where that shows messages; all where undefined. */
  historyLength?: number | undefined
  /** Whether more may come of a task that waits for its caller. */
  waits: boolean
  /** The stream ends with the error of this promise. */
  failed?: Promise<unknown>
}

export type Streams = ReturnType<typeof createStreams>

/** Open streams of server-sent events. They replay the log of their task, so all streams of a task show the same order. */
export function createStreams(
  watch: Pick<Watch, 'subscribe'>,
  { beatMs = heartBeatMs, ofProject = mostOfProject, ofNode = mostOfNode } = {}
) {
  const open = new Set<Open>()
  /** Places that are taken, also by streams whose first event is still being made. */
  const taken = new Map<ProjectId, number>()
  let takenAll = 0
  let timer: NodeJS.Timeout | undefined

  /** Takes a place, and returns a function that gives it back, once. */
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

  function add(stream: Open): void {
    open.add(stream)
    timer ??= setInterval(() => {
      for (const each of open) each.beat()
    }, beatMs).unref()
  }

  function remove(stream: Open): void {
    open.delete(stream)
    if (open.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function follow(
    { projectId, id, dialect, task, from, historyLength, waits, failed }: StreamRequest,
    leave: () => void
  ): Readable {
    let latest = task
    let position = from
    let over = false
    // The log is read only while the client reads, so at most one log waits here.
    let wanted = true

    const write = (result: unknown) => {
      if (result !== undefined) wanted = readable.push(`data: ${JSON.stringify(success(id, result))}\n\n`)
    }
    function pump(): void {
      while (wanted && !over && position < latest.log.length) {
        const entry = latest.log[position] as LogEntry
        position += 1
        write(dialect.update(latest, entry))
        if ('status' in entry && isSettled(entry.status.state)) finish()
      }
    }
    function finish(): void {
      over = true
      stop()
      readable.push(null)
    }
    function stop(): void {
      unsubscribe()
      remove(self)
    }
    const self: Open = {
      beat: () => {
        if (!over && readable.readableLength === 0) readable.push(': still here\n\n')
      },
      end: () => {
        if (!over) finish()
      }
    }
    const readable = new Readable({
      read() {
        wanted = true
        pump()
      },
      destroy(error, done) {
        over = true
        stop()
        // Not earlier: the stream takes its place until its client has read the end or disconnects.
        leave()
        done(error)
      }
    })
    const unsubscribe = watch.subscribe(projectId, task, (changed) => {
      if (changed.revision < latest.revision) return
      latest = changed
      pump()
    })
    add(self)
    write(dialect.begin(taskAt(task, from), { historyLength, artifacts: true }))
    // A task that settled before the stream began has nothing more to show.
    const { state } = task.status
    if (from >= task.log.length && (waits ? isTerminal(state) : isSettled(state))) finish()
    failed?.catch((error: Error) => {
      if (!over) readable.destroy(error)
    })
    return readable
  }

  return {
    stats: () => ({ open: open.size, places: takenAll, beating: timer !== undefined }),
    /** Ends those that are open, so that a stop does not wait for them. */
    close(): void {
      for (const stream of [...open]) stream.end()
    },

    /** Opens a stream where there is room. Without room, `prepare` does not run and nothing is done. */
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
