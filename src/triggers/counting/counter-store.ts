import type { Db } from '../../platform/db/db.ts'
import { type Statement, statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { endReservations } from '../../projects/projects.ts'
import type { TriggerState } from '../schemas.ts'
import type { TriggerOutcome } from '../store.ts'
import { type Delta, type Numbers, numbers, type Part } from './delta.ts'

export interface Counted {
  id: string
  campaign_id: string
  outcome: TriggerOutcome | null
  state: TriggerState
  /** Whether this change ended the trigger. */
  ended: boolean
  /** Whether a policy limits its recipients. */
  limited: boolean
  /** The batches that were planned so far. */
  batches: number
  counts: Numbers
}

const summed = (one: string, two: string) => `case when ${two} = '{}' then ${one} else (
     select jsonb_object_agg(s.name, s.total) from (
       select key as name, sum(value::bigint) as total
         from (select * from jsonb_each_text(${one}) union all select * from jsonb_each_text(${two})) both_of
        group by key) s) end`

// A trigger ends in the statement that changes its counters, under the lock of its row, so no later change can count past the end.
const ends = (decided: string) => `(${decided} and t.ended_at is null and t.open_chunks + g.open_chunks = 0
     and t.targeted + g.targeted = t.sent + g.sent + t.failed + g.failed + t.skipped + g.skipped)`
const changing = {
  columns: '',
  set: `state = case when ${ends('t.outcome is not null')} then t.outcome else t.state end,
            ended_at = case when ${ends('t.outcome is not null')} then $3::timestamptz else t.ended_at end`,
  where: ''
}
// The whole audience of a small trigger is known when it starts, so it is expanded and counted at once.
const starting = {
  columns: ', reason text',
  set: `cursor = 'done', outcome = 'completed', reason = g.reason, expanded_at = $3::timestamptz,
            state = case when ${ends('true')} then 'completed' else 'running' end,
            ended_at = case when ${ends('true')} then $3::timestamptz end`,
  where: `and t.cursor = '' and t.outcome is null`
}

const counted = [...numbers, 'users'] as const

// The results of the campaign change in the same statement, after all of its triggers are locked: two transactions that
// count the same triggers meet there, in order, and not at the results.
const counting = ({ columns, set, where }: typeof changing) => `with given as (
     select * from json_to_recordset($2::json)
         as g(id uuid, ${numbers.map((name) => `${name} bigint`).join(', ')}, open_chunks int, skipped_for jsonb,
              failed_for jsonb${columns})),
   held as (
     select id from triggers where project_id = $1 and id = any($7::uuid[]) order by id for no key update),
   done as (
     update triggers t
        set ${numbers.map((name) => `${name} = t.${name} + g.${name}`).join(', ')},
            open_chunks = t.open_chunks + g.open_chunks,
            skipped_for = ${summed('t.skipped_for', 'g.skipped_for')},
            failed_for = ${summed('t.failed_for', 'g.failed_for')},
            ${set}
       from given g join held h on h.id = g.id
      where t.project_id = $1 and t.id = g.id ${where}
     returning t.id, t.campaign_id, t.step, t.outcome, t.state, coalesce(t.ended_at = $3::timestamptz, false) as ended,
       t.most_recipients is not null as limited, t.chunks as batches,
       ${numbers.map((name) => `t.${name}`).join(', ')}),
   results as (
     insert into campaign_stats (project_id, campaign_id, hour, variant, language, step, slot, ${counted.join(', ')},
       converted, conversion_value)
     select $1, d.campaign_id, $5, s.variant, s.language, coalesce(d.step, ''), $6, ${counted.map((name) => `coalesce(sum(s.${name}), 0)`).join(', ')}, 0, 0
       from json_to_recordset($4::json)
         as s(id uuid, variant text, language text, ${counted.map((name) => `${name} int`).join(', ')})
       join done d on d.id = s.id
      group by 2, 4, 5, 6 order by 2, 4, 5, 6
     on conflict (project_id, campaign_id, hour, variant, language, step, slot) do update
        set ${counted.map((name) => `${name} = campaign_stats.${name} + excluded.${name}`).join(', ')})
   select id, campaign_id, step, outcome, state, ended, limited, batches,
          json_build_object(${numbers.map((name) => `'${name}', ${name}`).join(', ')}) as counts
     from done`
const count = statement('triggers.count', counting(changing))
const startAll = statement('triggers.start_many', counting(starting))

/** Most numbers of a part are zero, and a short text is read sooner. */
const withoutZeros = (part: Part) => Object.fromEntries(Object.entries(part).filter(([, value]) => value !== 0))

const hourMs = 3_600_000
/** Rows over which the results of one hour are spread, so that transactions seldom wait for each other. */
const slots = 8

export const hourOf = (at: Date) => new Date(Math.floor(at.getTime() / hourMs) * hourMs)
export const pickSlot = () => Math.floor(Math.random() * slots)

/** Receives triggers that ended, in the transaction that ended them. */
export type OnEnded = (tx: Db, projectId: ProjectId, triggers: Counted[]) => Promise<void>

/** Adds to the counters and ends the triggers that are complete. Deleted triggers are ignored. */
export const addToCounters = (tx: Db, projectId: ProjectId, deltas: Delta[], onEnded: OnEnded) =>
  change(count, tx, projectId, deltas, onEnded)

/** The same for triggers whose whole audience is known: it starts them too. Those that were started or canceled stay. */
export const startTriggers = (
  tx: Db,
  projectId: ProjectId,
  deltas: (Delta & { reason: string | null })[],
  onEnded: OnEnded
) => change(startAll, tx, projectId, deltas, onEnded)

async function change(
  text: Statement,
  tx: Db,
  projectId: ProjectId,
  deltas: Delta[],
  onEnded: OnEnded
): Promise<Counted[]> {
  if (deltas.length === 0) return []
  const rows = deltas.map(({ openBatches, skippedFor, failedFor, parts, ...rest }) => ({
    ...rest,
    open_chunks: openBatches,
    skipped_for: skippedFor,
    failed_for: failedFor
  }))
  const now = new Date()
  const parts = deltas.flatMap(({ id, parts }) => [...parts.values()].map((part) => ({ id, ...withoutZeros(part) })))
  const ids = deltas.map(({ id }) => id)
  const values = [projectId, JSON.stringify(rows), now, JSON.stringify(parts), hourOf(now), pickSlot(), ids]
  const changed = await tx.query<Counted>(text, values)
  const ended = changed.filter((one) => one.ended)
  const limited = ended.filter((one) => one.limited).map(({ id }) => id)
  if (limited.length > 0) await endReservations(tx, projectId, limited, now)
  if (ended.length > 0) await onEnded(tx, projectId, ended)
  return changed
}
