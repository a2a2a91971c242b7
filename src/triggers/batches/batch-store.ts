import type { SkippedTarget, StoredTarget } from '../../campaigns/campaigns.ts'
import type { Db } from '../../platform/db/db.ts'
import { statement } from '../../platform/db/statement.ts'
import type { ProjectId } from '../../platform/ids.ts'
import type { TriggerState } from '../schemas.ts'
import type { TriggerOutcome } from '../store.ts'

/** What those who work on a trigger must know of it. Its targets are read in slices: there may be 20,000. */
export interface Work {
  id: string
  campaign_id: string
  campaign_version: number
  state: TriggerState
  outcome: TriggerOutcome | null
  cursor: string
  audience: 'default' | 'broadcast' | 'targets'
  properties: Record<string, unknown>
  accepted_at: Date
}

export interface NewChunk {
  number: number
  deviceIds: string[]
  dueAt: Date
  held: boolean
}

export interface ChunkRow {
  number: number
  device_ids: string[]
  state: 'planned' | 'written'
  due_at: Date
  held: boolean
  /** Whether its devices count as targeted already. */
  counted: boolean
}

/** Whom a trigger passes over. */
export interface Skip extends SkippedTarget {
  triggerId: string
}

const workColumns = `id, campaign_id, campaign_version, state, outcome, cursor, properties, accepted_at,
          case when audience is null then 'default' when audience ? 'targets' then 'targets' else 'broadcast' end
            as audience`
const load = statement('triggers.work', `select ${workColumns} from triggers where project_id = $1 and id = $2`)
const slice = statement(
  'triggers.targets',
  `select coalesce(jsonb_array_length(audience -> 'targets'), 0) as length, (
            select coalesce(jsonb_agg(t.target order by t.place), '[]')
              from jsonb_array_elements(audience -> 'targets') with ordinality as t(target, place)
             where t.place > $3 and t.place <= $4) as targets
     from triggers where project_id = $1 and id = $2`
)
// Only if nobody has moved it since it was read: of two who expand the same window one finds nothing to do.
const advance = statement(
  'triggers.advance',
  `update triggers
      set cursor = $4, state = 'running', chunks = chunks + $5, open_chunks = open_chunks + $5, outcome = $6,
          reason = coalesce($7, reason), expanded_at = case when $6::text is null then expanded_at else $8::timestamptz end
    where project_id = $1 and id = $2 and cursor = $3 and outcome is null
   returning chunks`
)
const more = statement(
  'triggers.more_chunks',
  `update triggers set chunks = chunks + $3, open_chunks = open_chunks + $3 where project_id = $1 and id = $2
   returning chunks`
)
const insertChunks = statement(
  'trigger_chunks.insert',
  `insert into trigger_chunks (project_id, trigger_id, number, device_ids, state, due_at, held, counted)
   select t.project_id, t.id, c.number, array(select json_array_elements_text(c.device_ids)), 'planned', c.due_at, c.held,
          true
     from triggers t
    cross join json_to_recordset($3::json) as c(number int, device_ids json, due_at timestamptz, held boolean)
    where t.project_id = $1 and t.id = $2`
)
const open = statement(
  'trigger_chunks.open',
  `select number, due_at, held from trigger_chunks where project_id = $1 and trigger_id = $2 order by due_at limit 500`
)
const find = statement(
  'trigger_chunks.find',
  `select number, device_ids, state, due_at, held, held or counted as counted from trigger_chunks
    where project_id = $1 and trigger_id = $2 and number = $3`
)
// The lock makes one of two who run the same chunk at once wait, and then find it written.
const markWritten = statement(
  'trigger_chunks.written',
  `update trigger_chunks set state = 'written' where project_id = $1 and trigger_id = $2 and number = $3
     and state = 'planned' returning device_ids`
)
// Whoever removes a user locks its devices first, and then takes them out of what is held.
const keep = statement(
  'trigger_chunks.keep_devices',
  'select id from devices where project_id = $1 and id = any($2::text[]) order by id for key share'
)
const remove = statement(
  'trigger_chunks.delete',
  `delete from trigger_chunks where project_id = $1 and trigger_id = $2 and number = $3
   returning state, cardinality(device_ids) as devices`
)
const removePlanned = statement(
  'trigger_chunks.delete_planned',
  `delete from trigger_chunks where project_id = $1 and trigger_id = $2 and state = 'planned'
   returning cardinality(device_ids) as devices, held or counted as counted`
)
const insertSkips = statement(
  'trigger_skips.insert',
  `insert into trigger_skips (project_id, trigger_id, kind, value, reason, user_id, at)
   select t.project_id, t.id, s.kind, s.value, s.reason, s.user_id, $3
     from triggers t
     join json_to_recordset($2::json) as s(trigger_id uuid, kind text, value text, reason text, user_id uuid)
       on s.trigger_id = t.id
    where t.project_id = $1
   on conflict (project_id, trigger_id, kind, value) do nothing
   returning trigger_id as "triggerId", kind, value`
)
const loadMany = statement(
  'triggers.work_of_many',
  `select ${workColumns},
          case when jsonb_array_length(audience -> 'targets') <= $3 then audience -> 'targets' end as targets
     from triggers where project_id = $1 and id = any($2::uuid[])`
)
const finishMany = statement(
  'triggers.expand_many',
  `update triggers t
      set cursor = 'done', state = 'running', outcome = 'completed', reason = g.reason, expanded_at = $3
     from json_to_recordset($2::json) as g(id uuid, reason text)
    where t.project_id = $1 and t.id = g.id and t.cursor = '' and t.outcome is null
   returning t.id`
)

