import type { Db, Pool } from '../../platform/db/db.ts'
import type { Listener } from '../../platform/db/listen.ts'
import { notify } from '../../platform/db/store.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Task } from '../model.ts'
import { findRevisions, findTasks } from './store.ts'

const channel = 'tidings_a2a'
/** The interval of polling, because notifications may be lost. */
const pollMs = 1_000

type Watcher = (task: Task) => void

interface Watched {
  projectId: ProjectId
  /** Each with a function for the case that the task is erased. */
  watchers: Map<Watcher, (() => void) | undefined>
  /** The latest revision that was published. */
  revision: number
}

export type Watch = ReturnType<typeof createWatch>

/** Publishes changes of tasks, made here and on other nodes, to the streams and runs of this node. */
export function createWatch({
  pool,
  listener,
  log,
  interested,
  changed
}: {
  pool: Pool
  listener: Listener
  log: Log
  /** Whether this node needs the changes of a task that it does not watch. */
  interested: (taskId: string) => boolean
  changed: (task: Task) => void
}) {
  const watched = new Map<string, Watched>()
  let timer: NodeJS.Timeout | undefined

  listener.on(channel, (payload) => {
    if (payload === undefined) return void look([...watched])
    const [projectId, taskId] = payload.split(' ') as [ProjectId, string]
    const known = watched.get(taskId)
    if (known) void look([[taskId, known]])
    else if (interested(taskId)) void look([[taskId, { projectId, watchers: new Map(), revision: 0 }]])
  })

  function publish(task: Task): void {
    changed(task)
    const known = watched.get(task.id)
    if (!known) return
    known.revision = Math.max(known.revision, task.revision)
    for (const watcher of [...known.watchers.keys()]) watcher(task)
  }

  async function look(wanted: [string, Watched][]): Promise<void> {
    const byProject = Map.groupBy(wanted, ([, { projectId }]) => projectId)
    try {
      for (const [projectId, entries] of byProject) {
        const seen = new Map(entries.map(([id, { revision }]) => [id, revision]))
        const now = await findRevisions(pool, projectId, [...seen.keys()])
        const kept = new Set(now.map(({ id }) => id))
        for (const [id, { watchers }] of entries)
          if (!kept.has(id)) for (const erased of [...watchers.values()]) erased?.()
        const ids = now.filter(({ id, revision }) => revision > seen.get(id)!).map(({ id }) => id)
        if (ids.length === 0) continue
        for (const task of (await findTasks(pool, projectId, ids)).values()) publish(task)
      }
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'watched tasks were not read, will look again')
    }
  }

  return {
    publish,
    /** Runs in the transaction of a change that other nodes need. */
    announce: (tx: Db, projectId: ProjectId, taskId: string) => tx.run(notify, [channel, `${projectId} ${taskId}`]),
    /**
     * Subscribes a watcher and returns a function that ends the subscription. The watcher gets every change, some of
     * them twice. `erased` runs when the task is gone.
     */
    subscribe(projectId: ProjectId, { id: taskId, revision }: Task, watcher: Watcher, erased?: () => void): () => void {
      const known = watched.get(taskId) ?? { projectId, watchers: new Map(), revision }
      // A watcher that starts at an earlier revision makes the other watchers receive later revisions again.
      known.revision = Math.min(known.revision, revision)
      known.watchers.set(watcher, erased)
      watched.set(taskId, known)
      timer ??= setInterval(() => void look([...watched]), pollMs).unref()
      return () => {
        known.watchers.delete(watcher)
        if (known.watchers.size === 0 && watched.get(taskId) === known) watched.delete(taskId)
        if (watched.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
    /** For tests: whether anything is still subscribed. */
    stats: () => ({ watched: watched.size, polling: timer !== undefined }),
    close(): void {
      clearInterval(timer)
      watched.clear()
    }
  }
}
