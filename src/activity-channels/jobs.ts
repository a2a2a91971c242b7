import type { Pauses } from '../messages/messages.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob, RetryLater, recurring } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import { listRetentions } from '../projects/projects.ts'
import type { Left } from './asking.ts'
import { sweepChanges } from './change-store.ts'
import { type App, type Creating, createNext } from './creating.ts'
import { type Sending, serveNext } from './sending.ts'
import { findOpen, findOpenOfProject, type OpenChannel, sweepFailedChannels } from './store.ts'

interface CreatePayload extends App {
  projectId: ProjectId
}

interface ServePayload {
  projectId: ProjectId
  channelId: string
}

/** Jobs of this queue wait for Apple; they need many slots and little of the processor. */
export const channelQueue = 'activity-channels'
const createRef = { name: 'activity-channels.create', queue: channelQueue }
const serveRef = { name: 'activity-channels.serve', queue: channelQueue }

/**
 * Channels of one app are created one after the other: after a crash, the one new id at Apple is that of the one request
 * that was under way.
 */
export const addCreating = (tx: Db, projectId: ProjectId, { app, environment }: App) =>
  add<CreatePayload>(
    tx,
    createRef,
    { projectId, app, environment },
    { projectId, key: `${projectId} ${environment} ${app}` }
  )

/** One job per channel, however many nodes there are: that keeps the changes of a channel in order. */
export const addServing = (tx: Db, projectId: ProjectId, channelId: string) =>
  add<ServePayload>(tx, serveRef, { projectId, channelId }, { projectId, key: `${projectId} ${channelId}` })

const addFor = (db: Db, { project_id, id, state, app, environment }: OpenChannel) =>
  state === 'creating' ? addCreating(db, project_id, { app, environment }) : addServing(db, project_id, id)

/** Makes waiting work due again, after a pause of the project. */
export async function resumeChannels(tx: Db, projectId: ProjectId): Promise<void> {
  for (const open of await findOpenOfProject(tx, projectId)) await addFor(tx, open)
}

/** A channel that changes all the time gives its slot to others after this many pieces of work. */
const piecesAtOnce = 50

async function untilDone(signal: AbortSignal, next: () => Promise<Left>): Promise<void> {
  for (let piece = 0; piece < piecesAtOnce; piece += 1) {
    signal.throwIfAborted()
    const left = await next()
    if (left === 'nothing') return
    if (left !== 'more') throw new RetryLater(left.reason, Math.max(1, left.waitMs), { anew: true })
  }
  throw new RetryLater('Others take their turn.', 1, { counts: false })
}

const sweepMs = 30_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** A channel that Apple refused stays in the list for a while, for a caller who repeats its key. */
const failedDays = 7

export function channelJobs(deps: Creating & Sending & { pool: Pool; pauses: Pauses }) {
  const { pool, pauses } = deps
  // A paused project ends its jobs; the resume adds them again.
  const unpaused = (projectId: ProjectId, next: () => Promise<Left>) => async (): Promise<Left> =>
    (await pauses.paused(projectId)) ? 'nothing' : next()
  return [
    defineJob<CreatePayload>({
      ...createRef,
      run: ({ projectId, app, environment }, { signal }) =>
        untilDone(
          signal,
          unpaused(projectId, () => createNext(deps, projectId, { app, environment }))
        )
    }),
    defineJob<ServePayload>({
      ...serveRef,
      run: ({ projectId, channelId }, { signal }) =>
        untilDone(
          signal,
          unpaused(projectId, () => serveNext(deps, projectId, channelId, signal))
        )
    }),
    recurring({
      name: 'activity-channels.sweep',
      everyMs: sweepMs,
      async run() {
        for (const open of await findOpen(pool, new Date(Date.now() - sweepMs))) await addFor(pool, open)
      }
    }),
    recurring({
      name: 'activity-channels.keep',
      everyMs: hourMs,
      async run({ signal }) {
        for (const { projectId, retention } of await listRetentions(pool)) {
          const before = new Date(Date.now() - retention.messages_days * dayMs)
          await sweepFailedChannels(pool, projectId, new Date(Date.now() - failedDays * dayMs))
          while ((await sweepChanges(pool, projectId, before)) > 0) signal.throwIfAborted()
        }
      }
    })
  ]
}
