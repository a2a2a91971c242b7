import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { wakeAfterMs } from '../store.ts'

// The job becomes due by the clock of the database, and runs once. A node whose clock is behind would find no trigger due.
const due = `t.project_id = $1 and t.id = any($2::uuid[]) and t.state = 'scheduled' and t.due_at <= now()`
const active = `exists (
       select 1 from campaigns c where c.project_id = $1 and c.id = t.campaign_id and c.status = 'active')`

const start = statement(
  'triggers.start_due',
  `update triggers t set state = 'accepted', started_at = $3, begin_job = $4, wake_at = $5
    where ${due} and ${active}
   returning t.id`
)
const cancel = statement(
  'triggers.cancel_inactive',
  `update triggers t set state = 'canceling', outcome = 'canceled', reason = 'campaign_not_active', started_at = $3
    where ${due} and not ${active}
   returning t.id`
)

const move = statement(
  'triggers.move',
  `update triggers set due_at = $3, wake_at = $4 where project_id = $1 and id = $2 and state = 'scheduled'
   returning most_recipients is not null as limited`
)

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)

/** Starts the scheduled triggers that are due and whose campaign is active. `jobId` names the job that does the rest. */
export const startDue = async (tx: Db, projectId: ProjectId, triggerIds: string[], at: Date, jobId: string) =>
  idsOf(await tx.query<{ id: string }>(start, [projectId, triggerIds, at, jobId, new Date(at.getTime() + wakeAfterMs)]))

/** Moves a scheduled trigger to another time. Undefined: there is none of this id, or it has started. */
export const moveScheduled = (tx: Db, projectId: ProjectId, id: string, dueAt: Date) =>
  tx.one<{ limited: boolean }>(move, [projectId, id, dueAt, new Date(dueAt.getTime() + wakeAfterMs)])

/** Decides to cancel the scheduled triggers that are due and whose campaign is not active. */
export const cancelInactive = async (tx: Db, projectId: ProjectId, triggerIds: string[], at: Date) =>
  idsOf(await tx.query<{ id: string }>(cancel, [projectId, triggerIds, at]))
