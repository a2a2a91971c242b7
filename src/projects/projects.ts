import { randomInt } from 'node:crypto'
import { pausedSentence, pauseOf, sharePause } from '../platform/backup/paused.ts'
import type { Config } from '../platform/config/config.ts'
import type { Db, Pool } from '../platform/db/db.ts'
import { notify } from '../platform/db/store.ts'
import { Refusal } from '../platform/errors.ts'
import { refusing } from '../platform/fields.ts'
import type { ProjectId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { record } from './audit/audit-store.ts'
import { formerOf } from './audit/former.ts'
import { recordInstallation } from './audit/installation-store.ts'
import { forgetNames } from './audit/name-store.ts'
import { type CallerKey, type Credentials, changedChannel } from './credentials.ts'
import { findIdentitySecret } from './identity-store.ts'
import { type Change, createKeyring } from './keyring.ts'
import { hashOf } from './keys.ts'
import {
  type Mode,
  noSuchProject,
  type Project,
  type ProjectRow,
  type Retention,
  retentionOf,
  toProject
} from './project.ts'
import * as store from './store.ts'

export { actingWithKey } from './acting.ts'
export {
  type Admission,
  type ApiAccess,
  checkConsoleHeader,
  consoleHeader,
  createAdmission,
  type ManageAccess,
  type ManageCaller
} from './admission.ts'
export {
  type AuditFilter,
  type AuditRow,
  changesOf,
  listActors,
  listAudit,
  record as recordAudit
} from './audit/audit-store.ts'
export { listInstallationActors, listInstallationAudit, recordInstallation } from './audit/installation-store.ts'
export { createNames, type Names, type NamesOf } from './audit/names.ts'
export { type Cookies, cookieOf, createCookies } from './cookies.ts'
export {
  type ApiCaller,
  type CallerKey,
  type Credentials,
  changedChannel,
  createCredentials,
  type KnownSession,
  type People
} from './credentials.ts'
export { checkIdentity, createIdentity, type Identity } from './identity.ts'
export { resumeAll } from './jobs.ts'
export type { KeyKind, Role } from './keys.ts'
export { hashOf, isPossible, newCredential, prefixes } from './keys.ts'
export { networkOf } from './lookups/strangers.ts'
export type { NewKey } from './new-key.ts'
export { counted, type Permit, type Policy, type PolicyHours } from './policy.ts'
export { actorOf, atLeast, highestRole, type Principal, reachOf, roleIn } from './principal.ts'
export {
  isProjectId,
  type Limits,
  type MessageLimit,
  type Mode,
  noSuchProject,
  type Project,
  type ProjectHours,
  type Retention,
  toProject
} from './project.ts'
export { createRateLimits, type RateLimits } from './rate-limits/rate-limit.ts'
export { createSharedLimits } from './rate-limits/shared-limits.ts'
export {
  countReached,
  endReservations,
  lockReservation,
  moveReservation,
  overspent,
  recipientsUsed,
  reserveRecipients
} from './recipients-store.ts'
export {
  type Browser,
  codeSeconds,
  endAllSessions,
  endSession,
  endSessionsById,
  endSessionsOf,
  type Holder,
  type How,
  longestSessionSeconds,
  makeSignInCode,
  openSession,
  redeemCode
} from './session-store.ts'
export {
  hasAdminToken,
  type KeyRow,
  type ProjectChanges,
  pauseRunningProjects,
  renewWantedEvents,
  type TokenRow
} from './store.ts'
export { userTokenHeader } from './user-token.ts'
export type Projects = ReturnType<typeof createProjects>

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** A project without the fields that the plan and the defaults decide. */
const set = <Fields extends object>(fields: Fields = {} as Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Record<keyof Fields, number>
const randomProjectId = () => Array.from({ length: 12 }, () => letters[randomInt(letters.length)]).join('') as ProjectId

/** Erases the data of a deleted project in steps; passed in, because users come later in the line of imports. */
export type ScheduleErasure = (tx: Db, projectId: ProjectId) => Promise<void>

/** Wakes the work that waited while a project was paused, in the transaction that resumes it. */
export type OnResume = (tx: Db, projectId: ProjectId) => Promise<void>

export function createProjects({
  pool,
  plans,
  credentials,
  log,
  scheduleErasure,
  onResume
}: {
  pool: Pool
  plans: Config['PLANS']
  credentials: Pick<Credentials, 'forget'>
  log: Log
  scheduleErasure: ScheduleErasure
  onResume: OnResume
}) {
  const asProject = toProject(plans)

  const change: Change = async (projectId, entry, work) => {
    const result = await pool.transaction(async (tx) => {
      const done = await work(tx)
      await record(tx, projectId, typeof entry === 'function' ? entry(done) : entry)
      await tx.run(notify, [changedChannel, projectId])
      return done
    })
    credentials.forget()
    return result
  }

  function checkPlan(plan: string | undefined): void {
    if (plan !== undefined && !Object.hasOwn(plans, plan))
      throw refusing('invalid_parameter')('plan', `must be one of ${Object.keys(plans).join(', ')}`)
  }

  /** Pauses or resumes. If the project already is in that state, nothing is changed and nothing is recorded. */
  async function hold(
    actor: string,
    projectId: ProjectId,
    action: string,
    work: (tx: Db) => Promise<ProjectRow | undefined>
  ): Promise<Project> {
    const row = await pool.transaction(async (tx) => {
      const changed = await work(tx)
      if (!changed) return store.findProject(tx, projectId)
      await record(tx, projectId, { actor, action, target: projectId })
      await tx.run(notify, [changedChannel, projectId])
      return changed
    })
    credentials.forget()
    if (!row) throw noSuchProject(projectId)
    return asProject(row)
  }

  return {
    async create(
      actor: string,
      wish: store.ProjectChanges & { id?: string | undefined; name: string }
    ): Promise<Project> {
      checkPlan(wish.plan)
      const row = {
        project_id: (wish.id ?? randomProjectId()) as ProjectId,
        name: wish.name,
        mode: wish.mode ?? ('live' as Mode),
        plan: wish.plan ?? 'standard',
        limits: set(wish.limits),
        retention: set(wish.retention),
        created_at: new Date(),
        paused_at: null as Date | null,
        message_limits: null,
        quiet_hours: null,
        identity_verification: null,
        intake: null
      }
      const entry = { actor, action: 'project.create', target: row.project_id, details: { name: row.name } }
      await change(row.project_id, entry, async (tx) => {
        // Until the end of the transaction, so that a resume sees a project that this pauses.
        const pause = await sharePause(tx)
        if (!(await store.insertProject(tx, row)))
          throw new Refusal('conflict', `A project ${row.project_id} exists already, or is still being erased.`)
        row.paused_at = pause ? new Date(pause.since) : null
        if (row.paused_at) await store.pauseProject(tx, row.project_id, row.paused_at)
        await recordInstallation(tx, entry)
      })
      return asProject(row)
    },
    async list(only: ProjectId[] | null, after: [Date, string] | undefined, limit: number): Promise<Project[]> {
      return (await store.listProjects(pool, only, after, limit)).map(asProject)
    },
    /** `check` sees the project as it becomes, while no other request can change it. Its refusal undoes the change. */
    async update(
      actor: string,
      projectId: ProjectId,
      changes: store.ProjectChanges,
      check: (tx: Db, project: Project) => Promise<void> = async () => {}
    ): Promise<Project> {
      checkPlan(changes.plan)
      type Rows = { old: ProjectRow; row: ProjectRow }
      const entryOf = ({ old }: Rows) => {
        const details = { name: old.name, ...changes, before: formerOf(asProject(old), changes) }
        return { actor, action: 'project.update', target: projectId, details }
      }
      const { row } = await change(projectId, entryOf, async (tx): Promise<Rows> => {
        if (changes.identity_verification && !(await findIdentitySecret(tx, projectId))) throw noIdentitySecret()
        const old = await store.findProject(tx, projectId)
        const row = old && (await store.changeProject(tx, projectId, changes))
        if (!row) throw noSuchProject(projectId)
        await check(tx, asProject(row))
        return { old, row }
      })
      return asProject(row)
    },
    /**
     * From here on nothing more is dispatched to a gateway. A paused project keeps the time of its first pause. Only that
     * of a restore gives way to a later one, because the resume of the installation resumes the projects by it.
     */
    pause: (actor: string, projectId: ProjectId): Promise<Project> =>
      hold(actor, projectId, 'project.pause', async (tx) => {
        const pause = await sharePause(tx)
        if (!pause) return store.pauseProject(tx, projectId, new Date())
        const restoredAt = new Date(pause.since)
        const at = new Date(Math.max(Date.now(), restoredAt.getTime() + 1))
        return store.pauseProject(tx, projectId, at, restoredAt)
      }),
    /** Resumes a paused project. */
    resume: (actor: string, projectId: ProjectId): Promise<Project> =>
      hold(actor, projectId, 'project.resume', async (tx) => {
        const pause = await pauseOf(tx)
        if (pause) throw new Refusal('conflict', pausedSentence(pause))
        const row = await store.resumeProject(tx, projectId)
        if (row) await onResume(tx, projectId)
        return row
      }),
    /** From here on the project is unknown everywhere; a job deletes its rows. */
    async remove(actor: string, projectId: ProjectId): Promise<void> {
      const entry = { actor, action: 'project.delete', target: projectId }
      await change(projectId, entry, async (tx) => {
        const name = (await store.findProject(tx, projectId))?.name
        if (!(await store.markProjectDeleted(tx, projectId, new Date()))) throw noSuchProject(projectId)
        // The audit log of the project is deleted with it.
        await recordInstallation(tx, { ...entry, details: { name } })
        await store.deleteKeys(tx, projectId)
        await store.deleteTokens(tx, projectId)
        await forgetNames(tx, projectId)
        await scheduleErasure(tx, projectId)
      })
    },
    ...createKeyring({ pool, credentials, log, change }),
    /** The project of a key, if the text is a known key: for the bootstrap. */
    findKey: async (text: string) => (await store.findKeys(pool, [hashOf(text)]))[0],
    findToken: async (text: string) => (await store.findTokens(pool, [hashOf(text)]))[0],
    /** Whether it was deleted and has rows left: its id is free again when they are erased. */
    isBeingErased: (projectId: ProjectId) => store.isDeleted(pool, projectId),
    find: async (projectId: ProjectId) => {
      const row = await store.findProject(pool, projectId)
      return row && asProject(row)
    }
  }
}

const noIdentitySecret = () =>
  refusing('conflict')(
    'identity_verification',
    'The project has no identity secret yet: no token could be valid. Make one first (tidings project identity-secret).'
  )

/** The newest valid key of a chain of rotations, for actions that were requested earlier. */
export async function findCallerKey(db: Db, projectId: ProjectId, originId: string): Promise<CallerKey | undefined> {
  const row = await store.findLiveKey(db, projectId, originId)
  return row && { id: row.id, kind: row.kind, name: row.name, policy: row.policy, originId }
}

/** How long each project keeps its history, for the sweeps of other capabilities. */
export async function listRetentions(db: Db): Promise<{ projectId: ProjectId; retention: Retention }[]> {
  const rows = await store.listProjectIds(db)
  return rows.map((row) => ({ projectId: row.project_id, retention: retentionOf(row) }))
}

/** How long a project keeps its history. */
export async function findRetention(db: Db, projectId: ProjectId): Promise<Retention | undefined> {
  const row = await store.findProject(db, projectId)
  return row && retentionOf(row)
}
