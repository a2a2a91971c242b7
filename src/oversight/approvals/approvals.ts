import type { Db, Pool } from '../../platform/db/db.ts'
import { Refusal } from '../../platform/errors.ts'
import { isUuid, newId, type ProjectId } from '../../platform/ids.ts'
import type { Metrics } from '../../platform/metrics.ts'
import {
  type ApiCaller,
  type CallerKey,
  findCallerKey,
  type Permit,
  type Project,
  recordAudit
} from '../../projects/projects.ts'
import type { ApprovalEvent } from '../../webhooks/webhooks.ts'
import type { Gate } from '../policies/gate.ts'
import type { Action, Grants, Reach, ReachFacts, Verdict } from '../policies/verdict.ts'
import { reasonNow, whyOutdated } from './changed.ts'
import { approvalsJob } from './jobs.ts'
import { countPending } from './pending.ts'
import { approvalEvent } from './response.ts'
import * as store from './store.ts'

/** A decision, as the task that waits for it takes it. */
export type Decided =
  /** It runs within the permit, with these fields added to its request. */
  | { kind: 'approved'; by: string; note: string | null; permit: Permit | undefined; fields: Record<string, unknown> }
  /** What was shown has changed, so it waits for another approval. */
  | ({ kind: 'asks' } & Waiting)
  | { kind: 'rejected'; note: string | null }
  | { kind: 'expired' }

/** The words and the metadata of a task that waits for a person. */
export interface Waiting {
  approvalId: string
  reason: string
  metadata: Record<string, unknown>
}

/**
 * Moves the task of an approval, in the transaction that decides. Returns what to do after the commit; undefined where
 * the task does not wait for this approval any more.
 */
export type OnDecided = (
  tx: Db,
  projectId: ProjectId,
  approval: { taskId: string; approvalId: string },
  decided: Decided
) => Promise<(() => void) | undefined>

export interface ApprovalsOptions {
  pool: Pool
  metrics: Metrics
  gate: Gate
  factsOf: (projectId: ProjectId, reach: Reach) => Promise<ReachFacts>
  projectOf: (projectId: ProjectId) => Promise<Project | undefined>
  /** Books the webhooks of a project. */
  publish: (tx: Db, projectId: ProjectId, type: ApprovalEvent, data: Record<string, unknown>) => Promise<void>
  onDecided: OnDecided
  /** Where the console is, without a slash at the end. */
  consoleUrl: () => string
  retentionDays: number
}

export type Approvals = ReturnType<typeof createApprovals>

/** An approval that is about to be asked for. */
export interface ApprovalRequest extends Waiting {
  /** Writes it, in the transaction that writes the task. */
  write(tx: Db, taskId: string): Promise<void>
}

