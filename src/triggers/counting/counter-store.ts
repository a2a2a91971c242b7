import type { Db } from '../../platform/db/db.ts'
import { joined, type Statement, statement, texts } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { endReservations } from '../../projects/projects.ts'
import type { TriggerState } from '../schemas.ts'
import type { TriggerOutcome } from '../store.ts'
import { type Delta, type Numbers, numbers } from './delta.ts'

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

/** Adds the amounts of one JSON object, if there are any, to those of another. */
const summed = (one: string, two: string) => `case when ${two} is null then ${one} else (
     select jsonb_object_agg(s.name, s.total) from (
       select key as name, sum(value::bigint) as total
         from (select * from jsonb_each_text(${one}) union all select * from jsonb_each_text(${two}::jsonb)) both_of
        group by key) s) end`

// A trigger ends in the statement that changes its counters, under the lock of its row, so no later change can count past the end.
const ends = (decided: string) => `(${decided} and t.ended_at is null and t.open_chunks + g.open_chunks = 0
     and t.targeted + g.targeted = t.sent + g.sent + t.failed + g.failed + t.skipped + g.skipped)`
const changing = {
  set: `state = case when ${ends('t.outcome is not null')} then t.outcome else t.state end,
            ended_at = case when ${ends('t.outcome is not null')} then $2::timestamptz else t.ended_at end`,
  where: ''
}
// The whole audience of a small trigger is known when it starts, so it is expanded and counted at once.
const starting = {
  set: `cursor = 'done', outcome = 'completed', reason = g.reason, expanded_at = $2::timestamptz,
            state = case when ${ends('true')} then 'completed' else 'running' end,
            ended_at = case when ${ends('true')} then $2::timestamptz end`,
  where: `and t.cursor = '' and t.outcome is null`
}

const counted = [...numbers, 'users'] as const

/** The lists that a statement gets, each as a parameter after the first four: the changes of triggers, and their parts. */
const lists = {
  given: {
    id: 'uuid',
    ...(Object.fromEntries(numbers.map((name) => [name, 'bigint'])) as Record<(typeof numbers)[number], 'bigint'>),
    open_chunks: 'int',
    skipped_for: 'text',
    failed_for: 'text',
    reason: 'text'
  },
  parts: {
    id: 'uuid',
    variant: 'text',
    language: 'text',
    ...(Object.fromEntries(counted.map((name) => [name, 'int'])) as Record<(typeof counted)[number], 'int'>)
  }
} as const

/** A function of the parameter, or a query of it: the planner does not see how long the list is. */
const hidden = (at: `$${number}`, type: string) =>
  type === 'uuid' ? `(select ${at}::uuid[])::uuid[]` : `string_to_array(${at}, ',')::${type}[]`

/**
 * Lists as rows. A text that is empty is null. With their length in sight, PostgreSQL would make a plan for each call with few of
 * them, which takes as long as counting ten triggers, and read the whole table for many.
 */
function rowsOf(columns: Record<string, string>, first: number): string {
  const list = (type: string, at: `$${number}`) => (type === 'text' ? texts(at) : hidden(at, type))
  const each = Object.values(columns).map((type, index) => list(type, `$${first + index}`))
  return `unnest(${each.join(', ')}) as g(${Object.keys(columns).join(', ')})`
}

const firstGiven = 5
const firstPart = firstGiven + Object.keys(lists.given).length

// The results of the campaign change in the same statement, after all of its triggers are locked: two transactions that
// count the same triggers meet there, in order, and not at the results. Lists cost a sixth less than JSON. Locks are counted
// and not joined: a join of lists whose length is hidden compares each id with all others.
const counting = ({ set, where }: typeof changing) => `with held as (
     select t.id from unnest(${hidden(`$${firstGiven}`, 'uuid')}) as g(id) join triggers t on t.project_id = $1 and t.id = g.id
      order by t.id for no key update of t),
   done as (
     update triggers t
        set ${numbers.map((name) => `${name} = t.${name} + g.${name}`).join(', ')},
            open_chunks = t.open_chunks + g.open_chunks,
            skipped_for = ${summed('t.skipped_for', 'g.skipped_for')},
            failed_for = ${summed('t.failed_for', 'g.failed_for')},
            ${set}
       from ${rowsOf(lists.given, firstGiven)}
      where t.project_id = $1 and t.id = g.id and (select count(*) from held) > 0 ${where}
     returning t.id, t.campaign_id, t.step, t.outcome, t.state, coalesce(t.ended_at = $2::timestamptz, false) as ended,
       t.most_recipients is not null as limited, t.chunks as batches,
       ${numbers.map((name) => `t.${name}`).join(', ')}),
   results as (
     insert into campaign_stats (project_id, campaign_id, hour, variant, language, step, slot, ${counted.join(', ')},
       converted, conversion_value)
     select $1, d.campaign_id, $3, coalesce(g.variant, ''), coalesce(g.language, ''), coalesce(d.step, ''), $4,
            ${counted.map((name) => `sum(g.${name})`).join(', ')}, 0, 0
       from ${rowsOf(lists.parts, firstPart)}
       join done d on d.id = g.id
      group by 2, 4, 5, 6 order by 2, 4, 5, 6
     on conflict (project_id, campaign_id, hour, variant, language, step, slot) do update
        set ${counted.map((name) => `${name} = campaign_stats.${name} + excluded.${name}`).join(', ')})
   select id, campaign_id, step, outcome, state, ended, limited, batches, ${numbers.map((name) => `${name}::float8`).join(', ')}
     from done`
const count = statement('triggers.count', counting(changing))
const startAll = statement('triggers.start_many', counting(starting))

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
  deltas: (Delta & { reason?: string | null })[],
  onEnded: OnEnded
): Promise<Counted[]> {
  if (deltas.length === 0) return []
  const now = new Date()
  const parts = deltas.flatMap(({ id, parts }) => [...parts.values()].map((part) => ({ id, ...part })))
  const rows = await tx.query<Omit<Counted, 'counts'> & Numbers>(text, [
    projectId,
    now,
    hourOf(now),
    pickSlot(),
    deltas.map(({ id }) => id),
    ...numbers.map((name) => deltas.map((delta) => delta[name]).join()),
    deltas.map(({ openBatches }) => openBatches).join(),
    joined(deltas.map(({ skippedFor }) => amountsOf(skippedFor))),
    joined(deltas.map(({ failedFor }) => amountsOf(failedFor))),
    joined(deltas.map(({ reason }) => reason ?? '')),
    parts.map(({ id }) => id),
    joined(parts.map(({ variant }) => variant)),
    joined(parts.map(({ language }) => language)),
    ...counted.map((name) => parts.map((part) => part[name]).join())
  ])
  const changed = rows.map(({ targeted, sent, failed, skipped, delivered, tapped, ...row }) => ({
    ...row,
    counts: { targeted, sent, failed, skipped, delivered, tapped }
  }))
  const ended = changed.filter((one) => one.ended)
  const limited = ended.filter((one) => one.limited).map(({ id }) => id)
  if (limited.length > 0) await endReservations(tx, projectId, limited, now)
  if (ended.length > 0) await onEnded(tx, projectId, ended)
  return changed
}

/** Amounts by reason as JSON, empty if there are none. */
function amountsOf(amounts: Record<string, number>): string {
  for (const _ in amounts) return JSON.stringify(amounts)
  return ''
}
