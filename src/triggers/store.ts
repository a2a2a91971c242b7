import { hasOwnProperties, type StoredAudience, type StoredTarget } from '../campaigns/campaigns.ts'
import type { Db } from '../platform/db/db.ts'
import { heldProject, statement } from '../platform/db/statement.ts'
import { firstIdAt, type ProjectId } from '../platform/ids.ts'
import type { TriggerSource, TriggerState } from './schemas.ts'

/** A trigger that no job has moved for this long is overdue, and the sweeper wakes it. */
export const wakeAfterMs = 15_000

export type TriggerOutcome = 'completed' | 'canceled' | 'failed'
export const terminal: ReadonlySet<TriggerState> = new Set(['completed', 'canceled', 'failed'])

export interface NewTrigger {
  id: string
  campaignId: string
  campaignVersion?: number
  audience: StoredAudience | null
  properties: Record<string, unknown>
  /** Users that it may reach, by the policy of its key. Absent: no limit. */
  mostRecipients?: number
  /** What made it. Absent: a call of the API. */
  source?: TriggerSource
  /** Who called. Absent: the service itself made it. */
  actor?: string
  /** The step of its campaign. */
  step?: string
  /** Not before this. Absent or past: at once. */
  dueAt?: Date
}

/** A trigger with its counters. These are bigints, so they arrive as text. */
export interface TriggerRow {
  id: string
  campaign_id: string
  campaign_version: number
  state: TriggerState
  reason: string | null
  source: TriggerSource | null
  actor: string | null
  step: string | null
  accepted_at: Date
  due_at: Date | null
  expanded_at: Date | null
  ended_at: Date | null
  targeted: string
  sent: string
  failed: string
  skipped: string
  delivered: string
  tapped: string
  skipped_for: Record<string, number>
  failed_for: Record<string, number>
  converted: string
  conversion_value: string
}

/** A trigger as its jobs see it. Targets are read in slices, because there may be 20,000. */
export interface RunningTrigger {
  id: string
  campaign_id: string
  campaign_version: number
  state: TriggerState
  outcome: TriggerOutcome | null
  cursor: string
  audience: 'default' | 'broadcast' | 'targets'
  properties: Record<string, unknown>
  step: string | null
  source: TriggerSource | null
  due_at: Date | null
  reason: string | null
  /** What made it: the kind of its source. */
  origin: 'api' | 'schedule' | 'event' | 'step'
  /** When it was accepted, or its send_at was reached: conditions and lives of messages count from then. */
  started_at: Date
  /** The most users that it may reach, by the policy of its key; null: no limit. */
  most_recipients: number | null
  /** Whether targets have properties of their own. */
  target_properties: boolean
}

/** With its targets, unless there are too many. */
export type WithTargets = RunningTrigger & { targets: StoredTarget[] | null }

/** The columns of a trigger as its jobs see it. */
export const workColumns = `id, campaign_id, campaign_version, state, outcome, cursor, properties, step, source, due_at, reason,
          most_recipients, coalesce(started_at, accepted_at) as started_at, target_properties,
          coalesce(source ->> 'kind', 'api') as origin,
          case when audience is null then 'default' when audience ? 'targets' then 'targets' else 'broadcast' end
            as audience`
/** A small trigger has at most this many targets. */
export const smallTargets = 20
/** The targets of a small trigger. The number is no parameter: Citus does not know the types of those left out before it. */
export const fewTargets = `case when jsonb_array_length(audience -> 'targets') <= ${smallTargets} then audience -> 'targets' end`

const shown = `id, campaign_id, campaign_version, state, reason, source, actor, step, accepted_at, due_at, expanded_at, ended_at,
          targeted, sent, failed, skipped, delivered, tapped, skipped_for, failed_for, converted, conversion_value`

// One statement checks the campaign and pins its version: nothing is cached, so no stale campaign can be triggered.
const insertFor = (condition: string, state = `'accepted'`, returned = 'id') => `${heldProject}
   insert into triggers (project_id, id, campaign_id, campaign_version, state, audience, properties, accepted_at, cursor,
     chunks, open_chunks, targeted, sent, failed, skipped, delivered, tapped, skipped_for, failed_for, wake_at,
     begin_job, most_recipients, source, actor, step, due_at, target_properties)
   select p.project_id, t.id, c.id, coalesce(t.campaign_version, c.version),
          case when t.due_at is null then ${state} else 'scheduled' end, t.audience, t.properties, $3, '',
          0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}', coalesce(t.due_at, $3) + ${wakeAfterMs} * interval '1 ms', t.begin_job,
          t.most_recipients, t.source, t.actor, t.step, t.due_at, coalesce(t.target_properties, false)
     from project p
    cross join json_to_recordset($2::json) as t(id uuid, campaign_id text, audience jsonb, properties jsonb,
      begin_job uuid, campaign_version integer, most_recipients integer, source jsonb, actor text, step text,
      due_at timestamptz, target_properties boolean)
     join campaigns c on c.project_id = $1 and c.id = t.campaign_id and c.status = 'active' and ${condition}
   on conflict (project_id, id) do nothing
   returning ${returned}`
const byApi = `c.type = 'api_triggered' and (t.campaign_version is null or c.version = t.campaign_version)`
const insert = statement('triggers.insert', insertFor(byApi))
// For the worker of this process, which need not load them. They start at the commit: with their state from the insert on, the
// update that starts them changes no index. In a paused project they wait.
const starting = `case when (select paused_at from projects where project_id = $1) is null then 'running' else 'accepted' end`
const insertForHere = statement(
  'triggers.insert_for_here',
  insertFor(byApi, starting, `${workColumns}, ${fewTargets} as targets`)
)
// The service accepts campaigns of every type, and steps with the version that their users entered with.
const insertInternal = statement('triggers.insert_internal', insertFor('true'))
const find = statement('triggers.find', `select ${shown} from triggers where project_id = $1 and id = $2`)
// $2 is the end of the page before, $4 and $5 the earliest acceptance as an id and as a time.
const since =
  '($2::uuid is null or id < $2) and ($4::uuid is null or id >= $4) and ($5::timestamptz is null or accepted_at >= $5)'