/** Asks people whether actions of agents may be done, and keeps their decisions. */
export function createApprovals(options: ApprovalsOptions) {
  const { pool, gate, factsOf, projectOf, publish, onDecided } = options
  countPending(pool, options.metrics)
  const urlOf = (projectId: ProjectId, id: string) =>
    `${options.consoleUrl()}/p/${encodeURIComponent(projectId)}/approvals/${id}`

  async function insert(tx: Db, projectId: ProjectId, approval: store.NewApproval): Promise<store.ApprovalRow> {
    const row = await store.insertApproval(tx, projectId, approval)
    if (!row) throw new Refusal('invalid_api_key', 'Invalid API key')
    const details = { task_id: row.task_id, recipients: row.facts.recipients, agent: row.agent, ...subjectOf(row) }
    await recordAudit(tx, projectId, {
      actor: `key ${row.key_id}`,
      action: 'approval.request',
      target: row.id,
      details
    })
    await publish(tx, projectId, 'approval.requested', approvalEvent(row, urlOf(projectId, row.id)))
    return row
  }

  /** Ends a pending approval. Throws where another person or the time was first, or where its task waits no more. */
  async function end(
    tx: Db,
    projectId: ProjectId,
    asked: store.ApprovalRow,
    decision: store.Decision,
    decided: Decided
  ) {
    const { id } = asked
    // The task first: a cancel locks both in this order too.
    const after = await onDecided(tx, projectId, { taskId: asked.task_id, approvalId: id }, decided)
    const row = after && (await store.decideApproval(tx, projectId, id, decision))
    if (!row) throw alreadyDecided(await store.findApproval(tx, projectId, id))
    const { state, by, note } = decision
    await recordAudit(tx, projectId, {
      actor: by ?? 'service',
      action: `approval.${actions[decision.state]}`,
      target: id,
      details: { task_id: row.task_id, ...subjectOf(row), ...(note && { note }) }
    })
    if (state !== 'superseded')
      await publish(tx, projectId, 'approval.decided', approvalEvent(row, urlOf(projectId, id)))
    return { row, after }
  }

  /** The same in a transaction of its own. */
  async function settle(projectId: ProjectId, asked: store.ApprovalRow, decision: store.Decision, decided: Decided) {
    const { row, after } = await pool.transaction((tx) => end(tx, projectId, asked, decision, decided))
    after()
    return row
  }

  /** Rejects without a person. */
  const rejectBecause = (projectId: ProjectId, row: store.ApprovalRow, reason: string) =>
    settle(projectId, row, { state: 'rejected', by: null, note: reason }, { kind: 'rejected', note: reason })

  async function pending(projectId: ProjectId, id: string): Promise<store.ApprovalRow> {
    const row = await get(projectId, id)
    if (row.state !== 'pending') throw alreadyDecided(row)
    if (row.overdue) throw new Refusal('conflict', 'This approval has expired: no person decided within 24 hours.')
    return row
  }

  async function get(projectId: ProjectId, id: string) {
    const row = isUuid(id) ? await store.findApproval(pool, projectId, id) : undefined
    if (!row) throw new Refusal('not_found', 'There is no approval of this id.')
    return row
  }

  function waiting(
    projectId: ProjectId,
    { id, reason, facts }: Pick<store.ApprovalRow, 'id' | 'reason' | 'facts'>
  ): Waiting {
    const { recipients, devices, campaignVersion } = facts
    return {
      approvalId: id,
      reason: `${reason} Nothing is sent before. A person decides within 24 hours at ${urlOf(projectId, id)}, and the task goes on by itself.`,
      metadata: { approvalId: id, recipients, devices, ...(campaignVersion !== undefined && { campaignVersion }) }
    }
  }

  /** Asks anew with the facts of now. The decision on the old approval is gone with it. */
  async function supersede(
    projectId: ProjectId,
    row: store.ApprovalRow,
    key: CallerKey,
    facts: ReachFacts,
    why: string
  ): Promise<never> {
    const { id: _, skill, command, task_id, key_id, origin_id, key_name, agent } = row
    const reason = reasonNow(await verdictOn(projectId, row, key, { facts }), facts, why)
    const next = { id: newId(), reason, facts, skill, command, task_id, key_id, origin_id, key_name, agent }
    const after = await pool.transaction(async (tx) => {
      await insert(tx, projectId, next)
      const decision = { state: 'superseded', by: null, note: why, supersededBy: next.id } as const
      return (await end(tx, projectId, row, decision, { kind: 'asks', ...waiting(projectId, next) })).after
    })
    after()
    throw new Refusal('conflict', `${why} Nothing was approved: decide on the approval ${next.id} instead.`, [
      { path: 'superseded_by', message: next.id }
    ])
  }

  /** Judges the action as it would be done now, for the key as it is now. */
  async function verdictOn(
    projectId: ProjectId,
    row: store.ApprovalRow,
    key: CallerKey,
    grants: Grants
  ): Promise<Verdict> {
    const project = await projectOf(projectId)
    if (!project) throw new Refusal('not_found', 'There is no such project.')
    const caller: ApiCaller = { project, actor: `key ${key.id}`, key }
    return gate(caller, { skill: row.skill, effect: 'send', reach: row.command }, grants)
  }

  return {
    /** Prepares an approval for an action that the gate found to need one. */
    ask(caller: ApiCaller, action: Action, verdict: Verdict & { kind: 'approval' }, agent?: string): ApprovalRequest {
      const { project, key } = caller
      const { reason, facts: all } = verdict
      const { obstacle: _, ...facts } = all
      const shown = { id: newId(), reason, facts, skill: action.skill, command: action.reach! }
      const by = { key_id: key!.id, origin_id: key!.originId, key_name: key!.name, agent: agent ?? null }
      return {
        ...waiting(project.id, shown),
        write: async (tx, taskId) => void (await insert(tx, project.id, { ...shown, ...by, task_id: taskId }))
      }
    },
    urlOf,
    get,
    list: (projectId: ProjectId, filter: store.ApprovalFilter, before: string | null, limit: number) =>
      store.listApprovals(pool, projectId, filter, before, limit),

    /** Has the action done. Where what was shown has changed, asks anew; where its key is gone, rejects it. */
    async approve(projectId: ProjectId, id: string, actor: string, note: string | null): Promise<store.ApprovalRow> {
      const row = await pending(projectId, id)
      const key = await findCallerKey(pool, projectId, row.origin_id)
      if (!key) {
        const reason = 'The key that asked was revoked or has expired.'
        await rejectBecause(projectId, row, reason)
        throw new Refusal('conflict', `${reason} The approval is rejected.`)
      }
      const { obstacle, ...facts } = await factsOf(projectId, row.command).catch(asConflict)
      if (obstacle) throw asConflict(obstacle)
      const changed = whyOutdated(row.facts, facts)
      if (changed) return supersede(projectId, row, key, facts, changed)
      const permit = permitOf(await verdictOn(projectId, row, key, { approvalId: id, facts }))
      const { campaignVersion } = row.facts
      const fields = campaignVersion === undefined ? {} : { campaignVersion }
      const decided = { by: actor, note }
      return settle(projectId, row, { state: 'approved', ...decided }, { kind: 'approved', ...decided, permit, fields })
    },

    async reject(projectId: ProjectId, id: string, actor: string, note: string | null): Promise<store.ApprovalRow> {
      const row = await pending(projectId, id)
      return settle(projectId, row, { state: 'rejected', by: actor, note }, { kind: 'rejected', note })
    },

    /** Rejects an approval that nothing is left of. No effect if it is decided, or if its task does not wait for it any more. */
    async rejectFor(projectId: ProjectId, id: string, reason: string): Promise<void> {
      const row = await store.findApproval(pool, projectId, id)
      if (row?.state !== 'pending') return
      await rejectBecause(projectId, row, reason).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error
      })
    },

    /** In the transaction that cancels or ends its task: nothing is left to decide. */
    async drop(tx: Db, projectId: ProjectId, id: string, state: 'canceled' | 'expired'): Promise<void> {
      const row = await store.decideApproval(tx, projectId, id, { state, by: null, note: null })
      if (row) await publish(tx, projectId, 'approval.decided', approvalEvent(row, urlOf(projectId, id)))
    },

    job: approvalsJob(pool, options.retentionDays, async (projectId, id) => {
      const expired = { state: 'expired', by: null, note: null } as const
      await settle(projectId, await get(projectId, id), expired, { kind: 'expired' }).catch(async (error) => {
        if (!(error instanceof Refusal)) throw error
        // Its task has ended by itself.
        await store.decideApproval(pool, projectId, id, expired)
      })
    }),

    /** Deletes up to 1,000 approvals of a project that is being erased, and returns how many. */
    eraseWindow: store.eraseApprovalWindow
  }
}

