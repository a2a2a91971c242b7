import type { StoredTarget } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import { fewTargets, type RunningTrigger, type TriggerOutcome, type WithTargets, workColumns } from '../store.ts'

export type { RunningTrigger } from '../store.ts'

const load = statement('triggers.work', `select ${workColumns} from triggers where project_id = $1 and id = $2`)
const slice = statement(
  'triggers.targets',
  `select coalesce(jsonb_array_length(audience -> 'targets'), 0) as length, (
            select coalesce(jsonb_agg(t.target order by t.place), '[]')
              from jsonb_array_elements(audience -> 'targets') with ordinality as t(target, place)
             where t.place > $3 and t.place <= $4) as targets
     from triggers where project_id = $1 and id = $2`
)
const own = statement(
  'triggers.target_properties',
  `select t.place::int - 1 as place, t.target -> 2 as properties
     from triggers, jsonb_array_elements(audience -> 'targets') with ordinality as t(target, place)
    where project_id = $1 and id = $2 and t.place = any($3::bigint[])`
)
// One snapshot: a device of a batch has a message or a skip by the time that the batch is gone.
const reached = statement(
  'triggers.devices_reached',
  `select d.id from unnest($3::text[]) as d(id)
    where exists (select 1 from trigger_chunks c
                   where c.project_id = $1 and c.trigger_id = $2 and d.id = any(c.device_ids))
       or exists (select 1 from messages m where m.project_id = $1 and m.trigger_id = $2 and m.device_id = d.id)
       or exists (select 1 from trigger_skips s
                   where s.project_id = $1 and s.trigger_id = $2 and s.kind = 'device_id' and s.value = d.id)`
)
// Writes only if the cursor has not moved since it was read: of two workers that expand the same step, one finds nothing
// to do.
const advance = statement(
  'triggers.advance',
  `update triggers
      set cursor = $4, state = 'running', chunks = chunks + $5, open_chunks = open_chunks + $5, outcome = $6,
          reason = coalesce($7, reason), expanded_at = case when $6::text is null then expanded_at else $8::timestamptz end
    where project_id = $1 and id = $2 and cursor = $3 and outcome is null
   returning chunks`
)
const reserve = statement(
  'triggers.more_chunks',
  `update triggers set chunks = chunks + $3, open_chunks = open_chunks + $3 where project_id = $1 and id = $2
   returning chunks`
)
const loadMany = statement(
  'triggers.work_of_many',
  `select ${workColumns}, ${fewTargets} as targets
     from triggers where project_id = $1 and id = any($2::uuid[])`
)

const step = statement('triggers.name_step', 'update triggers set step = $3 where project_id = $1 and id = $2')
const propertiesOfMany = statement(
  'triggers.properties_of_many',
  'select id, properties from triggers where project_id = $1 and id = any($2::uuid[])'
)
const canceledOfMany = statement(
  'triggers.canceled_of_many',
  `select id from triggers where project_id = $1 and id = any($2::uuid[]) and outcome = 'canceled'`
)
const versionsOfMany = statement(
  'triggers.versions_of_many',
  'select id, campaign_id, campaign_version from triggers where project_id = $1 and id = any($2::uuid[])'
)

/** Records the step that a trigger sends: its caller named only the campaign. */
export const nameStep = (tx: Db, projectId: ProjectId, id: string, name: string) => tx.run(step, [projectId, id, name])

/** The properties of triggers that still exist, by their ids. */
export async function propertiesOf(db: Db, projectId: ProjectId, ids: string[]) {
  if (ids.length === 0) return new Map<string, Record<string, unknown>>()
  const rows = await db.query<Pick<RunningTrigger, 'id' | 'properties'>>(propertiesOfMany, [projectId, ids])
  return new Map(rows.map(({ id, properties }) => [id, properties]))
}

/** Those triggers that were canceled. */
export async function canceledAmong(db: Db, projectId: ProjectId, ids: string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.query<{ id: string }>(canceledOfMany, [projectId, ids])
  return new Set(rows.map(({ id }) => id))
}

/** The version of its campaign that each trigger sends. */
export const versionsOf = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<Pick<RunningTrigger, 'id' | 'campaign_id' | 'campaign_version'>>(versionsOfMany, [projectId, ids])

export const loadTrigger = (db: Db, projectId: ProjectId, id: string) => db.one<RunningTrigger>(load, [projectId, id])

/** Triggers, small ones with their targets. */
export const loadTriggers = (db: Db, projectId: ProjectId, ids: string[]) =>
  db.query<WithTargets>(loadMany, [projectId, ids])

/** A slice of the targets, and the number of all. */
export async function sliceTargets(db: Db, projectId: ProjectId, id: string, from: number, to: number) {
  const row = await db.one<{ length: number; targets: StoredTarget[] }>(slice, [projectId, id, from, to])
  return row ?? { length: 0, targets: [] }
}

/** The properties of targets, by their places; those without any are missing. */
export async function targetProperties(db: Db, projectId: ProjectId, id: string, places: number[]) {
  const values = [projectId, id, [...new Set(places)].map((place) => place + 1)]
  const rows = await db.query<{ place: number; properties: Record<string, unknown> | null }>(own, values)
  return new Map(rows.flatMap(({ place, properties }) => (properties ? [[place, properties] as const] : [])))
}

/** The devices that earlier steps of the trigger have planned, sent to or skipped. */
export async function devicesReached(db: Db, projectId: ProjectId, id: string, deviceIds: string[]) {
  const rows = await db.query<{ id: string }>(reached, [projectId, id, deviceIds])
  return new Set(rows.map((row) => row.id))
}

export interface Advance {
  from: string
  to: string
  batches: number
  outcome: TriggerOutcome | null
  reason: string | null
}

/** Moves the cursor. Returns the number of the last batch, or undefined if another worker was faster or the trigger ends. */
export async function advanceTrigger(tx: Db, projectId: ProjectId, id: string, step: Advance, at: Date) {
  const { from, to, batches, outcome, reason } = step
  const row = await tx.one<{ chunks: number }>(advance, [projectId, id, from, to, batches, outcome, reason, at])
  return row?.chunks
}

/** Reserves numbers for batches that split off another one. Returns the last number. */
export const reserveBatches = async (tx: Db, projectId: ProjectId, id: string, batches: number) =>
  (await tx.one<{ chunks: number }>(reserve, [projectId, id, batches]))?.chunks
