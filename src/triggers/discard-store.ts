import type { DiscardScope } from '../platform/backup/paused.ts'
import type { Db } from '../platform/db/db.ts'
import { statement } from '../platform/db/statement.ts'
import type { ProjectId } from '../platform/ids.ts'

const open = `state in ('scheduled', 'accepted', 'running', 'canceling')`
const isDue = `(state <> 'scheduled' or due_at <= $3)`

const list = statement(
  'triggers.discarded',
  `select id from triggers
    where project_id = $1 and ${open} and accepted_at < $2 and (${isDue} or $4) and id > $5
    order by id limit $6`
)
const mark = statement(
  'triggers.discard',
  `update triggers set outcome = 'canceled', state = 'canceling', reason = 'discarded'
    where project_id = $1 and id = $2 and state in ('scheduled', 'accepted', 'running')`
)
// The messages of a trigger that waits for its time are not known yet.
const count = statement(
  'triggers.count_waiting',
  `select count(*) filter (where ${isDue})::int as due, count(*) filter (where not ${isDue})::int as later,
          coalesce(sum(targeted - sent - failed - skipped), 0)::float8 as messages
     from triggers where project_id = $1 and ${open} and accepted_at < $2`
)

/** Triggers that a discard cancels, by id. */
export const listDiscarded = async (
  db: Db,
  projectId: ProjectId,
  { restoredAt, dueBy, all }: DiscardScope,
  after: string,
  limit: number
): Promise<string[]> =>
  (await db.query<{ id: string }>(list, [projectId, restoredAt, dueBy, all, after, limit])).map(({ id }) => id)

export const markDiscarded = (tx: Db, projectId: ProjectId, id: string) => tx.run(mark, [projectId, id])

/** Triggers that waited in a backup, and those of their messages that are planned or on the way. */
export const countWaitingTriggers = async (
  db: Db,
  projectId: ProjectId,
  { restoredAt, dueBy }: DiscardScope
): Promise<{ due: number; later: number; messages: number }> =>
  (await db.one<{ due: number; later: number; messages: number }>(count, [projectId, restoredAt, dueBy]))!
