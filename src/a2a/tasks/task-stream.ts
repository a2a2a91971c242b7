import { Readable } from 'node:stream'
import type { ProjectId } from '../../platform/ids.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { type RpcId, success } from '../envelope.ts'
import { isSettled, isTerminal, type LogEntry, type Task, type TaskState, taskAt } from '../model.ts'
import type { Watch } from './watch.ts'

export interface StreamRequest {
  projectId: ProjectId
  id: RpcId
  dialect: Dialect
  /** The latest known state of the task. */
  task: Task
  /** The number of log entries that the first event covers. */
  from: number
  /** The number of messages in the first event, if it shows messages; undefined for all. */
  historyLength?: number | undefined
  /** Whether the stream stays open while the task waits for its caller. */
  waits: boolean
  /** The stream ends with the error of this promise. */
  failed?: Promise<unknown>
  /** Whether the key of the caller is still valid; undefined if another part checks it. */
  stillValid?: (() => Promise<boolean>) | undefined
}

/** Replays the log of a task to one client as server-sent events, until the task ends or, unless the stream waits, asks. */
export class TaskStream extends Readable {
  readonly #id: RpcId
  readonly #dialect: Dialect
  /** Whether the stream closes in this state of the task. */
  readonly #closesIn: (state: TaskState) => boolean
  readonly #unsubscribe: () => void
  /** Runs when no further event comes. */
  readonly #stopped: (stream: TaskStream) => void
  /** Runs when the client has read the end or disconnects; until then the stream keeps its place. */
  readonly #closed: () => void
  readonly #stillValid: StreamRequest['stillValid']
  /** Without its messages, of which only the first event shows any: they may have 12 MB. */
  #latest: Task
  #position: number
  #over = false
  /** The log is read only while the client reads, so at most one log waits here. */
  #wanted = true

  constructor(
    { projectId, id, dialect, task, from, waits, stillValid }: StreamRequest,
    watch: Pick<Watch, 'subscribe'>,
    { stopped, closed }: { stopped: (stream: TaskStream) => void; closed: () => void }
  ) {
    super()
    this.#id = id
    this.#dialect = dialect
    this.#closesIn = waits ? isTerminal : isSettled
    this.#stillValid = stillValid
    this.#latest = withoutMessages(task)
    this.#position = from
    this.#stopped = stopped
    this.#closed = closed
    const changed = (next: Task) => {
      if (next.revision < this.#latest.revision) return
      this.#latest = withoutMessages(next)
      this.#pump()
    }
    this.#unsubscribe = watch.subscribe(projectId, task, changed, () => this.finish())
  }

  begin({ task, from, historyLength, failed }: StreamRequest): void {
    this.#write(this.#dialect.begin(taskAt(task, from), { historyLength, artifacts: true }))
    // A task that settled before the stream began has nothing more to show.
    if (from >= task.log.length && this.#closesIn(task.status.state)) this.finish()
    failed?.catch((error: Error) => {
      if (!this.#over) this.destroy(error)
    })
  }

  beat(): void {
    if (!this.#over && this.readableLength === 0) this.push(': still here\n\n')
  }

  /** Ends the stream if its caller is refused now. While the database cannot be reached, callers cannot be checked. */
  recheck(): void {
    this.#stillValid?.().then(
      (valid) => {
        if (!valid) this.finish()
      },
      () => {}
    )
  }

  finish(): void {
    if (this.#over) return
    this.#stop()
    this.push(null)
  }

  override _read(): void {
    this.#wanted = true
    this.#pump()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stop()
    this.#closed()
    done(error)
  }

  #stop(): void {
    this.#over = true
    this.#unsubscribe()
    this.#stopped(this)
  }

  #pump(): void {
    while (this.#wanted && !this.#over && this.#position < this.#latest.log.length) {
      const entry = this.#latest.log[this.#position] as LogEntry
      this.#position += 1
      const last = 'status' in entry && this.#closesIn(entry.status.state)
      this.#write(this.#dialect.update(this.#latest, entry, last))
      if (last) this.finish()
    }
  }

  #write(result: unknown): void {
    if (result !== undefined) this.#wanted = this.push(`data: ${JSON.stringify(success(this.#id, result))}\n\n`)
  }
}

const withoutMessages = (task: Task): Task => ({ ...task, history: [] })