/**
 * Lists by some columns, newest id first. An id begins with the time of acceptance; that of a scheduled trigger with the time
 * it is scheduled for, up to 90 days later. So triggers accepted before a time are those with smaller ids, and scheduled ones.
 */
function listing(name: string, columns: string[]) {
  const equal = columns.map((column, index) => `and ${column} = $${index + 6} `).join('')
  const [id, time] = [`$${columns.length + 6}::uuid`, `$${columns.length + 7}::timestamptz`]
  const from = `from triggers where project_id = $1 ${equal}and ${since}`
  const order = 'order by id desc limit $3'
  return {
    all: statement(name, `select ${shown} ${from} ${order}`),
    before: statement(
      `${name}_before`,
      `select ${shown} from (
         (select * ${from} and id < ${id} and accepted_at < ${time} ${order})
         union all
         (select * ${from} and id >= ${id} and due_at is not null and accepted_at < ${time} ${order})) t ${order}`
    )
  }
}
const lists = {
  all: listing('triggers.list', []),
  ofCampaign: listing('triggers.list_of_campaign', ['campaign_id']),
  inState: listing('triggers.list_in_state', ['state']),
  both: listing('triggers.list_of_campaign_in_state', ['campaign_id', 'state'])
}
// From here on no batch is planned or written: the transaction that would do so finds the outcome when it counts.
const cancel = statement(
  'triggers.cancel',
  `update triggers set outcome = 'canceled', state = 'canceling'
    where project_id = $1 and id = $2 and state in ('scheduled', 'accepted', 'running')`
)
const notify = statement('triggers.tell_ended', 'select pg_notify($1, ids) from unnest($2::text[]) as ids')
const erase = statement(
  'triggers.erase_window',
  `delete from triggers where project_id = $1 and id in (
     select id from triggers where project_id = $1 order by id limit 500)`
)

export interface InsertOptions {
  /** Names the job that starts a small trigger together with others. */
  jobOf: ReadonlyMap<string, string>
  at: Date
  /** The service itself makes these triggers, so its campaigns are of any type. */
  internal: boolean
}

/**
 * Returns the ids of the triggers that were written. The others name a campaign that cannot be triggered, or exist.
 */
export async function insertTriggers(tx: Db, projectId: ProjectId, triggers: NewTrigger[], options: InsertOptions) {
  const values = insertedValues(projectId, triggers, options)
  const text = options.internal ? insertInternal : insert
  return new Set((await tx.query<{ id: string }>(text, values)).map(({ id }) => id))
}

/** The same for triggers of the API that this process starts: returns them as their jobs see them. */
export const insertTriggersForHere = (
  tx: Db,
  projectId: ProjectId,
  triggers: NewTrigger[],
  options: Omit<InsertOptions, 'internal'>
) => tx.query<WithTargets>(insertForHere, insertedValues(projectId, triggers, options))

function insertedValues(
  projectId: ProjectId,
  triggers: NewTrigger[],
  { jobOf, at }: Omit<InsertOptions, 'internal'>
): unknown[] {
  const rows = triggers.map((trigger) => ({
    id: trigger.id,
    campaign_id: trigger.campaignId,
    campaign_version: trigger.campaignVersion,
    audience: trigger.audience,
    properties: trigger.properties,
    begin_job: jobOf.get(trigger.id) ?? null,
    most_recipients: trigger.mostRecipients,
    source: trigger.source,
    actor: trigger.actor,
    step: trigger.step,
    due_at: trigger.dueAt,
    target_properties: hasOwnProperties(trigger.audience) || undefined
  }))
  return [projectId, JSON.stringify(rows), at]
}

export const findTrigger = (db: Db, projectId: ProjectId, id: string) => db.one<TriggerRow>(find, [projectId, id])

export interface TriggerFilter {
  campaignId?: string | undefined
  state?: string | undefined
  /** When they were accepted: since then, and before then. */
  from: Date | null
  until: Date | null
}

/** An occurrence may be accepted this long after its time, with which its id begins: the service was down. */
const latestMs = 86_400_000

/** The triggers before `before`, an id. */
export function listTriggers(
  db: Db,
  projectId: ProjectId,
  { campaignId, state, from, until }: TriggerFilter,
  before: string | null,
  limit: number
) {
  const wanted = [campaignId, state].filter((value) => value !== undefined)
  const list =
    wanted.length === 2 ? lists.both : campaignId !== undefined ? lists.ofCampaign : state ? lists.inState : lists.all
  const earliest = from && firstIdAt(Math.max(0, from.getTime() - latestMs))
  const values = [projectId, before, limit, earliest, from, ...wanted]
  if (!until) return db.query<TriggerRow>(list.all, values)
  return db.query<TriggerRow>(list.before, [...values, firstIdAt(Math.max(0, until.getTime())), until])
}

export const markCanceled = (db: Db, projectId: ProjectId, id: string) => db.run(cancel, [projectId, id])

/** Wakes the streams of ended triggers on all nodes. Only a hint: streams also poll. */
export const notifyStreams = (tx: Db, channel: string, payloads: string[]) => tx.query(notify, [channel, payloads])

export const eraseTriggerWindow = (db: Db, projectId: ProjectId) => db.run(erase, [projectId])
