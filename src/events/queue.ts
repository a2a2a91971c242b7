import type { Discarding } from '../platform/backup/paused.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import { defineJob, RetryLater, recurring } from '../platform/jobs/definition.ts'
import { add, addMany } from '../platform/jobs/jobs.ts'
import { identity } from '../users/users.ts'
import {
  claimQueued,
  findQueued,
  type QueuedEvent,
  type QueueRow,
  removeQueued,
  waitingProjects
} from './queue-store.ts'

/** An event of a name that some campaign reacts to. */
export interface ArrivedEvent {
  id: string
  userId: string
  deviceId: string | null
  name: string
  at: Date
  messageId: string | null
  properties: Record<string, unknown>
}

/** `starts` is false for events that waited in a backup: they end journeys and count, and start no campaign. */
export interface Handling {
  starts: boolean
}

/** Reacts to events that are stored. */
export interface EventSubscriber {
  /**
   * Each event is handled once: its row of the queue is deleted in the same transaction. Events of one user come in the
   * order of their arrival; inside one call they are sorted by their time. At most 500 at once, all of one project.
   */
  handle(tx: Db, projectId: ProjectId, events: ArrivedEvent[], handling?: Handling): Promise<void>
}

/**
 * Thrown by a subscriber that needs something from outside of its transaction. The queue rolls back, prepares it, and hands
 * over the events again.
 */
export class PrepareFirst extends Error {
  override readonly name = 'PrepareFirst'
  readonly prepare: () => Promise<void>

  constructor(prepare: () => Promise<void>) {
    super('something must be prepared outside of the transaction')
    this.prepare = prepare
  }
}

interface Single {
  projectId: ProjectId
  at: string
  eventId: string
}

const handledTogether = 500
/** After this many batches other projects get the slot. */
const batchesOfARun = 20
/** A batch that failed so often is divided, because one of its events may be the reason. */
const dividedAfter = 3
/**
 * A project under load gets one wake-up in this time. A single event wakes a worker at once; those that follow gather, because
 * a batch costs about as much as an event in it.
 */
const pauseMs = 500

const queue = 'events'
const single = { name: 'events.handle_one', queue }
const together = { name: 'events.handle', queue }

/** Hands queued events to subscribers. The rows of the queue decide; jobs only wake the work. */
export function createEventQueue(pool: Pool, subscribers: () => readonly EventSubscriber[]) {
  const addJob = (projectId: ProjectId) => add(pool, together, { projectId }, { projectId, key: projectId })
  const waking = new Map<ProjectId, { again: boolean }>()

  async function handle(tx: Db, projectId: ProjectId, events: QueuedEvent[], handling?: Handling): Promise<void> {
    const arrived = events.map(toArrived).sort((one, other) => one.at.getTime() - other.at.getTime())
    for (const subscriber of subscribers()) await subscriber.handle(tx, projectId, arrived, handling)
  }

  /** Returns whether more events may wait. */
  async function handleSome(tx: Db, projectId: ProjectId, before?: string, handling?: Handling): Promise<boolean> {
    const rows = await withUsers(tx, projectId, () => claimQueued(tx, projectId, handledTogether, before))
    const events = rows.filter(isStored)
    if (events.length > 0) await handle(tx, projectId, events, handling)
    if (rows.length > 0) await removeQueued(tx, projectId, placesOf(rows))
    return rows.length === handledTogether
  }

  const handleBatch = (projectId: ProjectId): Promise<boolean> =>
    prepared(() => pool.transaction((tx) => handleSome(tx, projectId)))

  /** Gives each event of the next batch a job of its own, so that a bad one fails alone and ends as a dead job. */
  const divide = (projectId: ProjectId) =>
    pool.transaction(async (tx) => {
      const rows = await claimQueued(tx, projectId, handledTogether)
      const jobs = rows.map(({ event_at, event_id }) => ({
        payload: { projectId, at: event_at.toISOString(), eventId: event_id },
        projectId
      }))
      await addMany<Single>(tx, single, jobs)
      await removeQueued(tx, projectId, placesOf(rows))
    })

  /**
   * Wakes a worker after the transaction that stored events. A job added inside it would lock the key of the project, and
   * transactions of several nodes would wait for each other. The sweeper finds what a crash left.
   */
  function wake(projectId: ProjectId): void {
    const known = waking.get(projectId)
    if (known) {
      known.again = true
      return
    }
    const one = { again: false }
    waking.set(projectId, one)
    const end = () => {
      waking.delete(projectId)
      if (one.again) wake(projectId)
    }
    // A failure is left to the sweeper.
    addJob(projectId).then(() => setTimeout(end, pauseMs).unref(), end)
  }

  return {
    wake,
    /** Handles the events that waited in a backup without starting campaigns. */
    async discard({ restoredAt, write }: Discarding, projectId: ProjectId): Promise<void> {
      const before = firstIdAt(restoredAt.getTime())
      while (await prepared(() => write((tx) => handleSome(tx, projectId, before, { starts: false }))));
    },
    jobs: [
      defineJob<{ projectId: ProjectId }>({
        ...together,
        async run({ projectId }, { signal, attempt }) {
          if (attempt > dividedAfter) await divide(projectId)
          for (let batch = 0; batch < batchesOfARun; batch += 1) {
            signal.throwIfAborted()
            if (!(await handleBatch(projectId))) return
          }
          throw new RetryLater('more events wait', 0, { counts: false })
        }
      }),
      defineJob<Single>({
        ...single,
        run: ({ projectId, at, eventId }, { complete }) =>
          prepared(() =>
            pool.transaction(async (tx) => {
              const events = await withUsers(tx, projectId, () => findQueued(tx, projectId, new Date(at), eventId))
              if (events.length > 0) await handle(tx, projectId, events)
              await complete(tx)
            })
          )
      }),
      recurring({
        name: 'events.sweep',
        everyMs: 5_000,
        async run() {
          for (const projectId of await waitingProjects(pool)) await addJob(projectId)
        }
      })
    ]
  }
}

/** Subscribers may need several preparations, each of which takes a transaction. */
const mostPreparations = 5

/** Repeats work that needs preparations outside of its transaction. */
export async function prepared<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof PrepareFirst) || tried >= mostPreparations) throw error
      await error.prepare()
    }
  }
}

/** Reads that follow users who log in meanwhile. Each read holds the users that it found. */
const mostReads = 10

/**
 * Events whose users stay until the end of the transaction. An anonymous user who logs in is merged into another, with the
 * events, so those are read again.
 */
async function withUsers<Row extends { user_id: string | null }>(
  tx: Db,
  projectId: ProjectId,
  read: () => Promise<Row[]>
): Promise<Row[]> {
  for (let left = mostReads; left > 0; left -= 1) {
    const rows = await read()
    const ids = [...new Set(rows.flatMap(({ user_id }) => user_id ?? []))]
    if (ids.length === 0 || (await identity.hold(tx, projectId, ids)).size === ids.length) return rows
  }
  throw new Error('users of events were merged again and again')
}

const placesOf = (rows: QueueRow[]) => rows.map(({ place }) => place)
const isStored = (row: QueueRow): row is QueueRow & QueuedEvent => row.id !== null

const toArrived = (row: QueuedEvent): ArrivedEvent => ({
  id: row.id,
  userId: row.user_id,
  deviceId: row.device_id,
  name: row.name,
  at: row.at,
  messageId: row.message_id,
  properties: row.properties
})
