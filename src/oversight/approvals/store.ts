import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { Reach, ReachFacts } from '../policies/verdict.ts'

export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired' | 'superseded' | 'canceled'

export interface ApprovalRow {
  id: string
  task_id: string
  state: ApprovalState
  skill: string
  command: Reach
  reason: string
  facts: ReachFacts
  key_id: string
  origin_id: string
  key_name: string
  agent: string | null
  requested_at: Date
  expires_at: Date
  decided_at: Date | null
  decided_by: string | null
  note: string | null
  superseded_by: string | null
}

export type NewApproval = Omit<
  ApprovalRow,
  'state' | 'requested_at' | 'expires_at' | 'decided_at' | 'decided_by' | 'note' | 'superseded_by'
>

/** How an approval ends. */
export interface Decision {
  state: Exclude<ApprovalState, 'pending'>
  by: string | null
  note: string | null
  supersededBy?: string
}

const columns = `id, task_id, state, skill, command, reason, facts, key_id, origin_id, key_name, agent, requested_at,
          expires_at, decided_at, decided_by, note, superseded_by`

// Times are those of the database, which all nodes share. Citus needs the alias: it computes now() on the coordinator.
const insert = statement(
  'approvals.insert',
  `insert into approvals as made (project_id, id, task_id, state, skill, command, reason, facts, key_id, origin_id, key_name,
     agent, requested_at, expires_at)
   select p.project_id, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, now(), now() + interval '24 hours'
     from projects p where p.project_id = $1
   returning ${columns.replace(/\w+/g, 'made.$&')}`
)
const find = statement(
  'approvals.find',
  `select ${columns}, expires_at <= now() as overdue from approvals where project_id = $1 and id = $2`
)
const list = statement(
  'approvals.list',
  `select ${columns} from approvals
    where project_id = $1 and ($2::uuid is null or id < $2) order by id desc limit $3`
)
const listInState = statement(
  'approvals.list_in_state',
  `select ${columns} from approvals
    where project_id = $1 and state = $4 and ($2::uuid is null or id < $2) order by id desc limit $3`
)
const listOfTask = statement(
  'approvals.list_of_task',
  `select ${columns} from approvals
    where project_id = $1 and task_id = $4 and ($5::text is null or state = $5) and ($2::uuid is null or id < $2)
    order by id desc limit $3`
)
// Only while it is pending: of two people who decide at once, the second finds nothing.
const decide = statement(
  'approvals.decide',
  `update approvals set state = $3, decided_at = now(), decided_by = $4, note = $5, superseded_by = $6
    where project_id = $1 and id = $2 and state = 'pending'
   returning ${columns}`
)
const due = statement(
  'approvals.due',
  `select project_id, id from approvals where state = 'pending' and expires_at <= now() order by expires_at limit 500`,
  { acrossProjects: 'approvals of all projects expire by their time' }
)
const waiting = statement(
  'approvals.waiting',
  `select count(*)::int as pending, coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as "oldestSeconds"
     from approvals where state = 'pending'`,
  { acrossProjects: 'the operator sees how long agents of all projects have waited for a person' }
)
const sweep = statement(
  'approvals.sweep',
  `delete from approvals where project_id = $1 and id in (
     select id from approvals where project_id = $1 and state <> 'pending' and id < $2 order by id limit 1000)`
)
const erase = statement(
  'approvals.erase_window',
  `delete from approvals where project_id = $1 and id in (
     select id from approvals where project_id = $1 order by id limit 1000)`
)

export const insertApproval = (tx: Db, projectId: ProjectId, approval: NewApproval) =>
  tx.one<ApprovalRow>(insert, [
    projectId,
    approval.id,
    approval.task_id,
    approval.skill,
    JSON.stringify(approval.command),
    approval.reason,
    JSON.stringify(approval.facts),
    approval.key_id,
    approval.origin_id,
    approval.key_name,
    approval.agent
  ])

/** `overdue`: no person decided in time, also where the approval is `pending` until the next sweep. */
export const findApproval = (db: Db, projectId: ProjectId, id: string) =>
  db.one<ApprovalRow & { overdue: boolean }>(find, [projectId, id])

export interface ApprovalFilter {
  state?: ApprovalState | undefined
  taskId?: string | undefined
}

/** Newest first. */
export const listApprovals = (
  db: Db,
  projectId: ProjectId,
  { state, taskId }: ApprovalFilter,
  before: string | null,
  limit: number
) => {
  if (taskId) return db.query<ApprovalRow>(listOfTask, [projectId, before, limit, taskId, state ?? null])
  return state === undefined
    ? db.query<ApprovalRow>(list, [projectId, before, limit])
    : db.query<ApprovalRow>(listInState, [projectId, before, limit, state])
}

/** Returns the approval as it is decided; undefined where it was not pending any more. */
export const decideApproval = (tx: Db, projectId: ProjectId, id: string, decision: Decision) =>
  tx.one<ApprovalRow>(decide, [
    projectId,
    id,
    decision.state,
    decision.by,
    decision.note,
    decision.supersededBy ?? null
  ])

export const dueApprovals = (db: Db) => db.query<{ project_id: ProjectId; id: string }>(due)

/** The approvals of all projects that wait for a person, and for how long the first of them has waited. */
export const pendingApprovals = async (db: Db) => (await db.one<{ pending: number; oldestSeconds: number }>(waiting))!

/** Deletes a batch of decided approvals older than an id, and returns their number. */
export const sweepApprovals = (db: Db, projectId: ProjectId, before: string) => db.run(sweep, [projectId, before])

export const eraseApprovalWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