export const loadWork = (db: Db, projectId: ProjectId, id: string) => db.one<Work>(load, [projectId, id])

/** Some of the targets, and how many there are in all. */
export async function sliceTargets(db: Db, projectId: ProjectId, id: string, from: number, to: number) {
  const row = await db.one<{ length: number; targets: StoredTarget[] }>(slice, [projectId, id, from, to])
  return row ?? { length: 0, targets: [] }
}

export interface Advance {
  from: string
  to: string
  chunks: number
  outcome: TriggerOutcome | null
  reason: string | null
}

/** The number of the last chunk there is now; undefined where somebody else was faster, or it is to end. */
export async function advanceTrigger(tx: Db, projectId: ProjectId, id: string, step: Advance, at: Date) {
  const { from, to, chunks, outcome, reason } = step
  const row = await tx.one<{ chunks: number }>(advance, [projectId, id, from, to, chunks, outcome, reason, at])
  return row?.chunks
}

/** Room for chunks that come of others: what quiet hours hold back. */
export const moreChunks = async (tx: Db, projectId: ProjectId, id: string, chunks: number) =>
  (await tx.one<{ chunks: number }>(more, [projectId, id, chunks]))?.chunks

export async function addChunks(tx: Db, projectId: ProjectId, id: string, chunks: NewChunk[]) {
  if (chunks.length === 0) return
  const rows = chunks.map(({ number, deviceIds, dueAt, held }) => ({
    number,
    device_ids: deviceIds,
    due_at: dueAt,
    held
  }))
  await tx.run(insertChunks, [projectId, id, JSON.stringify(rows)])
}

/** Those that are due first: there may be thousands that quiet hours hold, and few others. */
export const openChunks = (db: Db, projectId: ProjectId, id: string) =>
  db.query<Pick<ChunkRow, 'number' | 'due_at' | 'held'>>(open, [projectId, id])

export const findChunk = (db: Db, projectId: ProjectId, id: string, number: number) =>
  db.one<ChunkRow>(find, [projectId, id, number])

/** The devices that it has now: those of a user who was removed since it was read are not among them. */
export const markChunkWritten = async (tx: Db, projectId: ProjectId, id: string, number: number) =>
  (await tx.one<Pick<ChunkRow, 'device_ids'>>(markWritten, [projectId, id, number]))?.device_ids

/** Those of what is to be held that are there, and stay until the end of the transaction. */
export async function keepDevices(tx: Db, projectId: ProjectId, held: Map<number, string[]>) {
  if (held.size === 0) return held
  const rows = await tx.query<{ id: string }>(keep, [projectId, [...held.values()].flat()])
  const kept = new Set(rows.map(({ id }) => id))
  const left = [...held].map(([until, ids]) => [until, ids.filter((id) => kept.has(id))] as const)
  return new Map(left.filter(([, ids]) => ids.length > 0))
}

/** What it was; undefined where somebody else has removed it. */
export const removeChunk = (tx: Db, projectId: ProjectId, id: string, number: number) =>
  tx.one<{ state: ChunkRow['state']; devices: number }>(remove, [projectId, id, number])

/** What is not written yet never will be. */
export const removePlannedChunks = (tx: Db, projectId: ProjectId, id: string) =>
  tx.query<{ devices: number; counted: boolean }>(removePlanned, [projectId, id])

/** Answers those that are new: a device that two targets lead to is passed over once. */
export async function addSkips(tx: Db, projectId: ProjectId, skips: Skip[], at: Date): Promise<Skip[]> {
  if (skips.length === 0) return []
  const sorted = skips.toSorted((one, two) => (keyOf(one) < keyOf(two) ? -1 : 1))
  const rows = sorted.map(({ triggerId, userId, ...rest }) => ({ ...rest, trigger_id: triggerId, user_id: userId }))
  const added = await tx.query<SkipKey>(insertSkips, [projectId, JSON.stringify(rows), at])
  const fresh = new Set(added.map(keyOf))
  return skips.filter((skip) => fresh.has(keyOf(skip)))
}

type SkipKey = Pick<Skip, 'triggerId' | 'kind' | 'value'>
const keyOf = ({ triggerId, kind, value }: SkipKey) => `${triggerId} ${kind} ${value}`

/** Triggers with their targets, where these are not more than `most`. */
export const loadWorks = (db: Db, projectId: ProjectId, ids: string[], most: number) =>
  db.query<Work & { targets: StoredTarget[] | null }>(loadMany, [projectId, ids, most])

/** The whole audience of each is known in one step. Answers those that nobody else has begun, and that go on. */
export async function expandAtOnce(
  tx: Db,
  projectId: ProjectId,
  triggers: { id: string; reason: string | null }[],
  at: Date
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(finishMany, [projectId, JSON.stringify(triggers), at])
  return new Set(rows.map(({ id }) => id))
}