const actions: Record<store.Decision['state'], string> = {
  approved: 'approve',
  rejected: 'reject',
  expired: 'expire',
  superseded: 'supersede',
  canceled: 'cancel'
}

/** What the approval is about, for the audit log. */
const subjectOf = ({ skill, facts: { campaignName } }: store.ApprovalRow) => ({
  skill,
  ...(campaignName && { name: campaignName })
})

function permitOf(verdict: Verdict): Permit | undefined {
  if (verdict.kind === 'allowed') return verdict.permit
  throw new Refusal('conflict', `The policy of the key does not allow it now, so it still waits. ${verdict.reason}`)
}

function asConflict(error: unknown): never {
  if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
  throw new Refusal('conflict', `It cannot be done now, so it still waits. ${error.message}`)
}

function alreadyDecided(row: store.ApprovalRow | undefined): Refusal {
  if (!row) return new Refusal('not_found', 'There is no approval of this id.')
  const by = row.decided_by ? ` by ${row.decided_by}` : ''
  const next = row.superseded_by ? ` Decide on the approval ${row.superseded_by} instead.` : ''
  if (row.state === 'pending')
    return new Refusal('conflict', 'The task of this approval does not wait for it any more.')
  return new Refusal('conflict', `This approval is ${row.state} already${by}.${next}`)
}
