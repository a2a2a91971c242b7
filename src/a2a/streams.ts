import { Readable } from 'node:stream'
import type { ProjectId } from '../platform/ids.ts'
import type { Dialect } from './dialects/dialect.ts'
import { type RpcId, success } from './envelope.ts'
import { isSettled, isTerminal, type LogEntry, type Task, taskAt } from './model.ts'
import type { Watch } from './tasks/watch.ts'

/** Comment lines, so that proxies and clients see that the stream lives. */
const heartBeatMs = 15_000

interface Open {
  beat(): void
  end(): void
}

export interface StreamWish {
  projectId: ProjectId
  id: RpcId
  dialect: Dialect
  /** The task as it is known now. */
  task: Task
  /** How many entries of its log the first event stands for. */
  from: number
  /** Whether more may come of a task that waits for its caller. */
  waits: boolean
  /** Where whoever runs it gives up, the stream ends with this error. */
  failed?: Promise<unknown>
}

export type Streams = ReturnType<typeof createStreams>

/** Open streams of server-sent events. They read the log of their task, so all of one task tell the same in one order. */
export function createStreams(watch: Pick<Watch, 'subscribe'>, beatMs = heartBeatMs) {
  const open = new Set<Open>()
  let timer: NodeJS.Timeout | undefined

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

  return {
    stats: () => ({ open: open.size, beating: timer !== undefined }),
    /** Ends those that are open, so that a stop does not wait for them. */
    close(): void {
      for (const stream of [...open]) stream.end()
    },

    tell({ projectId, id, dialect, task, from, waits, failed }: StreamWish): Readable {
      let latest = task
      let position = from
      let over = false
      // At most one task's log waits here: nothing is read from it while the client does not read.
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
          done(error)
        }
      })
      const unsubscribe = watch.subscribe(projectId, task, (changed) => {
        if (changed.revision < latest.revision) return
        latest = changed
        pump()
      })
      add(self)
      write(dialect.begin(taskAt(task, from)))
      // What settled before the stream began is all there is to tell.
      const { state } = task.status
      if (from >= task.log.length && (waits ? isTerminal(state) : isSettled(state))) finish()
      failed?.catch((error: Error) => {
        if (!over) readable.destroy(error)
      })
      return readable
    }
  }
}
