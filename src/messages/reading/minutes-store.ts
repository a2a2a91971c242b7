import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { OutcomeChange } from '../message.ts'

const counted = ['sent', 'failed', 'delivered', 'tapped'] as const
type Counted = (typeof counted)[number]
export type Minute = { minute: string } & Record<Counted, number>

const minuteMs = 60_000

// Most of the time the minute has its row. Changing it alone costs less than an insertion that finds it, and Citus keeps the
// plan, while it plans every insertion from a table anew.
const raise = statement(
  'message_minutes.raise',
  `update message_minutes set ${counted.map((name, index) => `${name} = ${name} + $${index + 3}`).join(', ')}
    where project_id = $1 and minute = $2`
)
const add = statement(
  'message_minutes.add',
  `insert into message_minutes (project_id, minute, sent, failed, delivered, tapped)
   select p.project_id, $2, $3, $4, $5, $6 from projects p where p.project_id = $1
   on conflict (project_id, minute) do update
      set ${counted.map((name) => `${name} = message_minutes.${name} + excluded.${name}`).join(', ')}`
)
const list = statement(
  'message_minutes.list',
  `select minute, sent::float8 as sent, failed::float8 as failed, delivered::float8 as delivered, tapped::float8 as tapped
     from message_minutes where project_id = $1 and minute >= $2 order by minute`
)
const fold = statement(
  'message_minutes.fold',
  `with gone as (delete from message_minutes where project_id = $1 and minute < $2 returning *)
   insert into message_hours (project_id, hour, sent, failed, delivered, tapped)
   select $1, date_bin('1 hour', minute, 'epoch'), ${counted.map((name) => `sum(${name})`).join(', ')}
     from gone group by 2
   on conflict (project_id, hour) do update
      set ${counted.map((name) => `${name} = message_hours.${name} + excluded.${name}`).join(', ')}`
)
const sweepHours = statement('message_hours.sweep', 'delete from message_hours where project_id = $1 and hour < $2')
const sums = statement(
  'message_hours.sums',
  `select date_bin($4::float8 * interval '1 ms', hour, 'epoch'::timestamptz) as at,
          ${counted.map((name) => `sum(${name})::float8 as ${name}`).join(', ')}
     from (select hour, ${counted.join(', ')} from message_hours where project_id = $1 and hour >= $2 and hour < $3
           union all
           select minute, ${counted.join(', ')} from message_minutes
            where project_id = $1 and minute >= $2 and minute < $3) m
    group by 1`
)

const columnOf = ({ kind, to }: OutcomeChange): Counted | undefined =>
  kind !== 'state' ? kind : to === 'accepted' ? 'sent' : to === 'failed' ? 'failed' : undefined

/**
 * Counts outcomes on this minute, in the transaction that settles them. It runs late in that transaction, because all
 * messages share the row.
 */
export async function countMinute(tx: Db, projectId: ProjectId, changes: readonly OutcomeChange[]): Promise<void> {
  const counts: Record<Counted, number> = { sent: 0, failed: 0, delivered: 0, tapped: 0 }
  for (const change of changes) {
    const column = columnOf(change)
    if (column) counts[column]++
  }
  if (counted.every((name) => counts[name] === 0)) return
  const minute = new Date(Math.floor(Date.now() / minuteMs) * minuteMs)
  const values = [projectId, minute, ...counted.map((name) => counts[name])]
  if ((await tx.run(raise, values)) === 0) await tx.run(add, values)
}

/** Each of the last minutes, the oldest first, also those without an outcome. */
export async function lastMinutes(db: Db, projectId: ProjectId, many: number): Promise<Minute[]> {
  const newest = Math.floor(Date.now() / minuteMs)
  const from = new Date((newest - many + 1) * minuteMs)
  const rows = await db.query<{ minute: Date } & Record<Counted, number>>(list, [projectId, from])
  const known = new Map(rows.map((row) => [row.minute.getTime(), row]))
  return Array.from({ length: many }, (_, index) => {
    const at = (newest - many + 1 + index) * minuteMs
    const { sent = 0, failed = 0, delivered = 0, tapped = 0 } = known.get(at) ?? {}
    return { minute: new Date(at).toISOString(), sent, failed, delivered, tapped }
  })
}

/** Outcomes of all messages of the project, by points of a length in whole hours. */
export const outcomesOver = (db: Db, projectId: ProjectId, from: Date, until: Date, stepMs: number) =>
  db.query<{ at: Date } & Record<Counted, number>>(sums, [projectId, from, until, stepMs])

/** Minutes before this one become hours. */
export const foldMinutes = (db: Db, projectId: ProjectId, before: Date) => db.run(fold, [projectId, before])

export const deleteOldHours = (db: Db, projectId: ProjectId, before: Date) => db.run(sweepHours, [projectId, before])
