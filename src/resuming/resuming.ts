import {
  type Discard,
  type Discarding,
  discardingOf,
  endPause,
  holdPause,
  type InstallationPause,
  pauseOf,
  scopeOf,
  writePause
} from '../platform/backup/paused.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import type { ProjectId } from '../platform/ids.ts'
import { defineJob, resumeQueue } from '../platform/jobs/definition.ts'
import { add } from '../platform/jobs/jobs.ts'
import { listRetentions, recordAudit, resumeAll } from '../projects/projects.ts'
import { type Waiting, waitingInAll } from './waiting.ts'

export { type Count, kinds, type Waiting } from './waiting.ts'

/** `none` also ends a discard that is under way: what it has not canceled yet is sent. */
export type Wish = Discard | 'none'

/** `busy`: an earlier discard is under way. */
export type Resumed = 'resumed' | 'discarding' | 'not_paused' | 'busy'

// A queue and a name that no earlier version knows: a node of one leaves the job alone and stays paused.
const discardJobRef = { name: 'installation.discard', queue: resumeQueue }

/** What waits in a restored installation. Undefined if it is not paused. */
export async function waitingNow(db: Db): Promise<Waiting | undefined> {
  const pause = await pauseOf(db)
  return pause && (await waitingInAll(db, scopeAt(pause, 'due', new Date()))).total
}

/**
 * Resumes a restored installation, in one transaction. A discard keeps it paused: a job cancels what waited, while no other
 * job runs, and ends the pause.
 */
export async function resumeInstallation(tx: Db, actor: string, wish: Wish | undefined): Promise<Resumed> {
  const pause = await holdPause(tx)
  if (!pause) return 'not_paused'
  if (pause.discarding && wish !== 'none') return 'busy'
  if (wish === undefined || wish === 'none') {
    await end(tx, pause)
    return 'resumed'
  }
  const at = new Date()
  const { projects } = await waitingInAll(tx, scopeAt(pause, wish, at))
  for (const { projectId, waiting } of projects)
    await recordAudit(tx, projectId, {
      actor,
      action: 'project.discard',
      target: projectId,
      details: { discard: wish, backup_made_at: pause.backup_made_at, ...canceledOf(waiting, wish) }
    })
  await writePause(tx, { ...pause, discarding: { at: at.toISOString(), which: wish } })
  await add(tx, discardJobRef, { since: pause.since }, { key: pause.since })
  return 'discarding'
}

const scopeAt = ({ since }: InstallationPause, which: Discard, at: Date) =>
  scopeOf({ since, discarding: { at: at.toISOString(), which } })

const canceledOf = (waiting: Waiting, which: Discard) =>
  Object.fromEntries(
    Object.entries(waiting).map(([kind, { due, later }]) => [kind, which === 'all' ? due + later : due])
  )

/** The projects follow by a job, which knows what waits in them. */
async function end(tx: Db, { since }: InstallationPause): Promise<void> {
  await endPause(tx)
  await add(tx, resumeAll, { since }, { key: since })
}

/** Cancels what waited in one project and belongs to one capability. Safe to run twice. */
export type DiscardStep = (discarding: Discarding, projectId: ProjectId) => Promise<void>

/** Cancels what waited in a backup, project by project, and then resumes the installation. */
export const discardJob = (pool: Pool, steps: readonly DiscardStep[]) =>
  defineJob<{ since: string }>({
    ...discardJobRef,
    // It must not die: the installation would stay paused.
    maxAttempts: Number.POSITIVE_INFINITY,
    async run({ since }, { signal }) {
      const pause = await pauseOf(pool)
      if (pause?.since !== since || !isDiscarding(pause)) return
      const discarding = discardingOf(pool, pause, signal)
      for (const { projectId } of await listRetentions(pool))
        for (const step of steps) await step(discarding, projectId)
      await pool.transaction(async (tx) => {
        const now = await holdPause(tx)
        if (now?.since === since && now.discarding) await end(tx, now)
      })
    }
  })

const isDiscarding = (pause: InstallationPause): pause is Required<InstallationPause> => pause.discarding !== undefined
